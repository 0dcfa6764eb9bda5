"""Which runs a run was made from, and what was taken out since.

Of a text that was taken out only its hash is kept: enough to tell a text that was there from an invented one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from textsplice.files import text_hash
from textsplice.neighbors.store import Store

Hashes = dict[str, frozenset[str]]  # of the texts of each id


def made_from(about: Mapping[str, object], store: Store, without: Sequence[str]) -> dict[str, object]:
    """What a run says of the one it was made from: its id, the ids it is `without`, and the texts' hashes."""
    hashes = {
        name: sorted({text_hash(store.texts[row]) for row in store.rows_of.get(name, [])}) for name in without
    }
    before = {"made_from": about["made_from"]} if "made_from" in about else {}
    return {"run": about["id"], "without": list(without), "hashes": hashes, **before}


def earlier(about: object) -> dict[str, Hashes]:
    """The runs that a run was made from, by id, each with the texts that were taken out since."""
    found: dict[str, Hashes] = {}
    taken_out: Hashes = {}
    while True:
        match about:
            case {"made_from": {"run": str(run), "hashes": dict(hashes)} as before}:
                texts = cast("dict[str, object]", hashes)
                taken_out = {**taken_out, **{name: _hashes(each) for name, each in texts.items()}}
                found[run] = taken_out
                about = cast("object", before)
            case _:
                return found


def _hashes(value: object) -> frozenset[str]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return frozenset(item for item in items if isinstance(item, str))
