"""A score against the number of neighbors at test time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from textsplice.evaluate.experiments.record import (
    Result,
    about,
    heading,
    results_folder,
    signatures_as_markdown,
    systems_as_markdown,
)
from textsplice.evaluate.experiments.systems import Generates, Request, System, generate_texts, read_tables
from textsplice.evaluate.figures import check_figures, line_figure
from textsplice.evaluate.outputs import generation_outputs, match
from textsplice.evaluate.score import available, measure
from textsplice.evaluate.tables import markdown

NAME = "neighbor-curve"
NUMBERS = (1, 2, 3, 5, 8, 10, 15, 20)
# How the paper searches; a run's own settings are chosen for its best texts.
PAPER_SEARCH = (
    "search.beam=5",
    "search.choose=likelihood",
    "search.start_neighbors=1",
    "search.slots_first=false",
    "search.judge=''",
)


def run(
    systems: Mapping[str, Callable[[int], Generates]],
    references: str,
    *,
    out: Path,
    split: str = "dev",
    numbers: Sequence[int] = NUMBERS,
    metric: str = "ROUGE_L",
    without_neighbors: Collection[str] = (),
    limit: int | None = None,
    figure: bool = True,
    values: Sequence[str] = (),
) -> Result:
    """Scores systems, each a function from a number of neighbors to a splicer that is offered so many.

    Systems named in `without_neighbors` use none: their texts are generated once for all numbers.
    """
    [name] = [found.name for found in available([metric], "--metric")]
    if figure:
        check_figures()
    items = read_tables(references, split, limit)
    folder = results_folder(out, NAME, figure=figure)
    request = Request(items, out)
    made: dict[str, System] = {}
    lines: dict[str, list[dict[str, object]]] = {}
    points: dict[str, list[tuple[float, float]]] = {}
    signatures: list[str] = []
    for system, opened in systems.items():
        for k in numbers:
            generator = opened(k)
            stem = system if system in without_neighbors else f"{system}-k{k}"
            search = generator.config.with_values([*PAPER_SEARCH, *values]).search
            made[stem] = generate_texts(stem, generator, request, search)
            matched = match(generation_outputs(made[stem].generations), items)
            [found] = measure(matched.texts, matched.references, [name], data=f"{references}/{split}")
            lines.setdefault(system, []).append({"neighbors": k, **found.score.to_dict()})
            points.setdefault(system, []).append((k, found.score.points))
            signatures = [str(found.score.signature)]
    rows = [[system, *(f"{value:.2f}" for _, value in each)] for system, each in points.items()]
    text = heading(references, split, items) + markdown([name, *(f"k = {k}" for k in numbers)], rows)
    text += "\nSearched as in the paper (beam 5, likelihood, one start neighbor), whatever the runs' settings"
    text += f", except for {', '.join(values)}.\n" if values else ".\n"
    systems_made = list(made.values())
    text += systems_as_markdown(systems_made) + signatures_as_markdown(signatures)
    data = {"about": about(references, split, items, systems_made), "metric": name, "lines": lines}
    drawn = line_figure(NAME, points, x="neighbors", y=name.replace("_", "-")) if figure else {}
    return Result(NAME, data, text, drawn).write(folder)
