"""What an engine costs: the same work as a plain loop, and in parts by 1 and 2 workers, here and on Ray.

    python benchmarks/engine.py PREPARED TABLES [--split train] [--limit 2000] [--ray]

Each is a command of its own (`generate` by swap), one after the other; texts must be byte-equal. Seconds of
the processor count all processes, Ray's own too, as they were when last looked at (ten times a second); wall
seconds say little on a machine that others use too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from scale import family

RESULTS = Path(__file__).parent / "results"


class Watch(threading.Thread):
    """The processor seconds of a process and all that it started; Ray's workers are waited for by no one."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self.process, self.used, self.ended = process, dict[int, float](), threading.Event()

    def run(self) -> None:
        while not self.ended.wait(0.1):
            for each in {*family(self.process), *self.used}:
                try:
                    fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                self.used[each] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(arguments: list[str]) -> dict[str, float]:
    """Seconds of a command, on the clock and of the processor."""
    began = time.monotonic()
    process = subprocess.Popen([sys.executable, "-m", "textsplice", *arguments])
    watch = Watch(process.pid)
    watch.start()
    if process.wait():
        raise SystemExit(f"{arguments[0]} ended with {process.returncode}")
    watch.ended.set()
    watch.join()
    used = round(sum(watch.used.values()), 1)
    return {"seconds": round(time.monotonic() - began, 1), "cpu seconds": used, "processes": len(watch.used)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prepared")
    parser.add_argument("tables")
    parser.add_argument("--split", default="train")
    parser.add_argument("--limit", default="2000")
    parser.add_argument("--ray", action="store_true", help="also on Ray, started here")
    parser.add_argument("--out", type=Path, default=RESULTS / "engine.json")
    given = parser.parse_args()
    ways: dict[str, list[str]] = {
        "plain": [],
        "local:1": ["--engine", "local:1"],
        "local:2": ["--engine", "local:2"],
    }
    if given.ray:
        ways |= {f"ray:{count}": ["--engine", "ray", "--workers", str(count)] for count in (1, 2)}
    asked = [given.prepared, given.tables, "--split", given.split, "--distinct", "--limit", given.limit]
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, options in ways.items():
            out = Path(folder, f"{name.replace(':', '-')}.jsonl")
            found[name] = run(["generate", *asked, "--quiet", "--out", str(out), *options])
            found[name]["equal"] = out.read_bytes() == Path(folder, "plain.jsonl").read_bytes()
            print(name, found[name], flush=True)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
