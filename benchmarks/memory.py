"""Resident memory while a run with a judge generates: after each 100 rows, against the first 100.

    cd FOLDER; python benchmarks/memory.py RUN --rows 2000 --set search.beam=2

Tables are those of the bundled corpus, with one value of each changed, so that no two are equal.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

from textsplice.cli.systems import check_values, search_of
from textsplice.corpus import Table, read_corpus
from textsplice.splicer import Splicer

RESULTS = Path(__file__).resolve().parent / "results"
PROMISED = 200 << 20  # bytes beyond the first 100 rows


def resident() -> int:
    """The bytes of this process that are in memory now."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) << 10
    raise RuntimeError("this system does not tell the size of a process")


def tables(rows: int) -> Iterator[Table]:
    """The tables of the bundled corpus again and again, with ever new names."""
    known = list(dict.fromkeys(example.table for example in read_corpus("bundled", "dev")))
    for number, table in enumerate(islice(cycle(known), rows)):
        record = dict(table.to_record())
        first = next(iter(record))
        yield Table.of({**record, first: f"Mill Number {number}"})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--every", type=int, default=100)
    parser.add_argument("--set", action="append", default=[], dest="values")
    parser.add_argument("--out", type=Path, default=RESULTS / "memory.json")
    given = parser.parse_args()
    splicer = Splicer.load(given.run)
    search = search_of(splicer, check_values(given.values))
    sizes: list[int] = []
    began = time.monotonic()
    for number, _ in enumerate(splicer.generate_many(tables(given.rows), search=search), start=1):
        if number % given.every == 0:
            sizes.append(resident())
            grown = (sizes[-1] - sizes[0]) / 2**20
            took = time.monotonic() - began
            print(
                f"{number:>6} rows: {sizes[-1] / 2**20:7.0f} MiB, {grown:+5.0f} MiB, {took:.0f} s", flush=True
            )
    growth = max(sizes) - sizes[0]
    print(f"growth over the first {given.every} rows: {growth / 2**20:.0f} MiB")
    given.out.parent.mkdir(parents=True, exist_ok=True)
    found = {
        "rows": given.rows,
        "every": given.every,
        "judge": search.judge,
        "beam": search.beam,
        "resident_bytes": sizes,
        "growth_bytes": growth,
        "seconds": time.monotonic() - began,
    }
    given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    sys.exit(growth > PROMISED)


if __name__ == "__main__":
    main()
