"""Rules about what a text says in other words than its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from textsplice.corpus.table import Table
from textsplice.errors import InputError
from textsplice.policy.problem import Draft
from textsplice.search.rules.reading import only, text
from textsplice.search.rules.rule import Rule
from textsplice.slots.check import Slot, check_slots, told
from textsplice.slots.lexicon import BUNDLED, Lexicon
from textsplice.slots.wordings import words_of
from textsplice.text.linearize import Linearized
from textsplice.text.tokens import detokenize

STILL_OPEN = 8  # words at the end of an unfinished text, whose phrases may go on


@dataclass(frozen=True)
class NoContradictions(Rule):
    """No words that, by a lexicon, say another value of a field than the table has.

    Masking hides values word for word; `not family friendly` in a neighbor stays as it is, and contradicts
    `familyFriendly: yes`. A field that the table lacks can't be contradicted.
    """

    lexicon: str
    name: ClassVar[str] = "no-contradictions"

    def __post_init__(self) -> None:
        _lexicon(self.lexicon)  # or the error that there is none

    def violation(self, draft: Draft) -> str | None:
        wrong = self._wrong(draft.tokens, draft.sources.table)
        return None if wrong is None else f"a contradiction, {told(wrong)}"

    def mendable(self, draft: Draft) -> bool:
        return self._wrong(draft.tokens[:-STILL_OPEN], draft.sources.table) is None

    def _wrong(self, tokens: Sequence[str], table: Linearized) -> Slot | None:
        if not table.segments:  # no record, or nothing in it: nothing to contradict
            return None
        lexicon = _lexicon(self.lexicon)
        report = check_slots(detokenize(tokens), _table(table, lexicon), lexicon)
        return next((slot for slot in report.slots if slot.status == "wrong"), None)

    @classmethod
    def from_dict(cls, data: Mapping[str, object], where: str) -> NoContradictions:
        only(data, ("lexicon",), where)
        name = text(data, "lexicon", where)
        if name not in BUNDLED and Path(name).suffix != ".toml":
            # Rows may come from anywhere: no other file of this machine is opened because of one.
            raise InputError(f"{name!r} is no lexicon: it has no TOML file's name.", where=where)
        return cls(name)


@lru_cache(maxsize=4)
def _lexicon(name: str) -> Lexicon:
    return Lexicon.load(name)


def _table(linearized: Linearized, lexicon: Lexicon) -> Table:
    """The table that was linearized, its values written as the lexicon writes them."""
    record: dict[str, list[str]] = {}
    for segment, tokens in zip(linearized.segments, linearized.value_tokens(), strict=True):
        value = detokenize(tokens)
        wordings = lexicon.fields.get(segment.field)
        known = wordings.known_values() if wordings else ()
        alike = (each for each in known if words_of(each) == words_of(value))
        record.setdefault(segment.field, []).append(next(alike, value))
    return Table.of(record)
