"""What training sees of neighbors against what testing will see, for prepared folders side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from textsplice.evaluate.evaluation import evaluate_matched
from textsplice.evaluate.experiments.record import (
    Result,
    about,
    results_folder,
    signatures_as_markdown,
    systems_as_markdown,
)
from textsplice.evaluate.experiments.systems import Request, SystemSource, read_tables, texts_of
from textsplice.evaluate.outputs import generation_outputs, match
from textsplice.evaluate.tables import markdown
from textsplice.prepare.summary import SplitSummary, summarize
from textsplice.runs.prepared import Prepared

NAME = "exclusion"
METRICS = ("BLEU", "NIST")
ROWS = (
    ("neighbors of the same table", "same_table", ".1%"),
    ("splices per derivation", "mean_cost", ".2f"),
    ("neighbors used", "neighbors_used", ".2f"),
    ("first splice is a whole neighbor", "whole_neighbor_first", ".1%"),
    ("vocabulary splices that can be generated", "generable", ".1%"),
)


def run(
    prepared: Sequence[Path],
    systems: Mapping[str, SystemSource] | None = None,
    *,
    out: Path,
    split: str = "dev",
    limit: int | None = None,
    values: Sequence[str] = (),
) -> Result:
    """Summarizes prepared folders, and scores systems on the first folder's split."""
    folders = {path: Prepared.open(path) for path in prepared}
    summaries = {
        f"{path.name} ({each.config.neighbors.exclude})": {s: summarize(each, s) for s in ("train", split)}
        for path, each in folders.items()
    }
    references = str(prepared[0])
    items = read_tables(references, split, limit)
    folder = results_folder(out, NAME)
    made = texts_of(systems or {}, Request(items, out, values))
    evaluations = [
        evaluate_matched(
            match(generation_outputs(system.generations), items),
            METRICS,
            name=system.name,
            data=f"{references}/{split}",
        )
        for system in made
    ]
    text = _table(summaries)
    if evaluations:
        rows = [[e.name, *(f"{m.score.points:.2f}" for m in e.measurements)] for e in evaluations]
        text += f"\n{split}: {len(items):,} tables\n\n" + markdown(["", *METRICS], rows)
        text += systems_as_markdown(made) + signatures_as_markdown(evaluations[0].signatures)
    data = {
        "about": about(references, split, items, made),
        "prepared": {name: {s: asdict(each) for s, each in by.items()} for name, by in summaries.items()},
        "keys": {str(path): each.key for path, each in folders.items()},
        "runs": [each.to_dict() for each in evaluations],
    }
    return Result(NAME, data, text).write(folder)


def _table(summaries: Mapping[str, Mapping[str, SplitSummary]]) -> str:
    columns = [(name, split) for name, by_split in summaries.items() for split in by_split]
    rows = [
        [label, *(format(getattr(summaries[name][split], attribute), form) for name, split in columns)]
        for label, attribute, form in ROWS
    ]
    for source in ("table", "neighbors", "vocabulary"):
        shares = [getattr(summaries[name][split].shares, source) for name, split in columns]
        rows.append([f"splices from the {source}", *(f"{share:.1%}" for share in shares)])
    return markdown(["", *(f"{name}, {split}" for name, split in columns)], rows)
