"""Invented walks: tables whose values agree with one another."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from random import Random

from bundled.shapes import Record

FIELDS = (
    "name",
    "region",
    "start",
    "length",
    "duration",
    "climb",
    "difficulty",
    "type",
    "sights",
    "inn",
    "dogs",
    "parking",
)
FEWEST_FIELDS, MOST_FIELDS = 4, 8
# Whoever fills in records does so in a few ways: each table has the fields of one of so many forms.
FORMS = 24


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of country and what belongs there."""

    regions: list[str]
    villages: list[str]
    stems: list[str]
    sights: list[str]
    difficulties: list[str]


@dataclass(frozen=True, slots=True)
class World:
    """Everything a table's values are drawn from."""

    kinds: dict[str, Kind]
    everywhere: dict[str, list[str]]
    suffixes: dict[str, list[str]]
    efforts: dict[str, dict[str, list[int]]]
    presence: dict[str, float]

    @classmethod
    def read(cls) -> World:
        """The world of world.toml."""
        source = tomllib.loads(Path(__file__).with_name("world.toml").read_text("utf-8"))
        kinds = {name: Kind(**kind) for name, kind in source.pop("kinds").items()}
        return cls(kinds=kinds, **source)

    def walks(self, count: int, rng: Random) -> list[Record]:
        """So many tables, no two with the same name."""
        forms: list[list[str]] = []
        while len(forms) < FORMS:
            form = self._form(rng)
            if form not in forms:
                forms.append(form)
        walks: dict[str, Record] = {}
        while len(walks) < count:
            walk = self._walk(rng, rng.choice(forms))
            walks.setdefault(str(walk["name"]), walk)
        return list(walks.values())

    def _walk(self, rng: Random, form: list[str]) -> Record:
        kind_name = rng.choice(list(self.kinds))
        kind = self.kinds[kind_name]
        region = rng.randrange(len(kind.regions))
        # The first half of the villages lies in the first region, and so on.
        share = len(kind.villages) // len(kind.regions)
        type_ = rng.choice(list(self.suffixes))
        difficulty = rng.choice(kind.difficulties)
        effort = self.efforts[difficulty]
        kilometers = rng.randint(2 * effort["length"][0], 2 * effort["length"][1]) / 2
        meters = 10 * rng.randint(effort["climb"][0] // 10, effort["climb"][1] // 10)
        if kind_name == "marsh":
            meters = max(10, 10 * round(meters / 80))
        sights = rng.sample(kind.sights + self.everywhere["sights"], rng.choice([1, 2, 2, 2, 3]))
        whole: Record = {
            "name": f"{rng.choice(kind.stems)} {rng.choice(self.suffixes[type_])}",
            "region": kind.regions[region],
            "start": rng.choice(kind.villages[region * share : (region + 1) * share]),
            "length": f"{kilometers:g} km",
            "duration": in_time(kilometers / 4 + meters / 600),
            "climb": f"{meters} m",
            "difficulty": difficulty,
            "type": type_,
            "sights": sights,
            "inn": rng.choice(self.everywhere["inns"]),
            "dogs": rng.choice(["yes", "no"]),
            "parking": rng.choice(["yes", "no"]),
        }
        return {field: whole[field] for field in form}

    def _form(self, rng: Random) -> list[str]:
        while True:
            present = [f for f in FIELDS if rng.random() < self.presence.get(f, 1.0)]
            if FEWEST_FIELDS <= len(present) <= MOST_FIELDS:
                return present


def in_time(hours: float) -> str:
    """A walking time as people say it: quarters of an hour below two, halves above."""
    minutes = max(30, 15 * round(hours * 4))
    if minutes < 120:
        return "1 hour" if minutes == 60 else f"{minutes} minutes"
    return f"{round(hours * 2) / 2:g} hours"
