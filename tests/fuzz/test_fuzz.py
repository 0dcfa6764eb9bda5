"""Some damaged inputs of each kind: used, or refused in one line. `python -m tests.fuzz` tries a million."""

from __future__ import annotations

import pytest
from command_targets import COMMAND_TARGETS
from fuzz_target import Target, try_case
from fuzz_targets import READER_TARGETS
from hypothesis import given, settings
from hypothesis import strategies as st

from textsplice.cli import COMMANDS

TARGETS = (*READER_TARGETS, *COMMAND_TARGETS)


@pytest.mark.parametrize("target", TARGETS, ids=[target.name for target in TARGETS])
def test_damaged_input_is_used_or_refused_in_one_line(target: Target) -> None:
    count = 100 if target.weight >= 40 else 20 if target.weight > 1 else 3

    @settings(max_examples=count, derandomize=True, database=None, deadline=None)
    @given(st.integers(0, 2**31))
    def check(case: int) -> None:
        try_case(target, case)

    check()


# What these read is refused even if it is whole: a folder of other settings, no published corpus, rules that
# no row was made under, a place where nothing can be written.
REFUSED_ANYWAY = ("quickstart", "fit", "data e2e", "rules file", "prepare")


@pytest.mark.parametrize(
    "target",
    [target for target in TARGETS if target.name not in REFUSED_ANYWAY],
    ids=lambda target: target.name,
)
def test_what_is_whole_is_used(target: Target) -> None:
    target.read(target.seeds[0])


def test_every_command_is_tried() -> None:
    from fuzz_target import DATA

    source = (DATA.parents[1] / "fuzz" / "command_targets.py").read_text(encoding="utf-8")
    missing = [name for name in COMMANDS if f'"{name}"' not in source]
    assert missing == []
