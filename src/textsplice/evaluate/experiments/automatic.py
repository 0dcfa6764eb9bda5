"""Scores and slot errors of several systems."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from textsplice.evaluate.evaluation import (
    Evaluation,
    chosen_lexicon,
    default_lexicon,
    default_metrics,
    evaluate_matched,
)
from textsplice.evaluate.experiments.record import (
    Result,
    about,
    heading,
    results_folder,
    signatures_as_markdown,
    systems_as_markdown,
)
from textsplice.evaluate.experiments.systems import Request, SystemSource, read_tables, texts_of
from textsplice.evaluate.outputs import corpus_of, generation_outputs, match
from textsplice.evaluate.score import available
from textsplice.evaluate.tables import markdown
from textsplice.search.generation import Generation
from textsplice.slots.lexicon import Lexicon

NAME = "automatic"


def run(
    systems: Mapping[str, SystemSource],
    references: str,
    *,
    out: Path,
    split: str = "dev",
    metrics: Sequence[str] | None = None,
    lexicon: str | None = None,
    unsummed: Collection[str] = (),
    limit: int | None = None,
    values: Sequence[str] = (),
) -> Result:
    """Scores systems; `metrics` and `lexicon` are as for `textsplice.evaluate`."""
    names = [metric.name for metric in available(default_metrics()[0] if metrics is None else metrics)]
    known = chosen_lexicon(lexicon, default_lexicon(corpus_of(references)))
    if known is not None:
        Lexicon.named(known, [])  # a lexicon that can't be read is an error before texts are generated
    items = read_tables(references, split, limit)
    folder = results_folder(out, NAME)
    made = texts_of(systems, Request(items, out, values, unsummed))
    evaluations = [
        evaluate_matched(
            match(generation_outputs(system.generations), items),
            names,
            name=system.name,
            data=f"{references}/{split}",
            lexicon=known,
        )
        for system in made
    ]
    counts = [outcomes(system.generations) for system in made]
    pairs = list(zip(evaluations, counts, strict=True))
    data = {
        "about": about(references, split, items, made),
        "systems": [{**each.to_dict(), "outputs": count} for each, count in pairs],
    }
    text = heading(references, split, items) + _table(names, pairs)
    text += systems_as_markdown(made) + signatures_as_markdown(evaluations[0].signatures)
    return Result(NAME, data, text).write(folder)


def outcomes(generations: Iterable[Generation]) -> dict[str, int]:
    """How many texts are abstentions, unfinished or empty; an abstention is empty too, and scored as such."""
    all_of = list(generations)
    return {
        "abstained": sum(g.status == "abstained" for g in all_of),
        "unfinished": sum(g.status == "unfinished" for g in all_of),
        "empty": sum(not g.text.strip() for g in all_of),
    }


def _table(metrics: Sequence[str], rows: Sequence[tuple[Evaluation, Mapping[str, int]]]) -> str:
    some = [kind for kind in rows[0][1] if any(counts[kind] for _, counts in rows)]
    slots = [] if rows[0][0].slots is None else ["slot errors", "texts with one"]
    return markdown(
        ["", *metrics, *slots, *some],
        [
            [
                each.name,
                *(f"{m.score.points:.2f}" for m in each.measurements),
                *_slots(each),
                *(f"{counts[kind]:,}" for kind in some),
            ]
            for each, counts in rows
        ],
    )


def _slots(each: Evaluation) -> list[str]:
    if each.slots is None:
        return []
    return [each.slots.rate(), f"{each.slots.texts_with_errors:,}"]
