"""Derivations to look at, written for these tests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from textsplice.config import Config, to_toml
from textsplice.corpus.table import Example, Table
from textsplice.evaluate.score import Score, Signature
from textsplice.oracle.sources import OfferedNeighbor, Sources
from textsplice.oracle.splice import Splice
from textsplice.search.generation import Alternative, Generation, make_generation
from textsplice.text.linearize import linearize
from textsplice.text.tokens import BEGIN, END, MASK, tokenize
from textsplice.trace import SourceTexts, Tracer

TABLE = {
    "name": "Heron Mill",
    "kind": "bakery",
    "dish": "rye bread",
    "near": "the old canal lock",
    "price": "cheap",
    "family": "",
}
BEST = "Larch House is a quiet tavern near the station, and it is known for its plum cake."
SECOND = "Visitors praise the friendly staff at Juniper Yard."
THIRD = "At the edge of town, Copper Kettle serves tea all day."
TRACED = "Larch House is an award-winning tavern near the station , and visitors praise the grumpy 😀 staff."
MASKED = {BEST: ("Larch", "House", "tavern", "station", "plum", "cake"), SECOND: ("Juniper", "Yard")}


def neighbor(name: str, text: str, masked: Sequence[str] = ()) -> OfferedNeighbor:
    words = [MASK if token in masked else token for token in tokenize(text)]
    return OfferedNeighbor(name, text, (BEGIN, *words, END))


def generation(
    table: Mapping[str, str | Sequence[str]],
    neighbors: Sequence[OfferedNeighbor],
    splices: Sequence[Splice],
    *,
    words: Mapping[int, str] | None = None,
    example_id: str = "d1",
) -> Generation:
    value = Table.of(table)
    sources = Sources(linearize(value), tuple(neighbors), words or {})
    return make_generation(
        id=example_id,
        table=value,
        sources=sources,
        splices=splices,
        score=-0.318,
        status="ok",
        rules=({"rule": "forbid-words", "words": ["best"]},),
        policy="full",
        run="made-by-hand",
        tokenizer="words",
        alternatives=(Alternative("Heron Mill is a bakery.", -0.54),),
    )


def bakery(example_id: str = "d1") -> Generation:
    """Five splices from two neighbors, the table and the vocabulary: what the docs and tests look at.

    Heron Mill is a quiet bakery near the old canal lock , and it is known for its rye bread .
    """
    offered = [
        neighbor("walk-17", BEST, MASKED[BEST]),
        neighbor("walk-204", SECOND, MASKED[SECOND]),
        neighbor("walk-88", THIRD),
    ]
    return generation(
        TABLE,
        offered,
        [
            Splice(0, 0, 1, 0, 21),  # the whole of the first neighbor, begin and end included
            Splice(1, 3, 0, 1, 3),  # Heron Mill
            Splice(6, 7, 0, 4, 5),  # bakery
            Splice(8, 10, 0, 9, 13),  # the old canal lock, for "the ▁▁"
            Splice(19, 21, 0, 6, 8),  # rye bread
            Splice(5, 5, 2, 4, 5),  # friendly
            Splice(6, 6, 4 + 7, 0, 1),  # but
        ],
        words={7: "but"},
        example_id=example_id,
    )


def traced_bakery(table: Mapping[str, str] | None = None, text: str = TRACED) -> Generation:
    """A text that somebody else wrote, with two gaps."""
    examples = [
        Example(f"walk-{n}", Table.of({"x": "y"}), each) for n, each in enumerate((BEST, SECOND, THIRD))
    ]
    return Tracer(SourceTexts.of_examples(examples, "words")).trace(text, table, id="draft-1")


def chain(splices: int, neighbors: int, *, example_id: str = "chain") -> Generation:
    """`splices` splices that use `neighbors` neighbors in turn; long enough to wrap."""
    opening = "On a clear morning the path climbs gently from the harbour wall towards the beacon"
    texts = [
        f"{opening} number {n}, past fields, orchards and a low stone barn where walkers rest."
        for n in range(1, neighbors + 1)
    ]
    offered = [neighbor(f"route-{n}", text) for n, text in enumerate(texts, 1)]
    moves = [Splice(0, 0, 1, 0, len(offered[0].tokens))]
    for n in range(1, splices):
        source = n % (neighbors + 1)
        if source == 0:
            moves.append(Splice(3 + n, 3 + n, 0, 1, 3))
        elif n % 2:
            moves.append(Splice(2 + n, 4 + n, source, 3, 7))
        else:
            moves.append(Splice(5 + n, 5 + n, source, 8, 12))
    return generation(TABLE, offered, moves, example_id=example_id)


def write_run(folder: Path, generations: Sequence[Generation], *, scored: bool = True) -> Path:
    """A run's folder as `train`, `generate` and `evaluate` leave it, without weights."""
    folder.mkdir(parents=True, exist_ok=True)
    config = Config().with_values(["corpus.source=walks.jsonl", "training.max_steps=3000"])
    (folder / "config.toml").write_text(to_toml(config), encoding="utf-8")
    about = {
        "id": "0a1b2c3d4e5f",
        "version": "0.1.0",
        "command": ["textsplice", "train", "walks.toml"],
        "prepared": "77aa",
        "hardware": {"cores": 2, "system": "Linux"},
    }
    (folder / "run.json").write_text(json.dumps(about), encoding="utf-8")
    with (folder / "train.jsonl").open("w", encoding="utf-8") as journal:
        for step in range(20, 3001, 20):
            loss = 3.1 + 30 * 0.997**step + 0.4 * ((step * 7919) % 13) / 13
            journal.write(json.dumps({"kind": "train", "step": step, "loss": loss}) + "\n")
            if step % 300 == 0:
                line = {"kind": "validation", "step": step, "loss": 3.6 + 26 * 0.997**step}
                journal.write(json.dumps(line) + "\n")
    rows = [json.dumps(generation.to_dict(), ensure_ascii=False) for generation in generations]
    (folder / "dev.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    if scored:
        signature = Signature("BLEU", "e2e-metrics", "13a", "lower", "1-4", "walks/dev", "77aa")
        scores = {"systems": [{"name": "dev.jsonl", "scores": [Score(0.6612, signature).to_dict()]}]}
        (folder / "dev.scores.json").write_text(json.dumps(scores), encoding="utf-8")
    return folder
