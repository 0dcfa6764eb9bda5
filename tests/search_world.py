"""A small world to search in: walks of the bundled corpus, prepared once, and untrained policies."""

from __future__ import annotations

import atexit
import random
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import torch

from textsplice import Table
from textsplice.config import Config, PolicyConfig, SearchConfig
from textsplice.policy.checkpoint import new_policy
from textsplice.policy.policy import Policy
from textsplice.policy.shape import PolicyShape
from textsplice.prepare.build import prepare
from textsplice.runs import Prepared
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

SETTINGS = [
    "neighbors.k=8",
    "vocabulary.embed_min_count=1",
    "vocabulary.generate_min_count=2",
    "search.max_splices=10",
]
SMALL = {"encoder_layers": 1, "decoder_layers": 1, "max_positions": 256, "dropout": 0.0}


@cache
def prepared() -> Prepared:
    """250 walks of the bundled corpus and 40 others, one text each."""
    from textsplice.corpus.bundled import bundled_path

    folder = Path(tempfile.mkdtemp(prefix="textsplice-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for split, rows in (("train", 250), ("dev", 40)):
        lines = bundled_path(split).read_text(encoding="utf-8").splitlines()
        # Every fourth: the corpus has several texts a walk in a row.
        lines = lines[::4][:rows]
        (folder / f"{split}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    config = Config().with_values([*SETTINGS, f"corpus.source='{folder}'", "corpus.splits=['train','dev']"])
    return prepare(config, folder=folder / "prepared", threads=1, quiet=True)


def splicer(kind: str = "full", seed: int = 0, *values: str) -> Splicer:
    """A splicer with an untrained policy; `values` are settings such as `search.beam=2`."""
    # Large weights, so that random policies differ in what they want.
    shape = {"d_model": 16, "heads": 2, "ffn": 16, **SMALL}
    config = PolicyConfig(kind=kind, **shape)
    made = replace(PolicyShape.of(config, prepared().vocabulary), init_std=0.5)
    return _splicer(new_policy(made, seed=seed), kind, values)


def beginner(noise: float = 0.0, seed: int = 0, *values: str, kind: str = "full") -> Splicer:
    """After 50 steps a policy often finds an end; its weights are disturbed by `noise` times their size."""
    policy = new_policy(_beginner(kind).shape, seed=0)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight, learned in zip(policy.parameters(), _beginner(kind).parameters(), strict=True):
            spread = noise * float(learned.abs().mean())
            weight.copy_(learned + spread * torch.randn(weight.shape, generator=generator))
    return _splicer(policy, kind, values)


@cache
def _beginner(kind: str) -> Policy:
    torch.set_num_threads(1)
    data = prepared()
    train = data.split("train")
    shape = {"d_model": 32, "heads": 2, "ffn": 32, **SMALL}
    made = PolicyShape.of(PolicyConfig(kind=kind, **shape), data.vocabulary)
    policy = new_policy(made, seed=0)
    optimizer = torch.optim.AdamW(policy.parameters(), lr=5e-3)
    rng = np.random.default_rng(0)
    for _ in range(50):
        rows = np.sort(rng.choice(len(train), 12, replace=False)).astype(np.int64)
        optimizer.zero_grad()
        policy(policy.collate(train, data.store.tokens, rows)).loss.backward()
        optimizer.step()
    return policy


def _splicer(policy: Policy, kind: str, values: Sequence[str]) -> Splicer:
    torch.set_num_threads(1)
    data = prepared()
    return Splicer(
        store=data.store,
        vocabulary=data.vocabulary,
        config=data.config.with_values([f"policy.kind={kind}", *values]),
        policy=policy.eval(),
        run="test",
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
        choose=rng.choice(["likelihood", "consensus", "typical"]),
        start_neighbors=rng.randint(1, 3),
        slots_first=rng.random() < 0.5,
        batch_size=rng.randint(1, 16),
    )


def tables() -> Sequence[Table]:
    """The walks that are to be told."""
    return prepared().split("dev").tables
