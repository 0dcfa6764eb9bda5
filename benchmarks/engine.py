"""What an engine costs: the same work as a plain loop, and in parts by 1 and 2 workers.

    python benchmarks/engine.py PREPARED TABLES [--split train] [--limit 2000] [--ray]

Each is a command of its own (`generate` by swap), one after the other; texts must be byte-equal. Seconds of
the processor count all processes; wall seconds say little on a machine that others use too.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def run(arguments: list[str]) -> dict[str, float]:
    """Seconds of a command, on the clock and of the processor."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([sys.executable, "-m", "textsplice", *arguments], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": round(time.monotonic() - began, 1), "cpu seconds": round(used, 1)}


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
    if given.ray:  # Ray's workers are not our children: only the clock tells
        ways["ray"] = ["--engine", "ray", "--workers", "2"]
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
