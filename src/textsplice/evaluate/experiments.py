"""The paper's experiments, as functions from generations to numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from textsplice.corpus.table import Example
from textsplice.evaluate.outputs import Item, Matched, Output, items_of, match
from textsplice.evaluate.tables import markdown
from textsplice.prepare.summary import SplitSummary
from textsplice.runs.prepared import PreparedSplit
from textsplice.search.generation import Generation
from textsplice.search.sentences import count_sentences
from textsplice.slots.check import check_slots
from textsplice.slots.lexicon import Lexicon


@dataclass(frozen=True, slots=True)
class Interpretability:
    """How texts came about, on average: what a person who reads derivations has to read."""

    system: str
    examples: int
    splices: float
    neighbors: float  # distinct ones that a derivation splices from
    copied: float  # share of the texts' tokens that stood in the table or a neighbour
    from_table: float
    from_neighbors: float
    attribution: str


def splice_sources(policy: str, splices: Sequence[int], tokens: Sequence[int]) -> Sequence[int]:
    """The sources of the splices that made a text, given those of its derivation and of its tokens.

    LRT and S2S+copy splice token by token, begin and end too, which no reader sees: theirs are the tokens.
    """
    return tokens if policy in ("lrt", "copy") else splices


def interpretability(system: str, generations: Sequence[Generation]) -> Interpretability:
    """Counts over finished texts."""
    done = [generation for generation in generations if generation.status != "abstained"]
    kinds = [g.sources.kind(place.source) for g in done for place in g.provenance]
    tokens = max(1, len(kinds))
    made = [
        splice_sources(g.policy, [s.neighbor for s in g.splices], [place.source for place in g.provenance])
        for g in done
    ]
    used = [{s for s in each if g.sources.kind(s) == "neighbor"} for g, each in zip(done, made, strict=True)]
    return Interpretability(
        system=system,
        examples=len(done),
        splices=sum(map(len, made)) / max(1, len(done)),
        neighbors=sum(map(len, used)) / max(1, len(done)),
        copied=1 - kinds.count("vocabulary") / tokens,
        from_table=kinds.count("table") / tokens,
        from_neighbors=kinds.count("neighbor") / tokens,
        attribution=done[0].attribution if done else "exact",
    )


def outcomes(generations: Iterable[Generation]) -> dict[str, int]:
    """How many texts are not what was hoped for; one that abstained is empty too, and is scored as such."""
    all_of = list(generations)
    return {
        "abstained": sum(g.status == "abstained" for g in all_of),
        "unfinished": sum(g.status == "unfinished" for g in all_of),
        "empty": sum(not g.text.strip() for g in all_of),
    }


@dataclass(frozen=True, slots=True)
class Control:
    """How often a text has at least three sentences under one set of rules."""

    system: str
    rules: str
    outputs: int
    abstained: int
    share: float  # of all outputs, abstentions counted as failures
    sentences: float


def control(system: str, rules: str, generations: Sequence[Generation], *, least: int = 3) -> Control:
    """Counts sentences of texts as they came out."""
    counts = [count_sentences(g.tokens) for g in generations if g.status != "abstained"]
    return Control(
        system=system,
        rules=rules,
        outputs=len(generations),
        abstained=len(generations) - len(counts),
        share=sum(count >= least for count in counts) / max(1, len(generations)),
        sentences=sum(counts) / max(1, len(counts)),
    )


@dataclass(frozen=True, slots=True)
class Sample:
    """One table, what people wrote, and what each system wrote, with what the slot checker says of it."""

    id: str
    table: dict[str, str | list[str]]
    reference: str
    texts: dict[str, str]
    errors: dict[str, str]


def samples(items: Sequence[Item], texts: dict[str, list[str]], lexicon: Lexicon | None) -> list[Sample]:
    """Items side by side; `texts` are each system's in the order of the items."""
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
    """One heading an item."""
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


def split_examples(split: PreparedSplit) -> list[Example]:
    """The examples of a prepared split, references and all."""
    return [
        Example(name, split.tables[number], text or None)
        for name, number, text in zip(split.ids, split.table_of.tolist(), split.texts, strict=True)
    ]


def split_items(split: PreparedSplit, limit: int | None = None) -> list[Item]:
    """The items of a prepared split, each table once."""
    return items_of(split_examples(split), where=split.name)[:limit]


def matched_generations(generations: Iterable[Generation], items: Sequence[Item]) -> Matched:
    """Generations beside the references of their tables."""
    outputs = [Output(g.id, g.table, g.text, f"generation {g.id}") for g in generations]
    return match(outputs, items)


EXCLUSION_ROWS = (
    ("neighbours of the same table", "same_table", ".1%"),
    ("splices a derivation", "mean_cost", ".2f"),
    ("neighbours used", "neighbors_used", ".2f"),
    ("first splice is a whole neighbour", "whole_neighbor_first", ".1%"),
    ("vocabulary splices that can be generated", "generable", ".1%"),
)


def exclusion_as_markdown(summaries: dict[str, dict[str, SplitSummary]]) -> str:
    """Prepared folders side by side, split by split: what training sees against what testing will see."""
    columns = [(name, split) for name, by_split in summaries.items() for split in by_split]
    rows = [
        [label, *(format(getattr(summaries[name][split], attribute), form) for name, split in columns)]
        for label, attribute, form in EXCLUSION_ROWS
    ]
    for source in ("table", "neighbors", "vocabulary"):
        shares = [getattr(summaries[name][split].shares, source) for name, split in columns]
        rows.append([f"splices from the {source}", *(f"{share:.1%}" for share in shares)])
    return markdown(["", *(f"{name}, {split}" for name, split in columns)], rows)


def as_data(rows: Iterable[Interpretability | Control | Sample]) -> list[dict[str, object]]:
    """Plain data of any of the rows above."""
    return [asdict(row) for row in rows]
