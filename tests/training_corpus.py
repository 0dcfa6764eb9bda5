"""A corpus of a few pubs and a policy of a few weights, on which training takes seconds."""

from __future__ import annotations

import json
from pathlib import Path

from textsplice.config import Config
from textsplice.prepare.build import prepare

NAMES = ("Blue Spice", "The Mill", "Cotto", "The Punter", "Green Man", "Zizzi", "Alimentum", "Strada")
FOODS = ("French", "Italian", "Chinese", "English", "Indian")
AREAS = ("riverside", "city centre")
TEXTS = (
    "{name} serves {food} food in the {area} .",
    "In the {area} there is {name} , a place for {food} food .",
    "{name} is a {food} restaurant near the {area} .",
)


def tiny_config(folder: Path, *changes: str) -> Config:
    """Settings of a run in `folder`."""
    config = Config().with_values(
        [
            f"corpus.source={folder / 'corpus'}",
            'corpus.splits=["train", "dev"]',
            "neighbors.k=3",
            "vocabulary.generate_min_count=1",
            "vocabulary.embed_min_count=1",
            f"output.prepared={folder / 'prepared'}",
            f"output.run={folder / 'run'}",
            "policy.d_model=16",
            "policy.heads=2",
            "policy.ffn=16",
            "policy.encoder_layers=1",
            "policy.decoder_layers=1",
            "policy.dropout=0.1",
            "training.warmup_steps=4",
            "training.learning_rate=3e-3",
            "training.batch_sequences=8",
            "training.micro_sequences=4",
            "training.max_steps=9",
            "training.log_every=2",
            "training.validate_every=3",
            "training.checkpoint_every=2",
            "training.threads=1",
            "training.processes=1",
            "training.precision=float32",
        ]
    )
    return config.with_values(changes)


def prepare_tiny(folder: Path, *changes: str) -> Path:
    """Writes and prepares the corpus of `tiny_config(folder)`."""
    corpus = folder / "corpus"
    corpus.mkdir(parents=True)
    tables = [
        {"name": name, "food": FOODS[n % len(FOODS)], "area": AREAS[n % len(AREAS)]}
        for n, name in enumerate(NAMES)
    ]
    for split, chosen in (("train", tables[2:]), ("dev", tables[:2])):
        rows = [{"table": table, "text": text.format(**table)} for table in chosen for text in TEXTS]
        lines = (json.dumps({"id": f"{split}-{n}", **row}) for n, row in enumerate(rows))
        (corpus / f"{split}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    prepare(tiny_config(folder, *changes), quiet=True, threads=1)
    return folder
