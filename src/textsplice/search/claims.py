"""The search settings that a row claims: whether a search can have them, and whether this run's had them."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from functools import lru_cache
from typing import cast

from textsplice.config import Config, SearchConfig, config_from_dict
from textsplice.errors import InputError
from textsplice.search.generation import Generation
from textsplice.search.pipeline import NOT_PART_OF_HOW, check_settings
from textsplice.search.proof import Proof, table_limit

# What a row's `search` must say; settings that were added later may be absent.
SETTINGS = ("beam", "max_splices", "max_tokens", "marginalize", "choose", "start_neighbors", "slots_first")
# With more of these, a row could have more splices or a longer text. The others only say which text is
# chosen, which is not checked, but for `marginalize` (attribution) and the longest table.
LIMITS = ("max_splices", "max_tokens")


def settings_of(generation: Generation, proof: Proof | None) -> SearchConfig | None:
    """The settings that a row claims; of one that claims none (older versions), the run's own."""
    said = generation.search
    if said is None:
        return proof.config.search if proof else None
    return _read(json.dumps(said))  # as text, since True is not 1


@lru_cache(maxsize=64)
def _read(text: str) -> SearchConfig:
    """The settings in a JSON text; most rows of a file have the same."""
    said = cast("dict[str, object]", json.loads(text))
    where = "its search settings"
    for name in SETTINGS:
        if name not in said:
            raise InputError(f"{name!r} is missing.", where=where)
    for name in NOT_PART_OF_HOW:
        if name in said:
            raise InputError(f"{name!r} does not belong to them.", where=where)
    known = {field.name for field in fields(SearchConfig)}
    if unknown := sorted(said.keys() - known):
        raise InputError(f"{unknown[0]!r} is not known.", where=where)
    settings = config_from_dict({"search": said}, where).search
    check_settings(settings)
    return settings


def beyond(settings: SearchConfig, config: Config) -> str | None:
    """The first setting with which a row could have what no search of this run has, as a clause."""
    own = config.search
    for name in LIMITS:
        if getattr(settings, name) > getattr(own, name):
            return _asked(name, getattr(settings, name), getattr(own, name))
    if table_limit(settings, config) > table_limit(own, config):
        return _asked("max_table_tokens", settings.max_table_tokens, table_limit(own, config))
    if settings.marginalize != own.marginalize:
        return _asked("marginalize", settings.marginalize, own.marginalize)
    if own.misplaced_values == "forbidden" != settings.misplaced_values:
        return _asked("misplaced_values", settings.misplaced_values, own.misplaced_values)
    return None


def otherwise(settings: SearchConfig | None, search: SearchConfig) -> str | None:
    """The first setting that is not as it was asked for, as a clause; which judge or lexicon is not asked."""
    if settings is None:
        return "it does not say its search settings"
    said, wanted = asdict(settings), asdict(search)
    for name in said:
        mine, right = said[name], wanted[name]
        if name in ("judge", "lexicon"):
            mine, right = bool(mine), bool(right)
        if name not in NOT_PART_OF_HOW and mine != right:
            return f"its search.{name} is {said[name]!r}, not {wanted[name]!r} as asked for"
    return None


def _asked(name: str, said: object, own: object) -> str:
    value = str(said).lower() if isinstance(said, bool) else said
    return (
        f"its search.{name} is {said!r}, the run's {own!r}: "
        f"if that was asked for, ask for it here too, --set search.{name}={value}"
    )
