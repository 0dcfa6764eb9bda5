"""CPU seconds a table of every way to write, in one run, in turns, batch by batch.

    python benchmarks/proposers.py models/e2e-drafts [--full models/e2e-full] [--references e2e:data/e2e]
        [--split dev] [--every 8] [--store PREPARED] [--baseline CHECKOUT]

The yardstick is `transformers`' BART of the writer's size: random weights, beam 5, texts as long as the
references. Beside it: the run's own S2S+copy or LRT with a beam of 5 and its most probable text, the same
texts as drafts (the cost of provenance), with alternatives and, like BART's, without; the run's own settings
and, with `--full`, FULL with one beam of 5 as in the paper, with the package's defaults and with its own
settings. With `--baseline`, the `src` of another checkout writes the same batches in a process of its own, in
turns with this one, and texts and splices are compared. `--only` names ways by a part of their names.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path

import torch

from textsplice.cli.reading import distinct_tables
from textsplice.cli.systems import open_system
from textsplice.config import SearchConfig
from textsplice.corpus import Table, read_corpus
from textsplice.runs.recognized import is_export
from textsplice.splicer import Splicer

PAPER = SearchConfig(beam=5, choose="likelihood", start_neighbors=1, slots_first=False)
BART = "BART of the same size, beam 5"
Written = list[tuple[str, list[list[int]]]]  # texts and splices
Way = Callable[[Sequence[Table]], Written]


def ways(writer: Splicer, full: Splicer | None) -> dict[str, tuple[Splicer, SearchConfig]]:
    """Each way to write: who, and with which settings."""
    own, drafts = writer.config.search, replace(PAPER, proposers=("drafts",))
    settings = f"drafts, {max(len(own.writers), 1)} writers, beam {own.beam}, {own.choose}"
    found = {
        "token beam of 5, no sources": (writer, PAPER),
        "the same as drafts": (writer, drafts),
        "the same as drafts, alternatives 0": (writer, alone(drafts)),
        settings: (writer, own),
        f"{settings}, alternatives 0": (writer, alone(own)),
    }
    if full is not None:
        found["FULL, one beam of 5, most probable"] = (full, PAPER)
        found["FULL, one beam of 5, alternatives 0"] = (full, alone(PAPER))
        found["FULL, the package's defaults"] = (full, SearchConfig())
        found["FULL, its own settings"] = (full, full.config.search)
    return found


def alone(search: SearchConfig) -> SearchConfig:
    """Without alternatives; an older checkout, which has no such setting, gives them."""
    known = {field.name for field in fields(search)}
    return replace(search, alternatives=0) if "alternatives" in known else search


def write(splicer: Splicer, search: SearchConfig, tables: Sequence[Table]) -> Written:
    """The texts of some tables."""
    made = splicer.generate_many(tables, search=replace(search, batch_size=len(tables)), progress=False)
    return [(each.text, [list(splice) for splice in each.splices]) for each in made]


def bart(writer: Splicer, tables: Sequence[Table], length: int) -> Way:
    """BART, as `generation.py` has it."""
    from generation import bart_generate, bart_of

    policy, vocabulary, store = writer.policy, writer.vocabulary, writer.store
    model = bart_of(policy.shape)

    def generate(batch: Sequence[Table]) -> Written:
        import numpy as np

        rows = [np.array(vocabulary.encode(store.linearize(table).tokens)) for table in batch]
        bart_generate(model, [policy.shape.embed(row).tolist() for row in rows], length)
        return []

    del tables
    return generate


def serve(systems: dict[str, tuple[Splicer, SearchConfig]], tables: Sequence[Table]) -> None:
    """Writes what it is asked for on standard input: a way and a range of tables."""
    for line in sys.stdin:
        name, first, last = json.loads(line)
        begun = time.process_time()
        written = write(*systems[name], tables[first:last])
        print(json.dumps([time.process_time() - begun, written]), flush=True)


class Baseline:
    """Another checkout's code, in a process that waits for its turn."""

    def __init__(self, folder: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
        self.process = subprocess.Popen(
            [sys.executable, *sys.argv, "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def write(self, name: str, first: int, last: int) -> tuple[float, Written]:
        """CPU seconds and texts."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps([name, first, last]), file=self.process.stdin, flush=True)
        spent, written = json.loads(self.process.stdout.readline())
        return spent, [(text, splices) for text, splices in written]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--full", type=Path)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--references", default="e2e:data/e2e")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--every", type=int, default=8, help="look at every n-th table")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--length", type=int, default=27, help="tokens of BART's texts; 27 is E2E's mean")
    parser.add_argument("--baseline", type=Path, help="a checkout of another commit")
    parser.add_argument("--only", action="append", metavar="PART", help="repeatable")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "proposers.json")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)

    writer = open_system(arguments.run, arguments.store)
    texts = arguments.store if arguments.full and is_export(arguments.full) else None
    full = open_system(arguments.full, texts) if arguments.full else None
    examples = distinct_tables(read_corpus(arguments.references, arguments.split))
    tables = [example.table for example in examples][:: arguments.every]
    systems = {
        name: way
        for name, way in ways(writer, full).items()
        if not arguments.only or any(part in name for part in arguments.only)
    }
    for way in systems.values():  # kernels are compiled before the clock runs
        write(*way, tables[:2])
    if arguments.serve:
        serve(systems, tables)
        return
    generate_bart = bart(writer, tables, arguments.length)
    generate_bart(tables[:2])
    baseline = Baseline(arguments.baseline) if arguments.baseline else None
    seconds: dict[str, float] = defaultdict(float)
    before: dict[str, float] = defaultdict(float)
    differing: dict[str, int] = defaultdict(int)
    done = 0
    for first in range(0, len(tables), arguments.batch):
        batch = tables[first : first + arguments.batch]
        begun = time.process_time()
        generate_bart(batch)
        seconds[BART] += time.process_time() - begun
        for name, way in systems.items():
            begun = time.process_time()
            written = write(*way, batch)
            seconds[name] += time.process_time() - begun
            if baseline:
                spent, old = baseline.write(name, first, first + len(batch))
                before[name] += spent
                differing[name] += sum(one != other for one, other in zip(written, old, strict=True))
        done += len(batch)
        tell(arguments, seconds, before, differing, done)


def tell(
    arguments: argparse.Namespace,
    seconds: dict[str, float],
    before: dict[str, float],
    differing: dict[str, int],
    tables: int,
) -> None:
    """Prints and writes what is known after so many tables."""
    rows = {
        name: {
            "CPU s a table": round(spent / tables, 4),
            "times BART": round(spent / seconds[BART], 2),
            **(
                {
                    "CPU s a table before": round(before[name] / tables, 4),
                    "times before": round(spent / before[name], 2),
                    "texts or splices that differ": differing[name],
                }
                if name in before
                else {}
            ),
        }
        for name, spent in seconds.items()
    }
    for name, row in rows.items():
        print(f"{tables} tables  {name:50} " + "  ".join(f"{key} {value}" for key, value in row.items()))
    result = {
        "tables": tables,
        "batch": arguments.batch,
        "threads": arguments.threads,
        "processor": platform.processor() or platform.machine(),
        "ways": rows,
    }
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
