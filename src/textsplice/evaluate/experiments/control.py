"""How often a text has the wanted number of sentences, under several rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from textsplice.evaluate.experiments.record import (
    Result,
    about,
    heading,
    results_folder,
    systems_as_markdown,
)
from textsplice.evaluate.experiments.systems import (
    Generates,
    Request,
    System,
    generate_texts,
    opened,
    read_tables,
)
from textsplice.evaluate.figures import bar_figure, check_figures
from textsplice.evaluate.tables import markdown
from textsplice.search.generation import Generation
from textsplice.search.rules import KeepSentences, MinSentences, NeighborsWhere, Rule
from textsplice.search.sentences import Marks, count_sentences

NAME = "control"


@dataclass(frozen=True, slots=True)
class Control:
    """How often a text has enough sentences under one set of rules."""

    system: str
    rules: str
    outputs: int
    abstained: int
    share: float  # of all outputs; an abstention is a failure
    sentences: float


def run(
    systems: Mapping[str, Generates | Callable[[], Generates]],
    references: str,
    *,
    out: Path,
    split: str = "dev",
    least: int = 3,
    limit: int | None = None,
    figure: bool = True,
    values: Sequence[str] = (),
) -> Result:
    """Counts sentences without a rule, with suitable neighbors only, and under rules."""
    if figure:
        check_figures()
    items = read_tables(references, split, limit)
    folder = results_folder(out, NAME, figure=figure)
    request = Request(items, out)
    made: list[System] = []
    found: list[Control] = []
    for name, source in systems.items():
        generator = opened(source)
        search = generator.config.with_values(values).search
        for setting, (suffix, rules) in _settings(least).items():
            system = generate_texts(f"{name}-{suffix}", generator, request, search, rules=rules)
            made.append(system)
            found.append(control(name, setting, system.generations, least=least))
    rows = [
        [
            f"{c.system}, {c.rules}",
            f"{c.share:.1%}",
            f"{c.sentences:.2f}",
            f"{c.abstained:,}",
            f"{c.outputs:,}",
        ]
        for c in found
    ]
    header = ["", f"≥ {least} sentences", "sentences per text", "abstained", "tables"]
    text = heading(references, split, items) + markdown(header, rows) + systems_as_markdown(made)
    data = {
        "about": about(references, split, items, made),
        "least": least,
        "rows": [asdict(each) for each in found],
    }
    bars = {f"{c.system}, {c.rules}": 100 * c.share for c in found}
    drawn = bar_figure(NAME, bars, x=f"% of texts with ≥ {least} sentences") if figure else {}
    return Result(NAME, data, text, drawn).write(folder)


def control(system: str, rules: str, generations: Sequence[Generation], *, least: int = 3) -> Control:
    """Counts the sentences of texts."""
    counts = [
        count_sentences(g.tokens, Marks.of_sources(g.sources)) for g in generations if g.status != "abstained"
    ]
    return Control(
        system=system,
        rules=rules,
        outputs=len(generations),
        abstained=len(generations) - len(counts),
        share=sum(count >= least for count in counts) / max(1, len(generations)),
        sentences=sum(counts) / max(1, len(counts)),
    )


def _settings(least: int) -> dict[str, tuple[str, list[Rule]]]:
    """Of each setting, what its file's name ends with, and its rules."""
    enough = NeighborsWhere(
        f"at least {least} sentences",
        lambda neighbor: count_sentences(neighbor.tokens, Marks.inside_words([neighbor.text])) >= least,
    )
    stem = f"at-least-{least}"
    return {
        "no rule": ("no-rule", []),
        "only such neighbors": (stem, [enough]),
        "and no sentence replaced": (f"{stem}-kept", [enough, KeepSentences()]),
        "and never fewer": (f"{stem}-rule", [MinSentences(least)]),
    }
