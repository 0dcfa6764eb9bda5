"""Rules by their names in `extensions.RULES`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from textsplice.errors import ConfigError, InputError
from textsplice.extensions import RULES
from textsplice.search.rules.rule import Rule


def rules_from_dicts(rules: Sequence[object], where: str) -> tuple[Rule, ...]:
    """The rules that JSON objects describe; `InputError` for one that is not registered."""
    return tuple(rule_from_dict(rule, where) for rule in rules)


def rule_from_dict(data: object, where: str) -> Rule:
    """The rule that `{"rule": NAME, …}` describes."""
    settings = cast("Mapping[str, object]", data) if isinstance(data, Mapping) else {}
    name = settings.get("rule")
    if not isinstance(name, str):
        raise InputError(f"{data!r} is not a rule.", where=where, remedy='Write it as {"rule": NAME, …}.')
    try:
        rule = cast("type[Rule]", RULES[name])
    except ConfigError as error:
        raise InputError(error.what, where=where, remedy=error.remedy) from error
    return rule.from_dict(settings, where)
