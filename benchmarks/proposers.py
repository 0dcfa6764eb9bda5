"""CPU seconds a table of every way to write, in one run, in turns, batch by batch.

    python benchmarks/proposers.py runs/e2e-drafts [--full runs/e2e-distilled] [--references e2e:data/e2e]
        [--split dev] [--every 8] [--store PREPARED]

The baseline is the run's own S2S+copy or LRT with a beam of 5 and its most probable text, "from the
vocabulary". Beside it: the same texts as drafts (the cost of provenance), the run's settings with one writer
and with all, and, with `--full`, FULL with one beam of 5 as in the paper and with its own settings.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import torch

from textsplice.cli.generate import distinct_tables
from textsplice.cli.systems import open_system
from textsplice.config import SearchConfig
from textsplice.corpus import read_corpus
from textsplice.files import atomic_write_text
from textsplice.splicer import Splicer

PAPER = SearchConfig(beam=5, choose="likelihood", start_neighbors=1, slots_first=False)
BASELINE = "token beam of 5, no sources"


def ways(writer: Splicer, full: Splicer | None) -> dict[str, tuple[Splicer, SearchConfig]]:
    """Each way to write: who, and with which settings."""
    own = writer.config.search
    found = {
        BASELINE: (writer, PAPER),
        "the same as drafts": (writer, replace(PAPER, proposers=("drafts",))),
        f"drafts, beam {own.beam}, {own.choose}, one writer": (writer, replace(own, writers=())),
    }
    if len(own.writers) > 1:
        found[f"… {len(own.writers)} writers: the run's settings"] = (writer, own)
    if full is not None:
        found["FULL, one beam of 5, most probable"] = (full, PAPER)
        found["FULL, its own settings"] = (full, full.config.search)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--full", type=Path)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--references", default="e2e:data/e2e")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--every", type=int, default=8, help="look at every n-th table")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "proposers.json")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)

    writer = open_system(arguments.run, arguments.store)
    full = open_system(arguments.full, arguments.store) if arguments.full else None
    examples = distinct_tables(read_corpus(arguments.references, arguments.split))
    tables = [example.table for example in examples][:: arguments.every]
    seconds: dict[str, float] = defaultdict(float)
    systems = ways(writer, full)
    for splicer, search in systems.values():  # kernels are compiled and encodings read before the clock runs
        list(splicer.generate_many(tables[:2], search=search, progress=False))
    for first in range(0, len(tables), arguments.batch):
        batch = tables[first : first + arguments.batch]
        for name, (splicer, search) in systems.items():
            begun = time.process_time()
            list(splicer.generate_many(batch, search=search, progress=False))
            seconds[name] += time.process_time() - begun
    print(f"{len(tables)} tables, batches of {arguments.batch}, {arguments.threads} thread(s)")
    print(f"{'':58} {'CPU s/table':>11} {'ratio':>7}")
    for name, spent in seconds.items():
        print(f"{name:58} {spent / len(tables):11.3f} {spent / seconds[BASELINE]:7.2f}")
    result = {
        "tables": len(tables),
        "batch": arguments.batch,
        "threads": arguments.threads,
        "processor": platform.processor() or platform.machine(),
        "baseline": BASELINE,
        "CPU seconds a table": {name: round(spent / len(tables), 4) for name, spent in seconds.items()},
    }
    atomic_write_text(arguments.out, json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
