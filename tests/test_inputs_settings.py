"""Settings that can't work are sentences when they are read."""

from __future__ import annotations

import math
import typing
from dataclasses import fields

import pytest

from textsplice.config import LARGEST, RANGES, Config
from textsplice.errors import ConfigError
from textsplice.training.start import check_policy

NUMBERS = {
    f"{section.name}.{field.name}": typing.get_type_hints(type(getattr(Config(), section.name)))[field.name]
    for section in fields(Config)
    for field in fields(getattr(Config(), section.name))
}
WHOLE = [name for name, kind in NUMBERS.items() if kind is int]
REAL = [name for name, kind in NUMBERS.items() if kind is float]
ODD = (0, -1, LARGEST, LARGEST + 1, 10**9, 10**400, math.nan, math.inf, -math.inf, -0.5, 1.5, 1e308, True)


def toml(value: float) -> str:
    return str(value).lower() if abs(value) < 1e300 or value != value else str(value)


@pytest.mark.parametrize("name", [*WHOLE, *REAL])
@pytest.mark.parametrize("value", ODD, ids=lambda value: str(value)[:12])
def test_a_number_is_in_its_range_or_refused_in_a_sentence(name: str, value: float) -> None:
    low, high = RANGES.get(name, (0, LARGEST))
    is_kind = not isinstance(value, bool) and (name in REAL or isinstance(value, int))
    if is_kind and low <= value <= high:
        section, _, key = name.partition(".")
        assert getattr(getattr(Config().with_values([f"{name}={toml(value)}"]), section), key) == value
        return
    with pytest.raises(ConfigError) as caught:
        Config().with_values([f"{name}={toml(value)}"])
    what = "a whole number" if name in WHOLE else "a number"
    assert caught.value.sentence().startswith(f"--set: {name} = ")
    assert caught.value.sentence().endswith(f" must be {what} from {low:,} to {high:,}.")


def test_every_range_is_of_a_setting_and_holds_its_default() -> None:
    for name, (low, high) in RANGES.items():
        section, _, key = name.partition(".")
        value = getattr(getattr(Config(), section), key)
        assert all(low <= each <= high for each in (value if isinstance(value, tuple) else (value,)))


@pytest.mark.parametrize("value", ["nan", "inf", "-0.1", "1.0", "'a'", "true"])
def test_betas_are_refused_one_by_one(value: str) -> None:
    with pytest.raises(ConfigError, match=r"training\.betas = .* must be a number from 0\.0 to 0\.999999999"):
        Config().with_values([f"training.betas=[0.9, {value}]"])


@pytest.mark.parametrize(
    ("assignments", "message"),
    [
        (["policy.heads=5"], "d_model 192 can't be shared by 5 heads. Make d_model a multiple of heads."),
        (
            ["policy.d_model=16384", "policy.heads=64", "policy.encoder_layers=256"],
            "[policy]: a policy of this shape has about ",
        ),
        (["policy.max_positions=1048576", "policy.d_model=12288"], "the most is 4,000,000,000. Make d_model"),
    ],
)
def test_a_shape_that_no_policy_can_have_is_a_sentence(assignments: list[str], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_policy(Config().with_values(assignments).policy)
    assert message in caught.value.sentence()
