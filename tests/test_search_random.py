"""Random policies, random rules: whatever comes out replays, keeps the rules, and is made of words."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from search_world import beginner, prepared, random_rules, random_search, splicer, tables
from textsplice.oracle.splice import Origin
from textsplice.policy.problem import Draft, broken_rule
from textsplice.search.generation import Generation
from textsplice.search.rules import Rule
from textsplice.search.verify import find_lie
from textsplice.text.tokens import SPECIAL


def generations(count: int, seed: int) -> Counter[str]:
    """Makes and checks so many generations; says how they ended."""
    rng = random.Random(seed)
    statuses: Counter[str] = Counter()
    field_names = {f"{name}:" for table in tables() for name, _ in table}
    while statuses.total() < count:
        # Half of them know a little: purely random policies seldom lay an end, and so seldom say anything.
        seed = rng.randrange(1_000)
        maker = (
            splicer(rng.choice(["full", "lrt", "copy"]), seed)
            if rng.random() < 0.5
            else beginner(rng.random(), seed)
        )
        rules = random_rules(rng)
        batch = rng.sample(list(tables()), min(len(tables()), 20))
        search = random_search(rng)
        for generation in maker.generate_many(batch, rules=rules, search=search, progress=False):
            assert find_lie(generation, maker.proof, asked=rules, search=search) is None
            assert not SPECIAL & set(generation.tokens)
            assert not field_names & set(generation.tokens)
            assert_keeps(rules, generation)
            statuses[generation.status] += 1
    return statuses


def assert_keeps(rules: list[Rule], generation: Generation) -> None:
    if generation.status == "abstained":
        assert generation.text == ""
        assert generation.reason
        return
    origins = [Origin(*place[:3]) for place in generation.provenance]
    draft = Draft(generation.tokens, origins, generation.sources, generation.splices)
    assert broken_rule(rules, draft) is None
    assert all(rule.admits(n) for rule in rules for n in generation.sources.neighbors)


def test_random_generations_replay_and_keep_their_rules() -> None:
    statuses = generations(150, seed=1)
    # A test in which everything abstains would show nothing.
    assert statuses["ok"] + statuses["unfinished"] >= 40


@pytest.mark.slow
def test_ten_thousand_random_generations_replay_and_keep_their_rules() -> None:
    statuses = generations(10_000, seed=2)
    assert statuses["ok"] + statuses["unfinished"] >= 2_000


def test_a_batch_of_1_and_of_4_and_of_32_give_the_same_generations() -> None:
    wanted = list(tables())[:6]
    for maker in (beginner(), splicer("lrt", 5), splicer("copy", 5)):
        one, four, many = (
            [g.to_dict() for g in maker.generate_many(wanted, batch_size=size, progress=False)]
            for size in (1, 4, 32)
        )
        for row in (*one, *four, *many):
            row.pop("score")
            row.pop("alternatives")
        assert one == four == many


@pytest.mark.parametrize("seed", range(6))
def test_a_text_is_the_same_with_any_number_of_alternatives(seed: int) -> None:
    """Its splices, sources and score too, whoever proposes it and however it is chosen."""
    rng = random.Random(seed)
    finished = 0
    for kind in ("full", "lrt", "copy", "drafts"):
        is_draft = kind == "drafts"
        maker = beginner(rng.random(), rng.randrange(1_000), kind="copy" if is_draft else kind)
        rules = random_rules(rng) if rng.random() < 0.5 else []
        search = replace(
            random_search(rng),
            proposers=("drafts",) if is_draft else ("policy",),
            seams=rng.choice([0.0, 0.1]),
            whole_sentences=rng.random() < 0.5,
            max_tokens=40,
        )
        batch = rng.sample(list(tables()), 8)
        rows = [*maker.generate_many(batch, rules=rules, search=search, progress=False)]
        for count in (0, 1):
            fewer = maker.generate_many(batch, rules=rules, search=search, alternatives=count, progress=False)
            for row, less in zip(rows, fewer, strict=True):
                assert less.search == {**(row.search or {}), "alternatives": count}
                expected = replace(row, alternatives=row.alternatives[:count], search=less.search)
                assert less.to_dict() == expected.to_dict()
                finished += less.finished
    assert finished


def test_the_world_has_what_the_tests_need() -> None:
    data = prepared()
    assert len(data.store) == 250
    assert len(data.vocabulary.generate) > 2
