"""A small world to search in: walks of the bundled corpus, prepared once, and untrained policies."""

from __future__ import annotations

import atexit
import random
import shutil
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import torch

from textsplice.config import Config, SearchConfig
from textsplice.policy import new_policy
from textsplice.policy.config import Kind, PolicyConfig
from textsplice.prepare.build import prepare
from textsplice.prepare.folder import Prepared
from textsplice.search.rules import (
    ApprovedNeighbors,
    CopyOnly,
    ForbidWords,
    KeepSentences,
    MaxSentences,
    MinSentences,
    NeighborsWhere,
    RequireFields,
    Rule,
)
from textsplice.splicer import Splicer

CONFIG_NAMES: dict[Kind, str] = {"full": "full", "token": "lrt", "copy": "copy"}
SETTINGS = [
    "neighbors.k=8",
    "vocabulary.embed_min_count=1",
    "vocabulary.generate_min_count=2",
    "search.max_splices=10",
]


@cache
def prepared() -> Prepared:
    """The first 200 walks of the bundled corpus and 40 others."""
    from textsplice.corpus.bundled import bundled_path

    folder = Path(tempfile.mkdtemp(prefix="textsplice-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for split, rows in (("train", 200), ("dev", 40)):
        lines = bundled_path(split).read_text(encoding="utf-8").splitlines()[:rows]
        (folder / f"{split}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    config = Config().with_values([*SETTINGS, f"corpus.source='{folder}'", "corpus.splits=['train','dev']"])
    return prepare(config, folder=folder / "prepared", threads=1, quiet=True)


def splicer(kind: Kind = "full", seed: int = 0, *values: str) -> Splicer:
    """A splicer with an untrained policy; `values` are settings such as `search.beam=2`."""
    torch.set_num_threads(1)
    data = prepared()
    config = data.config.with_values([f"policy.kind={CONFIG_NAMES[kind]}", *values])
    # Large weights, so that random policies differ in what they want.
    shape = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "heads": 2, "ffn": 16}
    policy = new_policy(
        PolicyConfig.for_vocabulary(kind, data.vocabulary, init_std=0.5, **shape), seed=seed
    ).eval()
    return Splicer(
        store=data.store,
        vocabulary=data.vocabulary,
        config=config,
        policy=policy,
        run=f"untrained-{seed}",
    )


def random_rules(rng: random.Random) -> list[Rule]:
    """Any combination of rules, most of which can be satisfied."""
    store = prepared().store
    some = [
        ApprovedNeighbors(rng.sample(store.ids, 60)),
        NeighborsWhere("short", lambda neighbor: len(neighbor.tokens) < 30),
        KeepSentences(),
        CopyOnly(),
        RequireFields(rng.sample(["name", "start", "difficulty"], rng.randint(1, 2))),
        ForbidWords(rng.sample(["the", "easy", "walk", "of about", "takes"], rng.randint(1, 2))),
        MinSentences(rng.randint(1, 2)),
        MaxSentences(rng.randint(2, 3)),
    ]
    return rng.sample(some, rng.randint(0, 3))


def random_search(rng: random.Random) -> SearchConfig:
    """Any settings of the search."""
    return SearchConfig(
        beam=rng.randint(1, 4),
        max_splices=rng.randint(1, 12),
        marginalize=rng.random() < 0.5,
        choose=rng.choice(["likelihood", "consensus"]),
        start_neighbors=rng.randint(1, 3),
        slots_first=rng.random() < 0.5,
        batch_size=rng.randint(1, 16),
    )


def tables() -> Sequence:
    return prepared().split("dev").tables
