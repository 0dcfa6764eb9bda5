"""Hard rules: what a text must be like, as restrictions of the search and as a check of every text.

A rule can act in four places. It says which neighbours may be offered, which words may be laid, which
splices may be made on a canvas, and whether a finished text obeys it. The last is always asked before a
text is given, so a rule holds even where the first three can't enforce it; then the search abstains.
Beams that write left to right replace nothing; they ask the last, instead of the third, of every prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar, NamedTuple, cast

import numpy as np
import regex
from numpy.typing import NDArray

from textsplice.errors import InputError
from textsplice.oracle.sources import OfferedNeighbor, SourceKind, Sources
from textsplice.oracle.splice import Origin, Splice, trace
from textsplice.search.sentences import (
    count_sentences,
    ends_sentence,
    latest_stop,
)
from textsplice.text.linearize import Segment
from textsplice.text.tokens import BEGIN, END, normalize

Allowed = NDArray[np.bool_]
_LETTER = r"[\p{L}\p{M}\p{N}_\u200c\u200d]"  # or digit: what the tokeniser makes words of
_PLAIN_MARKS = str.maketrans("‘’‑", "''-")


class Draft(NamedTuple):
    """A text that could be given: its words without begin and end, their origins, and how it was made."""

    tokens: Sequence[str]
    origins: Sequence[Origin]
    sources: Sources
    derivation: Sequence[Splice]


class Rule:
    """Does nothing; each rule overrides the places where it acts."""

    name: ClassVar[str]

    def admits(self, neighbor: OfferedNeighbor) -> bool:
        """Whether a text of the store may be offered as a neighbour."""
        del neighbor
        return True

    def permits(self, word: str, kind: SourceKind) -> bool:
        """Whether a token may be laid on a canvas from this kind of source."""
        del word, kind
        return True

    def splices(self, canvas: Sequence[str], start: int, rest: Sequence[str]) -> Allowed | None:
        """Which splices at `start` are allowed, by (stop - start, end - begin - 1); None if all are.

        `rest` is the source from `begin` on.
        """
        del canvas, start, rest
        return None

    def missing(self, draft: Draft) -> Sequence[Segment]:
        """Values of the table that have to be laid before the text may end."""
        del draft
        return ()

    def lacks(self, draft: Draft) -> int:
        """How far a text written left to right is from where it may end; 0 if the rule lets it."""
        return sum(segment.stop - segment.start for segment in self.missing(draft))

    def mendable(self, draft: Draft) -> bool:
        """Whether a text that breaks the rule may yet obey it when more is written after it."""
        del draft
        return False

    def violation(self, draft: Draft) -> str | None:
        """How a text breaks the rule, as a clause; None if it does not."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, object]:
        """The rule as JSON."""
        return {"rule": self.name}


@dataclass(frozen=True)
class ApprovedNeighbors(Rule):
    """Only these texts of the store may be spliced from."""

    ids: frozenset[str]
    name: ClassVar[str] = "approved-neighbors"

    def __init__(self, ids: Sequence[str] | frozenset[str]) -> None:
        object.__setattr__(self, "ids", frozenset(ids))

    def admits(self, neighbor: OfferedNeighbor) -> bool:
        return neighbor.id in self.ids

    def violation(self, draft: Draft) -> str | None:
        for neighbor in draft.sources.neighbors:
            if neighbor.id not in self.ids:
                return f"neighbour {neighbor.id!r} is not approved"
        return None

    def to_dict(self) -> dict[str, object]:
        return {"rule": self.name, "ids": sorted(self.ids)}


@dataclass(frozen=True)
class NeighborsWhere(Rule):
    """Only neighbours that a predicate accepts; `label` names it in files, which can't hold the predicate."""

    label: str
    predicate: Callable[[OfferedNeighbor], bool] | None
    name: ClassVar[str] = "neighbors-where"

    def admits(self, neighbor: OfferedNeighbor) -> bool:
        return self.predicate is None or self.predicate(neighbor)

    def violation(self, draft: Draft) -> str | None:
        for neighbor in draft.sources.neighbors:
            if not self.admits(neighbor):
                return f"neighbour {neighbor.id!r} is not {self.label!r}"
        return None

    def to_dict(self) -> dict[str, object]:
        return {"rule": self.name, "label": self.label}


@dataclass(frozen=True)
class KeepSentences(Rule):
    """No splice takes a whole sentence out of the canvas."""

    name: ClassVar[str] = "keep-sentences"

    def splices(self, canvas: Sequence[str], start: int, rest: Sequence[str]) -> Allowed | None:
        latest = latest_stop(canvas, start)
        if latest >= len(canvas):
            return None
        allowed = np.zeros((len(canvas) - start + 1, len(rest)), dtype=np.bool_)
        allowed[: latest - start + 1] = True
        return allowed

    def violation(self, draft: Draft) -> str | None:
        before: list[str] = []
        canvases = trace(draft.derivation, draft.sources)
        for step, (splice, canvas) in enumerate(zip(draft.derivation, canvases, strict=True)):
            if splice.stop > latest_stop(before, splice.start):
                return f"splice {step} replaces a whole sentence"
            before = list(map(draft.sources.token, canvas))
        return None


@dataclass(frozen=True)
class CopyOnly(Rule):
    """Every word is copied from the table or a neighbour, none generated from the vocabulary."""

    name: ClassVar[str] = "copy-only"

    def permits(self, word: str, kind: SourceKind) -> bool:
        return kind != "vocabulary" or word in (BEGIN, END)

    def violation(self, draft: Draft) -> str | None:
        for token, origin in zip(draft.tokens, draft.origins, strict=True):
            if draft.sources.kind(origin.neighbor) == "vocabulary":
                return f"{token!r} is not copied"
        return None


@dataclass(frozen=True)
class RequireFields(Rule):
    """All values of these fields stand in the text, copied from the table or word for word."""

    fields: tuple[str, ...]
    name: ClassVar[str] = "require-fields"

    def __init__(self, fields: Sequence[str]) -> None:
        object.__setattr__(self, "fields", (fields,) if isinstance(fields, str) else tuple(fields))

    def missing(self, draft: Draft) -> Sequence[Segment]:
        copied = {o.position for o in draft.origins if o.neighbor == 0}
        table = draft.sources.table
        return [
            segment
            for segment in table.segments
            if segment.field in self.fields
            and not copied.issuperset(range(segment.start, segment.stop))
            and not contains(draft.tokens, table.tokens[segment.start : segment.stop])
        ]

    def mendable(self, draft: Draft) -> bool:
        return self._absent(draft) is None

    def violation(self, draft: Draft) -> str | None:
        absent = self._absent(draft)
        if absent is not None:
            return f"the required field {absent!r} has no value in the table"
        for segment in self.missing(draft):
            value = " ".join(draft.sources.table.tokens[segment.start : segment.stop])
            return f"the required field {segment.field!r} ({value}) is not in the text"
        return None

    def to_dict(self) -> dict[str, object]:
        return {"rule": self.name, "fields": list(self.fields)}

    def _absent(self, draft: Draft) -> str | None:
        present = {segment.field for segment in draft.sources.table.segments}
        return next((wanted for wanted in self.fields if wanted not in present), None)


@dataclass(frozen=True)
class ForbidWords(Rule):
    """None of these words or phrases stands in the text, in any case.

    One is found wherever no letter or digit touches it: `can` in `can't`, `3` not in `3.5`. Spaces around
    marks don't count, so that it is found however the text's tokeniser splits it.
    """

    words: tuple[str, ...]
    patterns: tuple[regex.Pattern[str], ...] = field(repr=False, compare=False)
    name: ClassVar[str] = "forbid-words"

    def __init__(self, words: Sequence[str]) -> None:
        words = (words,) if isinstance(words, str) else tuple(words)
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "patterns", tuple(map(_pattern, words)))

    def admits(self, neighbor: OfferedNeighbor) -> bool:
        # A neighbour that says it would have to be repaired by a policy that does not know the rule.
        return self._found(neighbor.tokens) is None

    def permits(self, word: str, kind: SourceKind) -> bool:
        del kind
        return self._found((word,)) is None

    def violation(self, draft: Draft) -> str | None:
        found = self._found(draft.tokens)
        return f"the forbidden {found!r} stands in the text" if found else None

    def to_dict(self) -> dict[str, object]:
        return {"rule": self.name, "words": list(self.words)}

    def _found(self, tokens: Sequence[str]) -> str | None:
        text = _folded(" ".join(tokens))
        for word, pattern in zip(self.words, self.patterns, strict=True):
            if pattern.search(text):
                return word
        return None


@dataclass(frozen=True)
class MinSentences(Rule):
    """At least so many sentences: only such neighbours are offered, and no splice goes below again."""

    count: int
    name: ClassVar[str] = "min-sentences"

    def admits(self, neighbor: OfferedNeighbor) -> bool:
        return count_sentences(neighbor.tokens) >= self.count

    def splices(self, canvas: Sequence[str], start: int, rest: Sequence[str]) -> Allowed | None:
        before, after = _marks(canvas, start, rest)
        return after >= self.count if before >= self.count else None

    def lacks(self, draft: Draft) -> int:
        # A sentence that has no mark yet may go on for ever.
        open_end = len(draft.tokens) > 0 and not ends_sentence(draft.tokens[-1])
        return max(self.count - count_sentences(draft.tokens) + open_end, 0)

    def mendable(self, draft: Draft) -> bool:
        del draft
        return True

    def violation(self, draft: Draft) -> str | None:
        found = count_sentences(draft.tokens)
        return f"{_sentences(found)} where at least {self.count} are wanted" if found < self.count else None

    def to_dict(self) -> dict[str, object]:
        return {"rule": self.name, "count": self.count}


@dataclass(frozen=True)
class MaxSentences(Rule):
    """At most so many sentences: only such neighbours are offered, and no splice goes above."""

    count: int
    name: ClassVar[str] = "max-sentences"

    def admits(self, neighbor: OfferedNeighbor) -> bool:
        return count_sentences(neighbor.tokens) <= self.count

    def splices(self, canvas: Sequence[str], start: int, rest: Sequence[str]) -> Allowed | None:
        before, after = _marks(canvas, start, rest)
        return after <= max(self.count, before)

    def violation(self, draft: Draft) -> str | None:
        found = count_sentences(draft.tokens)
        return f"{_sentences(found)} where at most {self.count} are wanted" if found > self.count else None

    def to_dict(self) -> dict[str, object]:
        return {"rule": self.name, "count": self.count}


def rules_from_dicts(rules: Sequence[object], where: str) -> tuple[Rule, ...]:
    """The rules a file names; `InputError` for one this version does not know."""
    return tuple(_rule_from_dict(rule, where) for rule in rules)


def broken_rule(rules: Sequence[Rule], draft: Draft) -> str | None:
    """How a text breaks the first of the rules that it breaks."""
    for rule in rules:
        violation = rule.violation(draft)
        if violation:
            return violation
    return None


def contains(tokens: Sequence[str], phrase: Sequence[str]) -> bool:
    """Whether `phrase` stands in `tokens`, in one piece."""
    size, wanted = len(phrase), list(phrase)
    return any(list(tokens[i : i + size]) == wanted for i in range(len(tokens) - size + 1))


def _pattern(phrase: str) -> regex.Pattern[str]:
    """What finds a phrase in tokens that are joined by spaces."""
    atoms: list[str] = regex.findall(rf"{_LETTER}+|\S", _folded(normalize(phrase)))
    if not atoms:
        raise InputError(f"{phrase!r} is no word to forbid.", remedy="Give a word or a phrase.")
    found = regex.escape(atoms[0])
    for before, atom in pairwise(atoms):
        words = _is_word(before) and _is_word(atom)
        found += (r"\s+" if words else r"\s*") + regex.escape(atom)
    left = rf"(?<!{_LETTER})(?<!\p{{N}}[.,:](?=\p{{N}}))" if _is_word(atoms[0]) else ""
    right = rf"(?!{_LETTER})(?!(?<=\p{{N}})[.,:]\p{{N}})" if _is_word(atoms[-1]) else ""
    return regex.compile(left + found + right)


def _folded(text: str) -> str:
    """Text whose letters, apostrophes and hyphens can be compared."""
    return text.casefold().translate(_PLAIN_MARKS)


def _is_word(atom: str) -> bool:
    return regex.match(_LETTER, atom) is not None


def _marks(canvas: Sequence[str], start: int, rest: Sequence[str]) -> tuple[int, NDArray[np.int64]]:
    """How many marks end sentences on the canvas, and how many would after each splice."""
    marks = np.array([ends_sentence(token) for token in canvas], dtype=np.int64)
    before = int(marks.sum())
    removed = np.concatenate(([0], np.cumsum(marks[start:])))
    laid = np.cumsum([ends_sentence(token) for token in rest])
    return before, before - removed[:, None] + laid[None, :]


def _sentences(count: int) -> str:
    return "1 sentence" if count == 1 else f"{count} sentences"


def _rule_from_dict(data: object, where: str) -> Rule:
    rule = cast("Mapping[str, object]", data) if isinstance(data, Mapping) else {}
    match rule:
        case {"rule": "approved-neighbors", "ids": list(ids)}:
            return ApprovedNeighbors(_strings(ids, where))
        case {"rule": "neighbors-where", "label": str(label)}:
            return NeighborsWhere(label, None)
        case {"rule": "keep-sentences"}:
            return KeepSentences()
        case {"rule": "copy-only"}:
            return CopyOnly()
        case {"rule": "require-fields", "fields": list(fields)}:
            return RequireFields(_strings(fields, where))
        case {"rule": "forbid-words", "words": list(words)}:
            return ForbidWords(_strings(words, where))
        case {"rule": "min-sentences", "count": int(count)}:
            return MinSentences(count)
        case {"rule": "max-sentences", "count": int(count)}:
            return MaxSentences(count)
        case _:
            raise InputError(f"{data!r} is not a rule this version knows.", where=where)


def _strings(values: list[object], where: str) -> list[str]:
    if not all(isinstance(value, str) for value in values):
        raise InputError(f"{values!r} is not a list of strings.", where=where)
    return cast("list[str]", values)
