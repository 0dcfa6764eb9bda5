"""Tracing texts to a whole corpus: speed, growth and memory.

    python benchmarks/trace.py E2E_FOLDER [--texts 300] [--derive 5] [--check] [--rows 582659]

1. E2E: dev texts with their records against all training texts. Exact mode and fast mode in turn; how often
   the fast cost is the proved one. Two baselines on the same texts: `derive` from all rows at once, for so
   many of them (`--check`: for all, and compares the costs), and a suffix array's longest-match cover.
2. Growth with the length of a text: dev texts joined to 20 … 400 tokens, without a record.
3. Growth with the rows: made corpora of 1,000 … 1,000,000 texts with Zipf words, texts edited from two rows.
4. Memory and time of `textsplice trace` over a made corpus of WikiBio's size, first and second start.

Times are processor times of one thread; all are from one run.
"""

from __future__ import annotations

# ruff: noqa: E402 - the number of threads must be set before NumPy is imported
import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import run
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffixes import SuffixArray
from textsplice.corpus import Example, read_corpus
from textsplice.neighbors import TextIndex
from textsplice.oracle import Pricing, derive_corpus
from textsplice.ragged import Ragged
from textsplice.search.generation import Generation
from textsplice.text import linearize, tokenize
from textsplice.text.tokens import BEGIN, END
from textsplice.trace import SourceTexts, Tracer
from textsplice.trace.tracing import promising

RESULTS = Path(__file__).parent / "results"
LENGTHS = (20, 50, 100, 200, 400)
ROWS = (1_000, 10_000, 100_000, 1_000_000)
VOCABULARY, MASK = 50_000, 2
Report = dict[str, Any]


def cpu(task: Callable[[], object]) -> float:
    """The processor seconds of a task."""
    began = time.process_time()
    task()
    return time.process_time() - began


class Corpus:
    """The training texts of E2E."""

    def __init__(self, folder: Path) -> None:
        self.examples = list(read_corpus(f"e2e:{folder}", "dev"))
        self.sources = SourceTexts.of_examples(read_corpus(f"e2e:{folder}", "train"), "words")
        self.tracer = Tracer(self.sources)
        self.rows = self.sources.masked.tokens
        self.suffixes = SuffixArray(self.rows)

    def numbered(self, words: list[str]) -> NDArray[np.int32]:
        new: dict[str, int] = {}
        known = self.sources.numbers
        numbers = [known[w] if w in known else new.setdefault(w, len(known) + len(new)) for w in words]
        return np.array(numbers, dtype=np.int32)

    def trace(self, example: Example, *, exact: bool) -> Generation:
        return self.tracer.trace(example.text or "", example.table, exact=exact)

    def tokens(self, example: Example) -> list[str]:
        return [BEGIN, *tokenize(example.text or "", "words"), END]

    def derived(self, example: Example) -> int:
        """The cost from all rows at once."""
        linear = linearize(example.table, "words")
        tokens = self.tokens(example)
        ids = self.numbered([*tokens, *linear.tokens])
        found = derive_corpus(
            Ragged.from_rows([ids[: len(tokens)]]),
            table_tokens=Ragged.from_rows([ids[len(tokens) :]]),
            table_segments=Ragged.from_rows([np.array(linear.segment_numbers(), dtype=np.int32)]),
            table_of=np.zeros(1, dtype=np.int32),
            store_tokens=self.rows,
            neighbors=np.arange(len(self.rows), dtype=np.int32)[None],
            mask_id=MASK,
        )
        return int(found.costs[0])

    def pieces(self, example: Example) -> int:
        """How many longest matches cover a text; not its beginning and end, which cost nothing in a chain."""
        values = [self.numbered(list(value)) for value in linearize(example.table, "words").value_tokens()]
        return self.suffixes.pieces(self.numbered(self.tokens(example)), Ragged.from_rows(values))


def measure_e2e(corpus: Corpus, texts: int, derive: int, *, check: bool) -> Report:
    """Speeds and costs of the modes and the baselines."""
    random = np.random.default_rng(0)
    chosen = [corpus.examples[i] for i in random.choice(len(corpus.examples), texts, replace=False)]
    for exact in (True, False):
        corpus.trace(chosen[0], exact=exact)  # compiles
    corpus.pieces(chosen[0])
    seconds = {"exact": 0.0, "fast": 0.0, "cover": 0.0}
    traces: dict[str, list[Generation]] = {"exact": [], "fast": []}
    pieces: list[int] = []
    for example in chosen:  # in turn, so that noise falls on all of them
        seconds["exact"] += cpu(lambda e=example: traces["exact"].append(corpus.trace(e, exact=True)))
        seconds["fast"] += cpu(lambda e=example: traces["fast"].append(corpus.trace(e, exact=False)))
        seconds["cover"] += cpu(lambda e=example: pieces.append(corpus.pieces(e)))
    costs = {mode: np.array([len(each.splices) for each in found]) for mode, found in traces.items()}
    checked = chosen if check else chosen[:derive]
    derived: list[int] = []
    derive_seconds = cpu(lambda: derived.extend(map(corpus.derived, checked)))
    return {
        "rows": len(corpus.rows),
        "texts": texts,
        "tokens": round(float(np.mean([len(each.tokens) for each in traces["exact"]])), 1),
        "exact texts per second": round(texts / seconds["exact"], 1),
        "fast texts per second": round(texts / seconds["fast"], 1),
        "longest-match cover, texts per second": round(texts / seconds["cover"], 1),
        "derive from all rows, texts per second": round(len(checked) / derive_seconds, 3),
        "exact against derive": round(derive_seconds / len(checked) / seconds["exact"] * texts, 1),
        "splices, exact": round(float(costs["exact"].mean()), 3),
        "splices, fast": round(float(costs["fast"].mean()), 3),
        "pieces of the longest-match cover": round(float(np.mean(pieces)), 3),
        "share of fast costs proved least": round(float((costs["fast"] == costs["exact"]).mean()), 3),
        "texts compared with derive": len(checked),
        "of these, costs that differ": int((np.array(derived) != costs["exact"][: len(checked)]).sum()),
        "gaps": sum(len(each.gaps) for each in traces["exact"]),
    }


def measure_lengths(corpus: Corpus, repeats: int = 3) -> Report:
    """Processor seconds by the length of a text."""
    random = np.random.default_rng(1)
    report: Report = {}
    corpus.tracer.trace("Once.", exact=True)  # compiles
    for length in LENGTHS:
        seconds = {"exact": 0.0, "fast": 0.0}
        for _ in range(repeats):
            words: list[str] = []
            while len(words) < length:
                words += (corpus.examples[random.integers(len(corpus.examples))].text or "").split()
            tokens = tokenize(" ".join(words), "words")
            text = tokens.text[: tokens.spans[min(length, len(tokens)) - 1][1]]
            seconds["exact"] += cpu(lambda t=text: corpus.tracer.trace(t))
            seconds["fast"] += cpu(lambda t=text: corpus.tracer.trace(t, exact=False))
        report[f"{length} tokens"] = {mode: round(each / repeats, 4) for mode, each in seconds.items()}
    return report


def made_rows(count: int, random: np.random.Generator) -> Ragged:
    """Rows of about 26 words with Zipf frequencies; 0 and 1 are their beginnings and ends."""
    lengths = np.clip(random.poisson(24, count), 5, 60)
    weights = 1 / np.arange(1, VOCABULARY + 1) ** 1.07
    words = random.choice(VOCABULARY, lengths.sum(), p=weights / weights.sum()).astype(np.int32) + 3
    offsets = np.concatenate(([0], np.cumsum(lengths + 2))).astype(np.int64)
    values = np.zeros(offsets[-1], dtype=np.int32)
    inside = np.ones(len(values), dtype=np.bool_)
    inside[offsets[:-1]] = inside[offsets[1:] - 1] = False
    values[inside] = words
    values[offsets[1:] - 1] = 1
    return Ragged(values, offsets)


def edited(rows: Ragged, random: np.random.Generator) -> NDArray[np.int32]:
    """The beginning of one row and the end of another, with one word exchanged."""
    one, other = (rows[int(i)] for i in random.integers(len(rows), size=2))
    text = np.concatenate((one[: len(one) // 2], other[len(other) // 2 :]))
    text[random.integers(1, len(text) - 1)] = random.integers(3, VOCABULARY)
    return text


def seconds_each(
    pricing: Pricing, index: TextIndex, targets: list[NDArray[np.int32]], *, exact: bool
) -> float:
    """Processor seconds per target."""

    def derive(target: NDArray[np.int32]) -> None:
        pricing.least(target, index.search(target, promising(len(target))), exact=exact)

    derive(targets[0])  # compiles
    return cpu(lambda: [derive(target) for target in targets]) / len(targets)


def measure_rows(texts: int = 20) -> Report:
    """Processor seconds by the number of rows."""
    report: Report = {}
    for count in ROWS:
        random = np.random.default_rng(count)
        rows = made_rows(count, random)
        built: list[TextIndex] = []
        building = cpu(lambda r=rows, b=built: b.append(TextIndex.build(r, MASK)))
        pricing, index = Pricing(rows, MASK), built[0]
        targets = [edited(rows, random) for _ in range(texts)]

        report[f"{count:,} rows"] = {
            "building the index": round(building, 2),
            "exact": round(seconds_each(pricing, index, targets, exact=True), 4),
            "fast": round(seconds_each(pricing, index, targets, exact=False), 5),
        }
    return report


STARTED = """
import resource, sys, time
from textsplice.cli import main
sys.argv[0] = "textsplice"
began = time.perf_counter()
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(f"{time.perf_counter() - began:.1f} {peak / 1024:.0f}")
"""


def measure_memory(count: int, texts: int = 10) -> Report:
    """Seconds and peak memory of the whole command, with its processes' own figures."""
    random = np.random.default_rng(0)
    rows = made_rows(count, random)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "made.jsonl").open("w") as file:
            for row in range(count):
                text = " ".join(f"w{word}" for word in rows[row][1:-1])
                file.write(json.dumps({"id": str(row), "table": {"n": str(row)}, "text": text}) + "\n")
        drafts = [" ".join(f"w{word}" for word in edited(rows, random)[1:-1]) for _ in range(texts)]
        (folder / "drafts.txt").write_text("\n".join(drafts) + "\n")
        report: Report = {"rows": count, "texts": texts}
        for start in ("first", "second"):
            command = [sys.executable, "-c", STARTED, "trace", str(folder / "made.jsonl")]
            command += [str(folder / "drafts.txt"), "--out", str(folder / f"{start}.jsonl")]
            done = run(
                command,
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache")},
            )
            seconds, peak = map(float, done.stdout.split())
            report[f"{start} start"] = {"seconds": seconds, "peak MiB": peak}
        assert (folder / "first.jsonl").read_bytes() == (folder / "second.jsonl").read_bytes()
    return report


def main() -> None:
    """Measures and prints."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("e2e", type=Path)
    options.add_argument("--texts", type=int, default=300)
    options.add_argument("--derive", type=int, default=5)
    options.add_argument("--check", action="store_true")
    options.add_argument("--rows", type=int, default=582_659)
    given = options.parse_args()
    RESULTS.mkdir(exist_ok=True)
    report: Report = {}
    corpus = Corpus(given.e2e)
    for name, measure in (
        ("e2e", lambda: measure_e2e(corpus, given.texts, given.derive, check=given.check)),
        ("seconds by length", lambda: measure_lengths(corpus)),
        ("seconds by rows", measure_rows),
        ("memory", lambda: measure_memory(given.rows)),
    ):
        report[name] = measure()
        print(json.dumps({name: report[name]}, indent=1), flush=True)
        (RESULTS / "trace.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
