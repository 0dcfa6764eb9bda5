"""How well seams predict verdicts is measured right."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

from seams import auc, permuted, read_verdicts

TEXTS = st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=2, max_size=12)


@given(TEXTS.filter(lambda texts: len({bad for _, bad in texts}) == 2))
def test_the_auc_is_the_share_of_pairs_in_the_right_order(texts: list[tuple[int, bool]]) -> None:
    bad = [number for number, is_bad in texts if is_bad]
    good = [number for number, is_bad in texts if not is_bad]
    pairs = [1.0 if one > other else 0.5 if one == other else 0.0 for one in bad for other in good]
    found = auc(np.array([float(n) for n, _ in texts]), np.array([b for _, b in texts]))
    assert found == pytest.approx(sum(pairs) / len(pairs))


def test_what_predicts_perfectly_has_a_small_p_and_what_says_nothing_has_none() -> None:
    bad = np.array([True] * 10 + [False] * 10)
    assert permuted(bad.astype(np.float64), bad, 200) == pytest.approx(1 / 201)
    assert permuted(np.zeros(20), bad, 200) == 1.0


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("id,fluent\na,1\n", "the columns system are missing"),
        ("id,system,fluent\na,full,yes\n", "neither 0 nor 1"),
        ("id,system,fluent\na,full,1\na,full,0\n", "two verdicts"),
    ],
)
def test_verdicts_that_can_not_be_read_are_a_sentence(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "verdicts.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(SystemExit, match=told):
        read_verdicts(path)
