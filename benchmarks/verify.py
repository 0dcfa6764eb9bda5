"""`verify`: rows per second and peak memory, against another version of textsplice, interleaved.

    python benchmarks/verify.py ROWS.jsonl --run RUN --baseline CHECKOUT --baseline-rows OLD-ROWS.jsonl

ROWS.jsonl are honest rows of RUN; OLD-ROWS.jsonl are those of the same tables as the baseline writes them, if
it does not read ours. The hostile row is one of them with 20,000 splices of one word each, all of which
replay. Figures are CPU seconds after the folder was opened. Every measurement is a process of its own; before
and after take turns, and medians are told.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
MEASURE = """
import inspect, json, resource, sys, time
from pathlib import Path
from textsplice.errors import TextspliceError
from textsplice.search.rows import read_generations
from textsplice.search.verify import verify
from textsplice.splicer import Splicer
rows, run, repeats = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
proof = Splicer.untrained(run).proof if run else None
exact = {"exact": True} if "exact" in inspect.signature(read_generations).parameters else {}
def once():
    count = 0
    try:
        for where, generation in read_generations(rows, **exact):
            verify(generation, proof, where=where)
            count += 1
        return count
    except TextspliceError as error:
        return str(error)[-60:]
if run:
    once()  # compiles the search
began = time.process_time()
for _ in range(repeats):
    said = once()
seconds = (time.process_time() - began) / repeats
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"seconds": seconds, "peak_mb": peak, "said": said}))
"""


def hostile(row: dict[str, object], splices: int) -> dict[str, object]:
    """A text of one word per splice, each inserted before the last, from a neighbor of one word."""
    tokens = ["a"] * (splices - 1)
    neighbor = {"id": "x", "text": "a", "tokens": ["\u0002", "a", "\u0003"]}
    last = splices - 1
    return {
        **row,
        "policy": "oracle",
        "attribution": "exact",
        "text": " ".join(tokens),
        "tokens": tokens,
        "splices": [[0, 0, 1, 0, 3], *([1, 1, 1, 1, 2] for _ in range(splices - 2))],
        "provenance": [
            {
                "source": 1,
                "position": 1,
                "step": last - 1 - at if at < last - 1 else 0,
                "start": 2 * at,
                "stop": 2 * at + 1,
                **({"utf16": [2 * at, 2 * at + 1]} if str(row["format"]).endswith("/2") else {}),
            }
            for at in range(last)
        ],
        "sources": {**row["sources"], "neighbors": [neighbor], "words": {}},  # type: ignore[dict-item]
        "rules": [],
        "alternatives": [],
    }


def measure(source: Path, rows: Path, run: str, repeats: int) -> dict[str, float | int | str]:
    """One measurement in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(rows), run, str(repeats)],
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Measures and prints."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("rows", type=Path)
    options.add_argument("--run", default="")
    options.add_argument("--baseline", type=Path, required=True, help="A checkout of another version.")
    options.add_argument("--baseline-rows", type=Path, help="Rows as that version writes them.")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--splices", type=int, default=20_000)
    given = options.parse_args()
    sources = {"before": given.baseline / "src", "after": Path(__file__).parents[1] / "src"}
    count = sum(1 for line in given.rows.open() if line.strip())
    olds = given.baseline_rows or given.rows
    with tempfile.TemporaryDirectory() as folder:
        attack = Path(folder) / "hostile.jsonl"
        old = {given.rows: olds, attack: Path(folder) / "old.jsonl"}
        for source, target in ((given.rows, attack), (olds, old[attack])):
            first = json.loads(source.open().readline())
            target.write_text(json.dumps(hostile(first, given.splices)) + "\n")
        size = attack.stat().st_size
        cases = {
            "honest rows, alone": (given.rows, "", 3, count),
            "honest rows, with the run": (given.rows, given.run, 3, count),
            f"one row of {given.splices} splices ({size / 1e6:.1f} MB)": (attack, "", 1, 1),
        }
        report: dict[str, object] = {}
        for name, (rows, run, repeats, number) in cases.items():
            found: dict[str, list[dict[str, float | int | str]]] = {"before": [], "after": []}
            for _ in range(given.rounds):
                for version, source in sources.items():
                    mine = old.get(rows, rows) if version == "before" else rows
                    found[version].append(measure(source, mine, run, repeats))
            told = {
                version: {
                    "rows_per_second": round(
                        number / statistics.median(float(m["seconds"]) for m in each), 2
                    ),
                    "peak_mb": round(statistics.median(float(m["peak_mb"]) for m in each)),
                    "said": each[0]["said"],
                }
                for version, each in found.items()
            }
            rates = [float(told[version]["rows_per_second"]) for version in ("after", "before")]
            report[name] = {**told, "ratio": round(rates[0] / rates[1], 3)}
            print(name, json.dumps(report[name], indent=1), flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "verify.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
