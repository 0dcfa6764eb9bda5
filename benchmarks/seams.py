"""Do unattested seams predict that a person finds a text not fluent?

    python benchmarks/seams.py ROWS… --store PREPARED_OR_RUN --verdicts VERDICTS.csv

ROWS are files of generations, each `SYSTEM=FILE.jsonl`, or `FILE.jsonl` (the system is then the file's name
without its ending). VERDICTS.csv has the columns `id`, `system` and `fluent` (1 or 0). Every predictor is
given the same texts: the number and share of unattested seams, and as baselines the number of seams, the
number of splices, minus the mean log-probability (rows without a score are left out of the comparison), and
the length in tokens. The AUC is the chance that a text that is not fluent gets a larger number than one that
is, ties counting half; 0.5 is chance. The interval is a bootstrap over texts, p from shuffled verdicts.
Seams are found again with the store, whatever the rows say of them.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textsplice.search.generation import Generation
from textsplice.search.rows import read_generations
from textsplice.splicer import Splicer

RESULTS = Path(__file__).resolve().parent / "results"
Numbers = NDArray[np.float64]


def unattested(row: Generation) -> float:
    """The number of unattested seams."""
    return float(len(row.seams.unattested)) if row.seams else 0.0


def share(row: Generation) -> float:
    """The share of seams that are unattested."""
    return 1 - row.seams.score if row.seams else 0.0


PREDICTORS: Mapping[str, Callable[[Generation], float]] = {
    "unattested seams": unattested,
    "share of seams unattested": share,
    "baseline: seams": lambda row: float(row.seams.count) if row.seams else 0.0,
    "baseline: splices": lambda row: float(len(row.splices)),
    "baseline: -log-probability": lambda row: -row.score,
    "baseline: length": lambda row: float(len(row.tokens)),
}


def auc(predicted: Numbers, bad: NDArray[np.bool_]) -> float:
    """The chance that a bad text has a larger number than a good one, ties counting half."""
    if bad.all() or not bad.any():
        return float("nan")
    ordered = np.sort(predicted)
    first, last = np.searchsorted(ordered, predicted), np.searchsorted(ordered, predicted, side="right")
    ranks = (first + last + 1) / 2  # mean rank of equal numbers
    number = int(bad.sum())
    return float((ranks[bad].sum() - number * (number + 1) / 2) / (number * (len(bad) - number)))


def interval(predicted: Numbers, bad: NDArray[np.bool_], samples: int) -> tuple[float, float]:
    """95 % of the AUCs of texts drawn with replacement."""
    rng = np.random.default_rng(0)
    drawn = (rng.integers(0, len(bad), len(bad)) for _ in range(samples))
    values = [auc(predicted[rows], bad[rows]) for rows in drawn]
    low, high = np.nanquantile(values, [0.025, 0.975])
    return float(low), float(high)


def permuted(predicted: Numbers, bad: NDArray[np.bool_], samples: int) -> float:
    """How often shuffled verdicts give an AUC as far from chance as the true ones do."""
    rng = np.random.default_rng(1)
    found = abs(auc(predicted, bad) - 0.5)
    as_far = sum(abs(auc(predicted, rng.permutation(bad)) - 0.5) >= found - 1e-12 for _ in range(samples))
    return (1 + as_far) / (1 + samples)


def read_verdicts(path: Path) -> dict[tuple[str, str], bool]:
    """Whether each text is fluent, by system and id."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    missing = {"id", "system", "fluent"} - set(rows[0] if rows else ())
    if missing:
        sys.exit(f"{path}: the columns {', '.join(sorted(missing))} are missing.")
    wrong = [row["id"] for row in rows if row["fluent"] not in ("0", "1")]
    if wrong:
        sys.exit(f"{path}: fluent of {wrong[0]!r} is neither 0 nor 1.")
    found = {(row["system"], row["id"]): row["fluent"] == "1" for row in rows}
    if len(found) < len(rows):
        sys.exit(f"{path}: a text has two verdicts.")
    return found


def judged(
    files: Sequence[str], verdicts: Mapping[tuple[str, str], bool]
) -> dict[tuple[str, str], Generation]:
    """The texts that have a verdict."""
    found: dict[tuple[str, str], Generation] = {}
    for each in files:
        name, equals, path = each.partition("=")
        system, file = (name, Path(path)) if equals else (Path(each).stem, Path(each))
        for _, row in read_generations(file):
            if (system, row.id) in verdicts and row.status != "abstained":
                found[(system, row.id)] = row
    return found


def measure(
    rows: Sequence[Generation], bad: NDArray[np.bool_], samples: int
) -> dict[str, dict[str, float | list[float]]]:
    """The AUC of every predictor, with its interval and p."""
    result: dict[str, dict[str, float | list[float]]] = {}
    for name, predict in PREDICTORS.items():
        predicted = np.array([predict(row) for row in rows])
        if not np.isfinite(predicted).all():
            continue
        result[name] = {
            "auc": auc(predicted, bad),
            "interval": list(interval(predicted, bad, samples)),
            "p": permuted(predicted, bad, samples),
            "mean of fluent": float(predicted[~bad].mean()),
            "mean of others": float(predicted[bad].mean()),
        }
    return result


def main() -> None:
    """Measures, prints a table, writes JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("rows", nargs="+", help="SYSTEM=FILE.jsonl or FILE.jsonl")
    parser.add_argument(
        "--store", required=True, type=Path, help="the prepared folder or run that made the rows"
    )
    parser.add_argument("--verdicts", required=True, type=Path)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--out", type=Path, default=RESULTS / "seams.json")
    given = parser.parse_args()
    verdicts = read_verdicts(given.verdicts)
    texts = judged(given.rows, verdicts)
    trigrams = Splicer.untrained(given.store).store.trigrams
    systems: dict[str, object] = {}
    for system in ("all", *sorted({system for system, _ in texts})):
        keys = [key for key in texts if system in ("all", key[0])]
        rows = [texts[key].with_seams(trigrams) for key in keys]
        bad = np.array([not verdicts[key] for key in keys], dtype=np.bool_)
        print(f"\n{system}: {len(rows)} texts, {int(bad.sum())} not fluent")
        if bad.all() or not bad.any():
            print("  nothing can be predicted: all verdicts are the same")
            continue
        found = measure(rows, bad, given.samples)
        systems[system] = {"texts": len(rows), "not fluent": int(bad.sum()), "predictors": found}
        print(f"  {'predictor':30}{'AUC':>7}{'95 % interval':>18}{'p':>8}{'fluent':>9}{'others':>9}")
        for name, each in found.items():
            low, high = each["interval"]  # pyright: ignore[reportGeneralTypeIssues]
            between = f"{low:.3f}-{high:.3f}"
            means = f"{each['mean of fluent']:9.2f}{each['mean of others']:9.2f}"
            print(f"  {name:30}{each['auc']:7.3f}{between:>18}{each['p']:8.4f}{means}")
    if len(texts) < len(verdicts):
        print(f"\n{len(verdicts) - len(texts)} of {len(verdicts)} verdicts have no text in these rows.")
    given.out.parent.mkdir(parents=True, exist_ok=True)
    about = {"verdicts": len(verdicts), "texts": len(texts), "samples": given.samples, "systems": systems}
    given.out.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    print(f"\nWritten to {given.out}.")


if __name__ == "__main__":
    main()
