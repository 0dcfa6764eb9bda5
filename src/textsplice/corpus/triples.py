"""Triples of a knowledge graph as a table.

    Aarhus_Airport | cityServed | Aarhus          subject: Aarhus Airport
    Aarhus | leaderName | "Jacob Bundsgaard"      cityServed: Aarhus
                                                  cityServed.leaderName: Jacob Bundsgaard

The subject that is no other triple's object is the field `subject`; predicates are the other fields. What is
said of an object is named by the way to it, with a dot per step as in nested records, never by the object's
own name: so fields mean the same in all tables. A predicate that a subject has twice is a field with two
values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from sys import intern
from typing import NamedTuple

from textsplice.corpus.table import Table

SUBJECT = "subject"

# `Addiction_(journal)`: which of several that have the name; texts call it Addiction.
_WHICH = re.compile(r"(?<=.)_\([^()]*\)$")
# `121.92 (metres)`, `"52.0"(minutes)`: a number and its unit, which texts write without brackets.
_UNIT = re.compile(r'("?[\d.,]+"?) ?\(([^()]*)\)$')


class Triple(NamedTuple):
    """`subject | predicate | object`, as written."""

    subject: str
    predicate: str
    object: str


def table_of_triples(triples: Sequence[Triple]) -> Table:
    """The table of one or more triples: first who they are about, then predicates in the order of triples."""
    about, ways = _ways(triples)
    fields = {name: [spoken(subject)] for name, subject in about.items()}
    for subject, predicate, value in triples:
        values = fields.setdefault(_field(ways[subject], predicate), [])
        if (said := spoken(value)) and said not in values:
            values.append(said)
    return Table(tuple((intern(name), tuple(map(intern, values))) for name, values in fields.items()))


def spoken(name: str) -> str:
    """A subject or object as texts say it: without underscores, quotes, and brackets around a unit."""
    bare = _UNIT.sub(r"\1 \2", _WHICH.sub("", name)).replace("_", " ").replace('"', " ")
    return " ".join(bare.split())


def _ways(triples: Sequence[Triple]) -> tuple[dict[str, str], dict[str, str]]:
    """Who the triples are about, by field, and the way from there to everything else.

    Somebody who is no triple's object is a start. If there is no such start, the first subject is one.
    """
    said_of: dict[str, list[Triple]] = {}
    for triple in triples:
        said_of.setdefault(triple.subject, []).append(triple)
    objects = {triple.object for triple in triples if triple.object != triple.subject}
    about: dict[str, str] = {}
    ways: dict[str, str] = {}
    for start in sorted(said_of, key=objects.__contains__):
        if start in ways:
            continue
        name = f"{SUBJECT}{len(about) + 1}" if about else SUBJECT
        ways[start] = name if about else ""
        about[name] = start
        reached = [start]
        for subject in reached:
            for _, predicate, value in said_of.get(subject, ()):
                if value not in ways:
                    ways[value] = _field(ways[subject], predicate)
                    reached.append(value)
    return about, ways


def _field(way: str, predicate: str) -> str:
    return f"{way}.{predicate}" if way else predicate
