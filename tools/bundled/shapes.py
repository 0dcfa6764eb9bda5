"""Sentence shapes: which table they fit, and the sentence they make of it."""

from __future__ import annotations

import operator
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

Record = dict[str, str | list[str]]
"""A table as it stands in the corpus."""

VOICES = ("guide", "friend", "leaflet")
ROLES = ("opener", "course", "practical")

_SLOT = re.compile(r"\{(?:(a):)?(\w+)\}")
_CONDITION = re.compile(r"(\w+)([=<>])([\w-]+)")
_COMPARE = {"=": operator.eq, "<": operator.lt, ">": operator.gt}
# Numbers that are read with a vowel first: eight, eleven, eighteen, eighty ...
_VOWEL_FIRST = re.compile(r"(?:[aeiou]|8|11(?!\d)|18(?!\d))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Condition:
    """What a table must hold for a shape to be true of it."""

    field: str
    comparison: str
    operand: str

    def holds(self, record: Mapping[str, str | list[str]]) -> bool:
        value = record[self.field]
        compare = _COMPARE[self.comparison]
        if isinstance(value, list):
            return compare(len(value), int(self.operand))
        if self.comparison == "=":
            return value == self.operand
        return compare(float(value.split()[0]), float(self.operand))


@dataclass(frozen=True, slots=True)
class Shape:
    """One way to say some fields in one sentence."""

    voice: str
    role: str
    template: str
    conditions: tuple[Condition, ...]
    fields: frozenset[str]

    @classmethod
    def parse(cls, voice: str, role: str, source: str) -> Shape:
        """A shape from its line in shapes.toml: `[dogs=yes] Dogs are welcome.`"""
        bracket, template = re.fullmatch(r"(?:\[(.*?)\] )?(.*)", source).groups()
        conditions = tuple(Condition(*parts) for parts in _CONDITION.findall(bracket or ""))
        said = {field for _, field in _SLOT.findall(template)}
        return cls(voice, role, template, conditions, frozenset(said | {c.field for c in conditions}))

    def fits(self, record: Mapping[str, str | list[str]]) -> bool:
        """Whether every field is there and every condition holds."""
        return self.fields <= record.keys() and all(c.holds(record) for c in self.conditions)

    def render(self, record: Mapping[str, str | list[str]]) -> str:
        """The sentence."""

        def fill(slot: re.Match[str]) -> str:
            article, field = slot.groups()
            words = in_words(record[field])
            return f"{indefinite(words)} {words}" if article else words

        return _SLOT.sub(fill, self.template)


def in_words(value: str | list[str]) -> str:
    """A value as a sentence says it: lists as `the weir, the dam and the jetty`."""
    if isinstance(value, str):
        return value
    *first, last = [f"the {item}" for item in value]
    return f"{', '.join(first)} and {last}" if first else last


def indefinite(words: str) -> str:
    """`a` or `an`, as the words are read aloud."""
    return "an" if _VOWEL_FIRST.match(words) else "a"


def read_shapes() -> list[Shape]:
    """All shapes, in the order of shapes.toml."""
    grammar = tomllib.loads(Path(__file__).with_name("shapes.toml").read_text("utf-8"))
    return [
        Shape.parse(voice, role, source)
        for voice, roles in grammar.items()
        for role, sources in roles.items()
        for source in sources
    ]
