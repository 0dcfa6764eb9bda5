"""Some damaged inputs of each kind: used, or refused in one line. `python -m tests.fuzz` tries a million."""

from __future__ import annotations

import pytest
from fuzz_targets import TARGETS, Target, try_case
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.mark.parametrize("target", TARGETS, ids=[target.name for target in TARGETS])
def test_damaged_input_is_used_or_refused_in_one_line(target: Target) -> None:
    count = 100 if target.weight >= 40 else 20 if target.weight > 1 else 4

    @settings(max_examples=count, derandomize=True, database=None)
    @given(st.integers(0, 2**31))
    def check(case: int) -> None:
        try_case(target, case)

    check()
