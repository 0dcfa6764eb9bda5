"""Texts that stand where nobody has written one yet: "TBC", "Description to follow", "-".

Such a text says no value of its record, where other texts do, and it is a known one or stands with several
different records. If it were learned or spliced from, it could be given.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from textsplice.corpus.asked import ASKED
from textsplice.corpus.table import Example, Table
from textsplice.parsing import short_repr
from textsplice.slots.phrases import said_at
from textsplice.slots.wordings import words_of
from textsplice.text.yes_no import is_yes_or_no

LONGEST = 12  # words
SEVERAL = 3  # different records
SAMPLE = 1000  # texts that tell which fields are said
TOLD = 5
USUALLY = 0.5  # share of texts that say a field which is usually said
_FORMS = r"""
tb[acd]
to be (?:added|announced|confirmed|continued|decided|done|written)
to ?do
n ?/? ?a
nan|nil|none|null|unknown|empty|test|dummy|placeholder|x+|ditto|see (?:above|below)
(?:no )?(?:description|text)(?: (?:available|missing|pending|to follow|coming soon|here))?
(?:more )?coming soon
(?:details |more )?to follow
lorem ipsum\b.*
k\.? ?a\.?
folgt|pendiente|à venir
"""
_KNOWN = re.compile(rf"\W*(?:{'|'.join(_FORMS.split(chr(10))[1:-1])})?\W*", re.DOTALL)


def find_placeholders(examples: Iterable[Example]) -> tuple[str, ...]:
    """The texts of these examples that are none, in alphabetical order."""
    kept = [example for example in examples if (example.text or "").strip()]
    tables: dict[str, set[Table]] = {}
    for example in kept:
        text = folded(example.text or "")
        if _KNOWN.fullmatch(text) or len(words_of(text)) <= LONGEST:
            tables.setdefault(text, set()).add(example.table)
    suspects = {t: of for t, of in tables.items() if len(of) >= SEVERAL or _KNOWN.fullmatch(t)}
    usual = _usual(kept[:: -(-len(kept) // SAMPLE)]) if suspects else frozenset()
    return tuple(sorted(text for text, of in suspects.items() if _says_nothing(text, of, usual)))


def told_placeholders(texts: Sequence[str]) -> str:
    """Some of them, for people."""
    named = ", ".join(map(short_repr, texts[:TOLD]))
    return named + (f" and {len(texts) - TOLD} more" if len(texts) > TOLD else "")


def folded(text: str) -> str:
    """A text without what does not matter for this."""
    return " ".join(text.casefold().split())


def _says_nothing(text: str, tables: Iterable[Table], usual: frozenset[str]) -> bool:
    """Whether each of these tables has values that are usually said, and the text says none of them."""
    words = words_of(text)
    wanted = ([value for name, value in _values(table) if name in usual] for table in tables)
    return all(values and not any(_is_said(value, words) for value in values) for values in wanted)


def _usual(examples: Sequence[Example]) -> frozenset[str]:
    """The fields whose values texts usually say."""
    said, total = Counter[str](), Counter[str]()
    for example in examples:
        words = words_of(example.text or "")
        for name, value in _values(example.table):
            total[name] += 1
            said[name] += _is_said(value, words)
    return frozenset(name for name, count in total.items() if said[name] >= USUALLY * count)


def _values(table: Table) -> list[tuple[str, str]]:
    """The values that a text could say word for word."""
    return [(n, v) for n, values in table for v in values if v != ASKED and not is_yes_or_no(v)]


def _is_said(value: str, words: Sequence[str]) -> bool:
    return next(said_at(value, words), None) is not None
