"""Texts of several systems side by side."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from textsplice.evaluate.evaluation import chosen_lexicon, default_lexicon, slot_signature
from textsplice.evaluate.experiments.record import (
    Result,
    about,
    results_folder,
    signatures_as_markdown,
    systems_as_markdown,
)
from textsplice.evaluate.experiments.systems import Request, SystemSource, read_tables, texts_of
from textsplice.evaluate.outputs import Item, corpus_of
from textsplice.evaluate.tables import markdown
from textsplice.search.generation import Generation
from textsplice.slots.check import check_slots
from textsplice.slots.lexicon import Lexicon

NAME = "samples"
DERIVATIONS = "-derivations.txt"


@dataclass(frozen=True, slots=True)
class Sample:
    """One table, a reference, each system's text, and what the slot checker says about each text."""

    id: str
    table: dict[str, str | list[str]]
    reference: str
    texts: dict[str, str]
    errors: dict[str, str]


def run(
    systems: Mapping[str, SystemSource],
    references: str,
    *,
    out: Path,
    show: Callable[[Generation], str],
    split: str = "dev",
    count: int = 20,
    seed: int = 1,
    lexicon: str | None = None,
    values: Sequence[str] = (),
) -> Result:
    """Random tables with the texts of all systems; `show` is the view of a derivation that is kept too."""
    name = chosen_lexicon(lexicon, default_lexicon(corpus_of(references)))
    items = read_tables(references, split)
    known = None if name is None else Lexicon.named(name, [i.table for i in items if i.table is not None])
    chosen = [items[n] for n in sorted(random.Random(seed).sample(range(len(items)), min(count, len(items))))]
    folder = results_folder(out, NAME, others=[f"{system}{DERIVATIONS}" for system in systems])
    made = texts_of(systems, Request(chosen, out, values, limit_option=None))
    found = samples(chosen, {system.name: [g.text for g in system.generations] for system in made}, known)
    signature = None if name is None or known is None else slot_signature(name, known)
    data = {
        "about": about(references, split, chosen, made),
        "seed": seed,
        "slot_signature": signature,
        "samples": [asdict(each) for each in found],
    }
    text = samples_as_markdown(found) + systems_as_markdown(made)
    text += signatures_as_markdown([signature] if signature else [])
    derivations = {
        f"{system.name}{DERIVATIONS}": "\n\n---\n\n".join(map(show, system.generations)) + "\n"
        for system in made
    }
    return Result(NAME, data, text, derivations).write(folder)


def samples(items: Sequence[Item], texts: dict[str, list[str]], lexicon: Lexicon | None) -> list[Sample]:
    """Items side by side; `texts` has each system's texts in the order of the items."""
    found: list[Sample] = []
    for number, item in enumerate(items):
        assert item.table is not None
        mine = {system: written[number] for system, written in texts.items()}
        checked = (
            {} if lexicon is None else {s: str(check_slots(t, item.table, lexicon)) for s, t in mine.items()}
        )
        found.append(Sample(item.ids[0], item.table.to_record(), item.references[0], mine, checked))
    return found


def samples_as_markdown(found: Sequence[Sample]) -> str:
    """One section per table."""
    parts = ["# Samples\n"]
    for sample in found:
        fields = ", ".join(
            f"{name}[{value if isinstance(value, str) else ', '.join(value)}]"
            for name, value in sample.table.items()
        )
        rows = [["a person", sample.reference, ""]]
        rows += [[system, text, sample.errors.get(system, "")] for system, text in sample.texts.items()]
        header = ["", "text", "slots"]
        parts += [f"## {sample.id}\n", f"{fields}\n", markdown(header, rows, texts=header)]
    return "\n".join(parts)
