"""Speed and correctness of the oracle: `python benchmarks/oracle.py [--quick]`.

1. E2E dev with 20 neighbors. The same examples go in turn to a literal and an optimized CKY, each in plain
   Python and under Numba, to bitsets in plain Python, to `derive` (tokens in, splices out) and in one batch
   to `derive_corpus`. All costs must be equal. The rivals find only the cost; the oracle finds a derivation.
2. All of dev in one batch on one thread: ids in, splices out.
3. Scaling with the target's length T and the number of neighbors N, on texts joined and cut to length T.

Times are processor time, so other programs on the machine hardly matter. Without the real E2E
(`$TEXTSPLICE_DATA` or `../shared/data`), the bundled corpus is used.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time

import numba
import numpy as np

from bitsets import bitset_cost
from cases import Cases, corpus_cases, e2e_folder
from cky import cky_cost, compiled_cky_cost, compiled_literal_cky_cost, literal_cky_cost
from textsplice.oracle import derive
from textsplice.oracle.numbering import TABLE, neighbor_counts, neighbor_ranks, word_ids
from textsplice.ragged import Ragged
from textsplice.text import BEGIN_ID, END_ID

RESULTS = Path(__file__).resolve().parent / "results" / "oracle.json"
LENGTHS = (10, 20, 40, 80, 160)
COUNTS = (5, 10, 20, 40, 80)
PATIENCE = 3.0  # a rival that is expected to take more seconds per example is left out


@dataclass(frozen=True, slots=True)
class Rivals:
    """Median milliseconds per example of each rival, and as a multiple of the batch's."""

    examples: int
    mean_length: float
    mean_cost: float
    milliseconds: dict[str, float]
    times_batch: dict[str, float]


@dataclass(frozen=True, slots=True)
class Batch:
    """A whole split at once."""

    corpus: str
    examples: int
    mean_cost: float
    largest_cost: int
    table_share: float
    neighbor_share: float
    vocabulary_share: float
    replacement_share: float
    microseconds: list[float]  # per example, in each round


@dataclass(frozen=True, slots=True)
class Size:
    """Median milliseconds per example at one size; None if a rival was left out."""

    length: int
    neighbors: int
    milliseconds: dict[str, float | None]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few examples, smaller sizes")
    quick = parser.parse_args().quick

    folder = e2e_folder()
    name = "E2E" if folder else "bundled"
    cases = corpus_cases(f"e2e:{folder}" if folder else "bundled", "dev")
    warm_up(cases)

    rivals = race(cases, examples=5 if quick else 20)
    print(f"\n{name} dev, {rivals.examples} examples of {rivals.mean_length:.1f} tokens, in turns")
    for rival, milliseconds in rivals.milliseconds.items():
        print(f"  {rival:26} {milliseconds:10.3f} ms  {rivals.times_batch[rival]:9.1f} x the batch")

    batch = whole_batch(name, cases, rounds=3 if quick else 7)
    print(f"\n{name} dev, all {batch.examples} examples in one batch, one thread, ids in, splices out")
    print(
        f"  {statistics.median(batch.microseconds):.1f} µs per example (best {min(batch.microseconds):.1f})"
    )
    print(f"  mean cost {batch.mean_cost:.2f}, largest {batch.largest_cost}")
    print(
        f"  splices: {batch.table_share:.1%} table, {batch.neighbor_share:.1%} neighbors, "
        f"{batch.vocabulary_share:.1%} vocabulary; {batch.replacement_share:.1%} replace"
    )

    print("\nScaling, ms per example")
    lengths, counts = (LENGTHS[:3], COUNTS[:3]) if quick else (LENGTHS, COUNTS)
    sizes = [(length, 20) for length in lengths] + [(27, count) for count in counts]
    scaling = scale(cases, sizes, examples=3)
    for size in scaling:
        shown = "  ".join(
            f"{rival} {'left out' if ms is None else f'{ms:.3f}'}" for rival, ms in size.milliseconds.items()
        )
        print(f"  T {size.length:4}  N {size.neighbors:3}  {shown}")

    RESULTS.parent.mkdir(exist_ok=True)
    about = {
        "python": platform.python_version(),
        "numba": numba.__version__,
        "machine": platform.machine(),
        "quick": quick,
    }
    results = {
        "about": about,
        "rivals": asdict(rivals),
        "batch": asdict(batch),
        "scaling": [asdict(size) for size in scaling],
    }
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"\nwrote {RESULTS.name}")


def warm_up(cases: Cases) -> None:
    """Compiles everything before measuring."""
    cases.head(2).derive()
    compiled_cky_cost(*cases.texts(0))
    compiled_literal_cky_cost(*cases.texts(0))
    derive(*cases.texts(0))


def seconds(work: Callable[[], object]) -> float:
    """Processor time of one call."""
    begin = process_time()
    work()
    return process_time() - begin


def race(cases: Cases, examples: int) -> Rivals:
    """All rivals on the same examples, in turn on each example."""
    chosen = cases.pick(np.linspace(0, len(cases) - 1, examples).astype(np.int64))
    derivations = chosen.derive()
    times: dict[str, list[float]] = {}
    for example, cost in enumerate(derivations.costs.tolist()):
        target, texts = chosen.texts(example)
        for rival, solve in solvers().items():
            times.setdefault(rival, []).append(seconds(lambda: check(solve(target, texts), cost)))  # noqa: B023
        times.setdefault("oracle, in a batch", []).append(seconds(chosen.derive) / examples)
    milliseconds = {rival: 1000 * statistics.median(taken) for rival, taken in times.items()}
    batch = milliseconds["oracle, in a batch"]
    return Rivals(
        examples,
        float(chosen.targets.lengths.mean()),
        float(derivations.costs.mean()),
        milliseconds,
        {rival: taken / batch for rival, taken in milliseconds.items()},
    )


def solvers() -> dict[str, Callable[[list[int], list[list[int]]], int]]:
    """The rivals and `derive`, as functions from target and texts to the cost."""
    return {
        "literal CKY, plain Python": literal_cky_cost,
        "literal CKY, Numba": compiled_literal_cky_cost,
        "thrifty CKY, plain Python": cky_cost,
        "thrifty CKY, Numba": compiled_cky_cost,
        "bitsets, plain Python": bitset_cost,
        "oracle, one at a time": lambda target, texts: len(derive(target, texts)),
    }


def check(cost: int, expected: int) -> None:
    """Stops the benchmark if a rival finds another cost."""
    if cost != expected:
        raise SystemExit(f"a rival found cost {cost}, the oracle {expected}")


def whole_batch(name: str, cases: Cases, rounds: int) -> Batch:
    """All examples at once, several times."""
    times = [seconds(cases.derive) for _ in range(rounds)]
    derivations = cases.derive()
    counts = np.repeat(neighbor_counts(cases.neighbors), derivations.costs)
    source = derivations.splices[:, 2]
    return Batch(
        name,
        len(cases),
        float(derivations.costs.mean()),
        int(derivations.costs.max()),
        float((source == TABLE).mean()),
        float((neighbor_ranks(source, counts) >= 0).mean()),
        float((word_ids(source, counts) >= 0).mean()),
        float((derivations.splices[:, 1] > derivations.splices[:, 0]).mean()),
        [1e6 * taken / len(cases) for taken in times],
    )


def scale(cases: Cases, sizes: list[tuple[int, int]], examples: int) -> list[Size]:
    """Each size in turn; a rival is left out when its growth so far predicts that it would take too long."""
    results: list[Size] = []
    last: dict[str, tuple[int, int, float]] = {}  # the length, neighbors and seconds of a rival's last size
    for length, count in sizes:
        joined = join(cases, length, count, examples)
        expected = joined.derive().costs.tolist()
        times: dict[str, list[float]] = {
            "oracle, in a batch": [seconds(joined.derive) / examples for _ in range(5)]
        }
        rivals = {rival: solve for rival, solve in solvers().items() if not rival.startswith("oracle")}
        for rival, solve in rivals.items():
            before_length, before_count, before = last.get(rival, (length, count, 0.0))
            if before * (length / before_length) ** 5 * count / before_count > PATIENCE:
                continue
            for example in range(examples):
                target, texts = joined.texts(example)
                taken = seconds(lambda: check(solve(target, texts), expected[example]))  # noqa: B023
                times.setdefault(rival, []).append(taken)
            last[rival] = (length, count, statistics.median(times[rival]))
        medians = {
            rival: 1000 * statistics.median(times[rival]) if rival in times else None
            for rival in ("oracle, in a batch", *rivals)
        }
        results.append(Size(length, count, medians))
    return results


def join(cases: Cases, length: int, count: int, examples: int) -> Cases:
    """Examples with targets of `length` tokens and `count` neighbors as long, made of real texts."""

    def text(rows: Ragged, first: int) -> list[int]:
        tokens: list[int] = []
        while len(tokens) < length - 2:
            tokens.extend(rows[first % len(rows)].tolist()[1:-1])
            first += 1
        return [BEGIN_ID, *tokens[: length - 2], END_ID]

    # Strides are primes so that no text is joined to the same one twice.
    targets = [text(cases.targets, 101 * example) for example in range(examples)]
    store = [text(cases.store_tokens, 211 * row) for row in range(examples * count)]
    return Cases(
        Ragged.from_rows(targets),
        Ragged.from_rows([[]]),
        Ragged.from_rows([[]]),
        np.zeros(examples, dtype=np.int32),
        Ragged.from_rows(store),
        np.arange(examples * count, dtype=np.int32).reshape(examples, count),
        cases.words,
    )


if __name__ == "__main__":
    main()
