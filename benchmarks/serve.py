"""`textsplice serve` under load on this machine: requests per second, latencies, memory, batching, overload.

    python benchmarks/serve.py swap=prepared/bundled drafts=models/e2e-drafts --store prepared/e2e
    python benchmarks/serve.py drafts=models/e2e-drafts --store prepared/e2e --only batching
    python benchmarks/serve.py swap=prepared/bundled --only memory --connections 8 --memory-pause 2

The parts are load, batching, overload and memory; `--only` may be given several times, and what the file of
results has of the other parts is kept. Beside each part stands the load average of the machine before and
after it: where it is far above what the part itself makes, other programs were measured, too.

Each connection sends one record of the store after another, as soon as the last was answered. The client is
a few lines of asyncio in a process of its own; it shares the processor with the server, which is what one
machine has. Batching on and off take turns, with the same records. For the overload there are four times as
many connections as the server has places; a client that gets 429 waits as long as it is told to.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
PLACES = 32
PARTS = ("load", "batching", "overload", "memory")
TURNS = 3


@dataclass
class Load:
    """What a load of some seconds gave."""

    seconds: float = 0.0
    cpu: float = 0.0  # seconds of the server's processor
    accepted: list[float] = field(default_factory=list)  # seconds of each answer
    refused: list[float] = field(default_factory=list)  # of each 429
    other: list[int] = field(default_factory=list)  # any other status

    def told(self) -> dict[str, object]:
        """As JSON; times in milliseconds."""
        return {
            "requests_per_second": round(len(self.accepted) / self.seconds, 1),
            "cpu_ms_per_request": round(1000 * self.cpu / max(1, len(self.accepted)), 1),
            "accepted": len(self.accepted),
            **{f"p{share}_ms": _percentile(self.accepted, share) for share in (50, 95, 99)},
            "refused": len(self.refused),
            **{f"refused_p{share}_ms": _percentile(self.refused, share) for share in (50, 99)},
            "other": len(self.other),
        }


def _percentile(values: Sequence[float], share: int) -> float | None:
    if not values:
        return None
    ranked = sorted(values)
    return round(1000 * ranked[min(len(ranked) - 1, len(ranked) * share // 100)], 1)


class Connection:
    """One connection that is kept open."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.retry_after = 1
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, body: bytes) -> int:
        """The status of an answer, which is read to its end."""
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 24)
        reader, writer = self.streams
        head = "POST /v1/generate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = re.search(r"\r\ncontent-length: (\d+)", answer)
        await reader.readexactly(int(length[1]) if length else 0)
        waiting = re.search(r"\r\nretry-after: (\d+)", answer)
        self.retry_after = int(waiting[1]) if waiting else 1
        if "\r\nconnection: close" in answer:
            writer.close()
            self.streams = None
        return int(answer.split(" ", 2)[1])


async def load(
    port: int,
    bodies: Sequence[bytes],
    connections: int,
    seconds: float,
    process: int | None = None,
    pause: float = 0.0,
) -> Load:
    """So many connections for so long; requests that are under way at the end are finished and counted.

    Each connection waits for `pause` seconds before it asks.
    """
    found = Load()
    used = processor(process) if process else 0.0
    began = time.perf_counter()

    async def one(number: int) -> None:
        connection, order = Connection(port), random.Random(number)
        while time.perf_counter() - began < seconds:
            await asyncio.sleep(pause * order.random() * 2)
            sent = time.perf_counter()
            status = await connection.post(order.choice(bodies))
            took = time.perf_counter() - sent
            if status == 200:
                found.accepted.append(took)
            elif status == 429:
                found.refused.append(took)
                await asyncio.sleep(connection.retry_after)
            else:
                found.other.append(status)

    await asyncio.gather(*(one(number) for number in range(connections)))
    found.seconds = time.perf_counter() - began
    found.cpu = processor(process) - used if process else 0.0
    return found


@contextmanager
def server(run: str, store: str | None, *, batch: int = 32, queue: int = 256) -> Generator[tuple[int, int]]:
    """A server for a run: its port and its process."""
    more = ["--store", store] if store else []
    words = ["serve", run, *more, "--port", "0", "--batch-size", str(batch), "--limit-queue", str(queue)]
    process = subprocess.Popen(
        [sys.executable, "-m", "textsplice", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline()
        yield int(address.split(":")[2].split("/")[0]), process.pid
    finally:
        process.terminate()
        process.wait()


def processor(process: int) -> float:
    """The seconds that a process has used of a processor, all threads together."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(process: int) -> float:
    """What a process holds, in MiB."""
    status = Path(f"/proc/{process}/status").read_text()
    return round(int(status.split("VmRSS:")[1].split()[0]) / 1024, 1)


def records(run: str, store: str | None) -> list[bytes]:
    """Requests for 500 records of the store."""
    from textsplice.splicer import Splicer

    tables = Splicer.untrained(run, store=store).store.tables
    chosen = random.Random(0).sample(tables, min(500, len(tables)))
    return [json.dumps({"table": table.to_record()}).encode() for table in chosen]


def loads(
    run: str, store: str | None, bodies: Sequence[bytes], connections: Sequence[int], seconds: float
) -> dict[str, object]:
    """So many connections, one number after another."""
    found: dict[str, object] = {}
    with server(run, store) as (port, process):
        asyncio.run(load(port, bodies, 4, 3))  # until everything is opened
        before = memory(process)
        for count in connections:
            found[f"{count} connections"] = asyncio.run(load(port, bodies, count, seconds, process)).told()
            print(f"  {count} connections: {found[f'{count} connections']}", flush=True)
        found["memory_mib"] = {"before": before, "after": memory(process)}
    return found


def batching(run: str, store: str | None, bodies: Sequence[bytes], seconds: float) -> dict[str, object]:
    """32 connections with batches of 32 and of 1, in turns.

    Where other programs use the processor too, the ratio of its seconds says more than that of the rates.
    """
    rates: dict[int, list[float]] = {32: [], 1: []}
    costs: dict[int, list[float]] = {32: [], 1: []}
    with server(run, store, batch=32) as on, server(run, store, batch=1) as off:
        for port, _ in (on, off):
            asyncio.run(load(port, bodies, 4, 3))
        for _ in range(TURNS):
            for batch, (port, process) in ((32, on), (1, off)):
                done = asyncio.run(load(port, bodies, 32, seconds / 2, process))
                rates[batch].append(len(done.accepted) / done.seconds)
                costs[batch].append(1000 * done.cpu / max(1, len(done.accepted)))
    rate, cost = ({batch: statistics.median(all_[batch]) for batch in all_} for all_ in (rates, costs))
    return {
        "requests_per_second": {"on": round(rate[32], 1), "off": round(rate[1], 1)},
        "ratio": round(rate[32] / rate[1], 2),
        "cpu_ms_per_request": {"on": round(cost[32], 1), "off": round(cost[1], 1)},
        "cpu_ratio": round(cost[1] / cost[32], 2),
    }


def overload(run: str, store: str | None, bodies: Sequence[bytes], seconds: float) -> dict[str, object]:
    """As many connections as places, then four times as many."""
    with server(run, store, queue=PLACES) as (port, _):
        asyncio.run(load(port, bodies, 4, 3))
        full = asyncio.run(load(port, bodies, PLACES, seconds))
        over = asyncio.run(load(port, bodies, 4 * PLACES, seconds))
    before, after = _percentile(full.accepted, 95), _percentile(over.accepted, 95)
    ratio = round(after / before, 2) if before and after else None
    return {"places": PLACES, "full": full.told(), "over": over.told(), "p95_ratio": ratio}


def stays(
    run: str, store: str | None, bodies: Sequence[bytes], connections: int, minutes: float, pause: float
) -> dict[str, object]:
    """What a server holds, minute by minute under load."""
    held: list[float] = []
    answered = 0
    with server(run, store) as (port, process):
        asyncio.run(load(port, bodies, 4, 3))
        held.append(memory(process))
        end = time.monotonic() + 60 * minutes
        while time.monotonic() < end:
            left = min(60.0, end - time.monotonic() + 0.1)
            done = asyncio.run(load(port, bodies, connections, left, pause=pause))
            answered += len(done.accepted)
            held.append(memory(process))
            print(f"  {answered:,} answered, {held[-1]} MiB", flush=True)
    return {"minutes": minutes, "connections": connections, "answered": answered, "memory_mib": held}


def main() -> None:
    """Measures, prints and writes JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("runs", nargs="+", metavar="NAME=RUN")
    parser.add_argument("--store", help="for those that are exports")
    parser.add_argument("--connections", default="1,8,32")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--memory-minutes", type=float, default=10.0)
    parser.add_argument("--memory-pause", type=float, default=0.0, help="seconds between requests, about")
    parser.add_argument("--only", action="append", choices=PARTS, help="one of the parts; default: all")
    parser.add_argument("--out", type=Path, default=RESULTS / "serve.json")
    options = parser.parse_args()
    from textsplice.runs.recognized import is_export

    counts = [int(count) for count in options.connections.split(",")]
    seconds: float = options.seconds
    found = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else {}
    for named in options.runs:
        name, _, run = named.partition("=")
        store = options.store if is_export(run) else None
        bodies = records(run, store)
        parts: dict[str, Callable[[], dict[str, object]]] = {
            "load": partial(loads, run, store, bodies, counts, seconds),
            "batching": partial(batching, run, store, bodies, seconds),
            "overload": partial(overload, run, store, bodies, seconds),
            "memory": partial(
                stays, run, store, bodies, counts[-1], options.memory_minutes, options.memory_pause
            ),
        }
        for part in options.only or PARTS:
            print(f"{name}: {part}", flush=True)
            before = os.getloadavg()[0]
            measured = {**parts[part](), "load_average": [round(before, 1), round(os.getloadavg()[0], 1)]}
            found.setdefault(name, {})[part] = measured
            print(f"  {found[name][part]}", flush=True)
            options.out.parent.mkdir(parents=True, exist_ok=True)
            options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(options.out)


if __name__ == "__main__":
    main()
