"""Which runs a run was made from, and what was taken out since.

Of a text that was taken out only hashes are kept, of it alone and of it as it was masked: enough to tell a
text that was there from an invented one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from textsplice.files import text_hash
from textsplice.neighbors.store import Store

Hashes = dict[str, frozenset[str]]  # of the texts of each id


class Earlier(NamedTuple):
    """A store that another was made from: what was taken out since, and how many texts it had."""

    taken_out: Hashes
    rows: int


def source_hash(text: str, tokens: Sequence[str]) -> str:
    """The hash of a text as it is spliced from, with its values masked."""
    return text_hash("\n".join((text, *tokens)))


def made_from(
    about: Mapping[str, object], store: Store, words: Sequence[str], without: Sequence[str]
) -> dict[str, object]:
    """What a run says of the one it was made from: its id, the ids it is `without`, and the texts' hashes."""

    def hashes(row: int) -> tuple[str, str]:
        tokens = [words[number] for number in cast("list[int]", store.tokens[row].tolist())]
        return text_hash(store.texts[row]), source_hash(store.texts[row], tokens)

    of_texts = {
        name: sorted({each for row in store.rows_of.get(name, []) for each in hashes(row)})
        for name in without
    }
    before = {"made_from": about["made_from"]} if "made_from" in about else {}
    return {
        "run": about["id"],
        "without": list(without),
        "hashes": of_texts,
        "rows": len(store),
        **before,
    }


def earlier(about: object) -> dict[str, Earlier]:
    """The runs that a run was made from, by id."""
    found: dict[str, Earlier] = {}
    taken_out: Hashes = {}
    while True:
        match about:
            case {"made_from": {"run": str(run), "hashes": dict(hashes), "rows": int(rows)} as before}:
                texts = cast("dict[str, object]", hashes)
                taken_out = {**taken_out, **{name: _hashes(each) for name, each in texts.items()}}
                found[run] = Earlier(taken_out, rows)
                about = cast("object", before)
            case _:
                return found


def _hashes(value: object) -> frozenset[str]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return frozenset(item for item in items if isinstance(item, str))
