"""`textsplice serve` under load on this machine: requests per second, latencies, memory, batching, overload.

    python benchmarks/serve.py swap=prepared/bundled drafts=models/e2e-drafts --store prepared/e2e
    python benchmarks/serve.py swap=prepared/bundled --connections 8 --memory-minutes 10

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
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
PLACES = 32
TURNS = 3


@dataclass
class Load:
    """What a load of some seconds gave."""

    seconds: float = 0.0
    accepted: list[float] = field(default_factory=list)  # seconds of each answer
    refused: list[float] = field(default_factory=list)  # of each 429
    other: list[int] = field(default_factory=list)  # any other status

    def told(self) -> dict[str, object]:
        """As JSON; times in milliseconds."""
        return {
            "requests_per_second": round(len(self.accepted) / self.seconds, 1),
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
        if "\r\nconnection: close" in answer:
            writer.close()
            self.streams = None
        return int(answer.split(" ", 2)[1])


async def load(port: int, bodies: Sequence[bytes], connections: int, seconds: float) -> Load:
    """So many connections for so long; requests that are under way at the end are finished and counted."""
    found = Load()
    began = time.perf_counter()

    async def one(number: int) -> None:
        connection, order = Connection(port), random.Random(number)
        while time.perf_counter() - began < seconds:
            sent = time.perf_counter()
            status = await connection.post(order.choice(bodies))
            took = time.perf_counter() - sent
            if status == 200:
                found.accepted.append(took)
            elif status == 429:
                found.refused.append(took)
                await asyncio.sleep(1)
            else:
                found.other.append(status)

    await asyncio.gather(*(one(number) for number in range(connections)))
    found.seconds = time.perf_counter() - began
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


def measure(run: str, store: str | None, connections: Sequence[int], seconds: float) -> dict[str, object]:
    """All figures of one run."""
    bodies = records(run, store)
    found: dict[str, object] = {}
    with server(run, store) as (port, process):
        asyncio.run(load(port, bodies, 4, 3))  # until everything is opened
        before = memory(process)
        for count in connections:
            found[f"{count} connections"] = asyncio.run(load(port, bodies, count, seconds)).told()
            print(f"  {count} connections: {found[f'{count} connections']}", flush=True)
        found["memory_mib"] = {"before": before, "after": memory(process)}
    found["batching"] = batching(run, store, bodies, seconds)
    print(f"  batching: {found['batching']}", flush=True)
    found["overload"] = overload(run, store, bodies, seconds)
    print(f"  overload: {found['overload']}", flush=True)
    return found


def batching(run: str, store: str | None, bodies: Sequence[bytes], seconds: float) -> dict[str, object]:
    """32 connections with batches of 32 and of 1, in turns."""
    rates: dict[int, list[float]] = {32: [], 1: []}
    with server(run, store, batch=32) as (on, _), server(run, store, batch=1) as (off, _):
        for port in (on, off):
            asyncio.run(load(port, bodies, 4, 3))
        for _ in range(TURNS):
            for batch, port in ((32, on), (1, off)):
                done = asyncio.run(load(port, bodies, 32, seconds / 2))
                rates[batch].append(len(done.accepted) / done.seconds)
    on_rate, off_rate = statistics.median(rates[32]), statistics.median(rates[1])
    return {"on": round(on_rate, 1), "off": round(off_rate, 1), "ratio": round(on_rate / off_rate, 2)}


def overload(run: str, store: str | None, bodies: Sequence[bytes], seconds: float) -> dict[str, object]:
    """As many connections as places, then four times as many."""
    with server(run, store, queue=PLACES) as (port, _):
        asyncio.run(load(port, bodies, 4, 3))
        full = asyncio.run(load(port, bodies, PLACES, seconds))
        over = asyncio.run(load(port, bodies, 4 * PLACES, seconds))
    before, after = _percentile(full.accepted, 95), _percentile(over.accepted, 95)
    ratio = round(after / before, 2) if before and after else None
    return {"places": PLACES, "full": full.told(), "over": over.told(), "p95_ratio": ratio}


def stays(run: str, store: str | None, connections: int, minutes: float) -> dict[str, object]:
    """What a server holds, minute by minute under load."""
    bodies = records(run, store)
    held: list[float] = []
    answered = 0
    with server(run, store) as (port, process):
        asyncio.run(load(port, bodies, 4, 3))
        held.append(memory(process))
        end = time.monotonic() + 60 * minutes
        while time.monotonic() < end:
            done = asyncio.run(load(port, bodies, connections, min(60.0, end - time.monotonic() + 0.1)))
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
    parser.add_argument("--memory-minutes", type=float, help="only what a server holds after so long")
    parser.add_argument("--out", type=Path, default=RESULTS / "serve.json")
    options = parser.parse_args()
    from textsplice.runs.recognized import is_export

    counts = [int(count) for count in options.connections.split(",")]
    found: dict[str, object] = {}
    for named in options.runs:
        name, _, run = named.partition("=")
        store = options.store if is_export(run) else None
        print(name, flush=True)
        if options.memory_minutes:
            found[name] = stays(run, store, counts[-1], options.memory_minutes)
        else:
            found[name] = measure(run, store, counts, options.seconds)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(options.out)


if __name__ == "__main__":
    main()
