"""Which runs a run was made from: what was taken out since, and what was added.

Of a text that was taken out only hashes are kept, of it alone and of it as it was masked: enough to tell a
text that was there from an invented one. Of a text that was added only the id is kept, since it is there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, cast

import textsplice
from textsplice.files import text_hash
from textsplice.neighbors.store import Store

Hashes = dict[str, frozenset[str]]  # of the texts of each id


class Earlier(NamedTuple):
    """A store that another was made from: what was taken out and added since, and how many texts it had."""

    taken_out: Hashes
    rows: int
    added: frozenset[str] = frozenset()  # ids
    approved: int = 0  # how many approvals it had

    @property
    def is_whole(self) -> bool:
        """Whether all of it is still there."""
        return not self.taken_out


def source_hash(text: str, tokens: Sequence[str]) -> str:
    """The hash of a text as it is spliced from, with its values masked."""
    return text_hash("\n".join((text, *tokens)))


def store_hash(store: Store) -> str:
    """A hash of the texts and of what decides which of them are offered, however they are stored."""
    digest = hashlib.sha256()
    tables = [table.to_record() for table in store.tables]
    said: list[object] = [store.ids, store.texts, tables, sorted(store.fold), store.score, store.tokenizer]
    said += [store.approved] if store.approved else []  # older stores have none
    digest.update(json.dumps(said).encode("ascii"))
    for array in (store.tokens.values, store.tokens.offsets, store.table_of, store.offered):
        digest.update(array.astype("<i8").tobytes())
    return digest.hexdigest()


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


def grown_from(
    about: Mapping[str, object], store: Store, words: Sequence[str], added: Sequence[str]
) -> dict[str, object]:
    """What a run with `added` texts says of the one it was made from."""
    return {
        "added": list(added),
        "approved": len(store.approved),
        "words": len(words),
        "version": textsplice.__version__,
        **made_from(about, store, words, ()),
    }


def earlier(about: object) -> dict[str, Earlier]:
    """The runs that a run was made from, by id."""
    found: dict[str, Earlier] = {}
    taken_out: Hashes = {}
    added: frozenset[str] = frozenset()
    for before in _steps(about):
        match before:
            case {"run": str(run), "hashes": dict(hashes), "rows": int(rows)}:
                new = _texts(before.get("added"))
                # Ids do not collide: what was added and later taken out under such an id was not there yet.
                taken_out = {name: known for name, known in taken_out.items() if name not in new}
                gone = cast("dict[str, object]", hashes)
                taken_out = {**taken_out, **{name: _texts(each) for name, each in gone.items()}}
                added |= new
                approved = before.get("approved")
                found[run] = Earlier(taken_out, rows, added, approved if isinstance(approved, int) else 0)
            case _:
                break
    return found


def ids_ever_used(about: object) -> set[str]:
    """The ids of all texts that were added or taken out on the way to a run."""
    used: set[str] = set()
    for before in _steps(about):
        used |= _texts(before.get("added")) | _texts(before.get("without"))
    return used


def trained_words(about: object, words: int) -> int:
    """How many of a run's words were there when it was trained; later ones came with added texts."""
    counts = [before["words"] for before in _steps(about) if isinstance(before.get("words"), int)]
    return min([words, *cast("list[int]", counts)])


def _steps(about: object) -> Iterator[Mapping[str, object]]:
    """What a run says of the run that it was made from, then what that one says, and so on."""
    while isinstance(about, Mapping):
        about = cast("Mapping[str, object]", about).get("made_from")
        if isinstance(about, Mapping):
            yield cast("Mapping[str, object]", about)


def _texts(value: object) -> frozenset[str]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return frozenset(item for item in items if isinstance(item, str))
