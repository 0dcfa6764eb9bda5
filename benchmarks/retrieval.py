"""Speed and exactness of the index: `python benchmarks/retrieval.py [--quick]`.

1. E2E: the 20 neighbors of every training row. Baseline: dense 0/1 matrix products over distinct tables.
2. A synthetic corpus of WikiBio's size: about 22 fields and 28 value words per table, Zipf-distributed,
   queried with tables that are not in it. Baseline: scipy's sparse products over all tables.

The baselines answer a sample of the same queries in the same run, in turn with the index, on one core. Every
answer is compared with the index's: rows, order and scores.
"""

from __future__ import annotations

# ruff: noqa: E402 - the number of threads must be set before NumPy is imported
import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import json
import platform
import resource
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from textsplice.corpus import Table, read_corpus
from textsplice.neighbors import Features, Index, features
from textsplice.text import tokenize

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "benchmarks" / "results" / "retrieval.json"
K = 20
ROUNDS = 5


@dataclass(frozen=True)
class Sets:
    """Sets of feature numbers, end to end."""

    members: NDArray[np.int32]
    offsets: NDArray[np.int64]
    width: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> NDArray[np.int32]:
        return self.members[self.offsets[row] : self.offsets[row + 1]]

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.diff(self.offsets)

    def matrix(self) -> csr_matrix:
        ones = np.ones(len(self.members), dtype=np.float32)
        return csr_matrix((ones, self.members, self.offsets), shape=(len(self), self.width))

    def vector(self, row: int) -> NDArray[np.float32]:
        vector = np.zeros(self.width, dtype=np.float32)
        vector[self[row]] = 1
        return vector


@dataclass(frozen=True)
class Tables:
    """Many tables as sets of field numbers and sets of word numbers."""

    fields: Sets
    values: Sets

    def __len__(self) -> int:
        return len(self.fields)

    def features(self) -> Iterator[Features]:
        fields = [f"field{i}" for i in range(self.fields.width)]
        words = [f"word{i}" for i in range(self.values.width)]
        for row in range(len(self)):
            yield Features(
                frozenset(fields[i] for i in self.fields[row].tolist()),
                frozenset(words[i] for i in self.values[row].tolist()),
            )


def zipf_sets(random: np.random.Generator, count: int, mean: int, width: int) -> Sets:
    """Sets of distinct numbers, number `i` drawn in proportion to 1 / (i + 1)."""
    shares = np.cumsum(1 / np.arange(1, width + 1))
    rows: list[NDArray[np.int32]] = []
    for begin in range(0, count, 4096):
        block = min(4096, count - begin)
        drawn = np.searchsorted(shares, random.random((block, 5 * mean)) * shares[-1])
        for row, size in zip(drawn.tolist(), random.poisson(mean, block).tolist(), strict=True):
            rows.append(np.array(list(dict.fromkeys(row))[: max(size, 1)], dtype=np.int32))
    offsets = np.concatenate(([0], np.cumsum([len(row) for row in rows], dtype=np.int64)))
    return Sets(np.concatenate(rows), offsets, width)


def make_tables(count: int, seed: int) -> Tables:
    random = np.random.default_rng(seed)
    return Tables(
        fields=zipf_sets(random, count, mean=22, width=2_000),
        values=zipf_sets(random, count, mean=28, width=400_000),
    )


def scores(
    field_overlaps: NDArray[np.float32],
    field_totals: NDArray[np.int64],
    value_overlaps: NDArray[np.float32],
    value_totals: NDArray[np.int64],
) -> NDArray[np.float64]:
    """The paper's score of all tables, as one ratio of integers so that ties stay ties."""
    fields, values = np.maximum(field_totals, 1), np.maximum(value_totals, 1)
    shared_fields, shared_values = field_overlaps.astype(np.int64), value_overlaps.astype(np.int64)
    return (20 * shared_fields * values + 2 * shared_values * fields) / (10 * fields * values)


def best(
    scored: NDArray[np.float64], commonness: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The first K rows by score, commonness and number, of all rows."""
    least = np.partition(scored, -K)[-K]
    rows = np.flatnonzero(scored >= least)
    rows = rows[np.lexsort((rows, -commonness[rows], -scored[rows]))][:K]
    return rows, scored[rows]


def seconds(work: Callable[[], object]) -> float:
    begin = perf_counter()
    work()
    return perf_counter() - begin


def peak_mb() -> float:
    """Peak resident memory of this process so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def in_turns(
    index: Callable[[range], object], baseline: Callable[[range], object], queries: int, sample: int
) -> dict[str, float]:
    """Median seconds per query over rounds; a round is the index, then the baseline."""
    ours: list[float] = []
    theirs: list[float] = []
    for turn in range(ROUNDS):
        ours_now = range(turn * queries // ROUNDS, (turn + 1) * queries // ROUNDS)
        theirs_now = range(turn * sample // ROUNDS, (turn + 1) * sample // ROUNDS)
        ours.append(seconds(lambda: index(ours_now)) / len(ours_now))  # noqa: B023
        theirs.append(seconds(lambda: baseline(theirs_now)) / len(theirs_now))  # noqa: B023
    index_ms, baseline_ms = statistics.median(ours) * 1e3, statistics.median(theirs) * 1e3
    return {
        "index_ms": index_ms,
        "index_ms_best": min(ours) * 1e3,
        "index_ms_worst": max(ours) * 1e3,
        "queries_per_second": 1e3 / index_ms,
        "baseline_ms": baseline_ms,
        "ratio": baseline_ms / index_ms,
    }


def made_corpus(tables: int, queries: int, sample: int) -> dict[str, float]:
    """The synthetic corpus of WikiBio's size."""
    corpus, asked = make_tables(tables, seed=1), make_tables(queries, seed=2)
    commonness = np.random.default_rng(3).random(tables).round(3)
    before = perf_counter()
    built = Index.build(corpus.features(), np.arange(tables, dtype=np.int32), commonness)
    build_seconds = perf_counter() - before
    questions = list(asked.features())
    with tempfile.TemporaryDirectory() as folder:
        save_seconds = seconds(lambda: built.save(Path(folder)))
        megabytes = sum(file.stat().st_size for file in Path(folder).iterdir()) / 1e6
        before = perf_counter()
        index = Index.load(Path(folder))
        load_seconds = perf_counter() - before
        index.search_many(questions[:50], K)  # compiles, or loads the compiled code
        index_peak_mb = peak_mb()

        fields, values = corpus.fields.matrix(), corpus.values.matrix()
        found: list[tuple[NDArray[np.int32], NDArray[np.float64]]] = []
        expected: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []

        def by_index(turn: range) -> None:
            rows, scored = index.search_many(questions[turn.start : turn.stop], K)
            found.extend(zip(rows, scored, strict=True))

        def by_products(turn: range) -> None:
            for q in turn:
                scored = scores(
                    fields @ asked.fields.vector(q),
                    corpus.fields.sizes + asked.fields.sizes[q],
                    values @ asked.values.vector(q),
                    corpus.values.sizes + asked.values.sizes[q],
                )
                expected.append(best(scored, commonness))

        timing = in_turns(by_index, by_products, queries, sample)
        return {
            "tables": tables,
            "distinct_field_sets": len({row.tobytes() for row in sorted_sets(corpus.fields)}),
            "mean_fields": float(corpus.fields.sizes.mean()),
            "mean_value_words": float(corpus.values.sizes.mean()),
            "queries": queries,
            **timing,
            "compared_with_baseline": sample,
            "differ_from_baseline": differences(found, expected),
            "build_seconds_with_making_features": build_seconds,
            "save_seconds": save_seconds,
            "load_seconds": load_seconds,
            "saved_mb": megabytes,
            "peak_mb_index": index_peak_mb,
            "peak_mb_with_baseline": peak_mb(),
        }


def sorted_sets(sets: Sets) -> Iterator[NDArray[np.int32]]:
    for row in range(len(sets)):
        yield np.sort(sets[row])


def differences(found: list[tuple], expected: list[tuple]) -> int:
    """The number of answers that differ in a row, its rank or its score."""
    return sum(
        not (np.array_equal(rows, other_rows) and np.array_equal(scored, other_scored))
        for (rows, scored), (other_rows, other_scored) in zip(found, expected, strict=False)
    )


def e2e(folder: Path, sample: int) -> dict[str, float]:
    """All training rows of E2E, each without itself, then without its own table."""
    numbers: dict[Table, int] = {}
    table_of: list[int] = []
    texts: list[list[str]] = []
    for example in read_corpus(f"e2e:{folder}", "train"):
        table_of.append(numbers.setdefault(example.table, len(numbers)))
        texts.append((example.text or "").split())
    row_group = np.array(table_of, dtype=np.int32)
    commonness = mean_frequencies(texts)
    before = perf_counter()
    groups = [features(table, tokenize=tokenize) for table in numbers]
    feature_seconds = perf_counter() - before
    before = perf_counter()
    index = Index.build(groups, row_group, commonness)
    build_seconds = perf_counter() - before
    questions = [groups[group] for group in table_of]
    rows = np.arange(len(questions), dtype=np.int32)
    index.search_many(questions[:10], K)

    self_seconds = seconds(lambda: index.search_many(questions, K, exclude_rows=rows))
    table_seconds = seconds(lambda: index.search_many(questions, K, exclude_groups=row_group))

    fields, values = dense([g.fields for g in groups]), dense([g.values for g in groups])
    field_sizes, value_sizes = fields.sum(1).astype(np.int64), values.sum(1).astype(np.int64)
    shuffled = np.random.default_rng(4).permutation(rows)
    found: list[tuple[NDArray[np.int32], NDArray[np.float64]]] = []
    expected: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []

    def by_index(turn: range) -> None:
        now = shuffled[turn.start : turn.stop]
        answers = index.search_many([questions[row] for row in now], K, exclude_rows=now)
        found.extend(zip(*answers, strict=True))

    def by_products(turn: range) -> None:
        now = shuffled[turn.start : turn.stop]
        shared_fields, shared_values = fields[row_group[now]] @ fields.T, values[row_group[now]] @ values.T
        for i, row in enumerate(now):
            group = row_group[row]
            scored = scores(
                shared_fields[i],
                field_sizes + field_sizes[group],
                shared_values[i],
                value_sizes + value_sizes[group],
            )[row_group]
            scored[row] = -1
            expected.append(best(scored, commonness))

    # The same rows for both, so that the answers can be compared.
    timing = in_turns(by_index, by_products, sample, sample)
    return {
        "rows": len(rows),
        "distinct_tables": len(groups),
        "feature_seconds": feature_seconds,
        "build_seconds": build_seconds,
        "all_rows_exclude_self_seconds": self_seconds,
        "all_rows_exclude_same_table_seconds": table_seconds,
        **timing,
        "compared_with_baseline": sample,
        "differ_from_baseline": differences(found, expected),
    }


def mean_frequencies(texts: list[list[str]]) -> NDArray[np.float64]:
    counts: dict[str, int] = {}
    for text in texts:
        for word in text:
            counts[word] = counts.get(word, 0) + 1
    return np.array([statistics.fmean(counts[word] for word in text) for text in texts])


def dense(sets: list[frozenset[str]]) -> NDArray[np.float32]:
    columns = {name: i for i, name in enumerate(sorted(frozenset().union(*sets)))}
    matrix = np.zeros((len(sets), len(columns)), dtype=np.float32)
    for row, names in enumerate(sets):
        matrix[row, [columns[name] for name in names]] = 1
    return matrix


def e2e_folder() -> Path | None:
    for candidate in (os.environ.get("TEXTSPLICE_DATA"), ROOT.parent / "shared" / "data"):
        if candidate and (Path(candidate) / "e2e").is_dir():
            return Path(candidate) / "e2e"
    return None


def show(title: str, figures: dict[str, float]) -> None:
    print(title)
    for name, figure in figures.items():
        print(f"  {name.replace('_', ' '):36} {figure:12,.3f}".rstrip("0").rstrip("."))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of everything")
    quick: bool = parser.parse_args().quick
    result: dict[str, object] = {
        "quick": quick,
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, one used",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
    made = made_corpus(*((58_265, 500, 50) if quick else (582_659, 2_000, 200)))
    result["made"] = made
    show(f"Made corpus, {made['tables']:,} tables, top {K}; baseline: scipy sparse products", made)
    folder = e2e_folder()
    if folder is None:
        print("E2E is neither in $TEXTSPLICE_DATA nor in ../shared/data: left out")
    else:
        figures = e2e(folder, 100 if quick else 1_000)
        result["e2e"] = figures
        show(f"E2E train, top {K}; baseline: dense products over distinct tables", figures)
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(f"written: {RESULT.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
