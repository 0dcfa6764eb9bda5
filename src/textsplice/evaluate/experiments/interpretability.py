"""How much a person reads who reads derivations: splices, neighbors, the share of copied words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from textsplice.evaluate.experiments.derivations import sources_read
from textsplice.evaluate.experiments.record import (
    Result,
    about,
    heading,
    results_folder,
    systems_as_markdown,
)
from textsplice.evaluate.experiments.systems import Request, SystemSource, read_tables, texts_of
from textsplice.evaluate.tables import markdown
from textsplice.search.generation import Generation

NAME = "interpretability"
EXAMPLES = 500


@dataclass(frozen=True, slots=True)
class Interpretability:
    """Means over the texts of one system."""

    system: str
    examples: int
    splices: float
    neighbors: float  # distinct neighbors per derivation
    copied: float  # share of tokens from the table or a neighbor
    from_table: float
    from_neighbors: float
    attribution: str


def run(
    systems: Mapping[str, SystemSource],
    references: str,
    *,
    out: Path,
    split: str = "dev",
    unsummed: Collection[str] = (),
    limit: int | None = EXAMPLES,
    values: Sequence[str] = (),
) -> Result:
    """Counts splices, neighbors and copied words of systems."""
    items = read_tables(references, split, limit)
    folder = results_folder(out, NAME)
    made = texts_of(systems, Request(items, out, values, unsummed))
    found = [interpretability(system.name, system.generations) for system in made]
    rows = [
        [
            each.system,
            f"{each.splices:.1f}",
            f"{each.neighbors:.1f}",
            f"{each.copied:.1%}",
            f"{each.from_table:.1%}",
            f"{each.from_neighbors:.1%}",
            each.attribution,
        ]
        for each in found
    ]
    header = ["", "splices", "neighbors", "copied", "from the table", "from neighbors", "provenance"]
    text = heading(references, split, items) + markdown(header, rows) + systems_as_markdown(made)
    data = {"about": about(references, split, items, made), "systems": [asdict(each) for each in found]}
    return Result(NAME, data, text).write(folder)


def interpretability(system: str, generations: Sequence[Generation]) -> Interpretability:
    """Counts over all texts that are not abstentions."""
    done = [generation for generation in generations if generation.status != "abstained"]
    kinds = [g.sources.kind(place.source) for g in done for place in g.provenance]
    tokens = max(1, len(kinds))
    read = [sources_read(g.splices, [place.source for place in g.provenance]) for g in done]
    used = [{s for s in each if g.sources.kind(s) == "neighbor"} for g, each in zip(done, read, strict=True)]
    return Interpretability(
        system=system,
        examples=len(done),
        splices=sum(map(len, read)) / max(1, len(done)),
        neighbors=sum(map(len, used)) / max(1, len(done)),
        copied=1 - kinds.count("vocabulary") / tokens,
        from_table=kinds.count("table") / tokens,
        from_neighbors=kinds.count("neighbor") / tokens,
        attribution=done[0].attribution if done else "exact",
    )
