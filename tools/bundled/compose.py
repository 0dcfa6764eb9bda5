"""From a table to a text: shapes that together say its fields, in an order a person would use."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

from bundled.shapes import ROLES, VOICES, Record, Shape

MOST_SENTENCES = 4
ATTEMPTS = 80
OMIT_ONE = 0.05
"""How often a writer leaves one field unsaid."""

_PRONOUN = re.compile(r"\b(?:it|its)\b", re.IGNORECASE)
_WALK = re.compile(r"\b(?:it|its|walk|route|path)\b", re.IGNORECASE)


@dataclass(slots=True)
class Composer:
    """Writes texts, turning to the shapes it has used least."""

    shapes: list[Shape]
    rng: Random
    used: Counter[str] = field(default_factory=Counter)

    def compose(self, record: Record) -> str | None:
        """One text that is true of the table, or None if this try came to nothing."""
        voice = self.rng.choice(VOICES)
        fitting = [s for s in self.shapes if s.voice in ("any", voice) and s.fits(record)]
        wanted = self._wanted(record)
        # A writer who would like to be brief needs another sentence if the fields ask for it.
        for most in range(self.rng.randint(1, MOST_SENTENCES), MOST_SENTENCES + 1):
            for _ in range(ATTEMPTS):
                plan = self._plan(fitting, wanted, most)
                if plan is not None and reads_well(plan):
                    self.used.update(shape.template for shape in plan)
                    return " ".join(shape.render(record) for shape in plan)
        return None

    def _wanted(self, record: Record) -> frozenset[str]:
        optional = [name for name in record if name != "name"]
        if len(optional) > 3 and self.rng.random() < OMIT_ONE:
            return frozenset(record) - {self.rng.choice(optional)}
        return frozenset(record)

    def _plan(self, fitting: list[Shape], wanted: frozenset[str], most: int) -> list[Shape] | None:
        plan: list[Shape] = []
        while wanted and len(plan) < most:
            choices = [s for s in fitting if s.fields <= wanted and (s.role == "opener") != bool(plan)]
            if not choices:
                return None
            # Sentences that say more are preferred: people aggregate.
            weights = [len(s.fields) ** 2 / (5 + self.used[s.template]) for s in choices]
            [shape] = self.rng.choices(choices, weights)
            plan.append(shape)
            wanted -= shape.fields
        if wanted:
            return None
        return sorted(plan, key=place_in_text)


def place_in_text(shape: Shape) -> tuple[int, bool]:
    """Openers, then the course, then the practical: there, where the walk starts comes first."""
    return ROLES.index(shape.role), shape.role == "practical" and "start" not in shape.fields


def reads_well(plan: list[Shape]) -> bool:
    """Whether openings vary, no more than two sentences are mere remarks, and `it` is clear."""
    remarks = sum(len(shape.fields) == 1 for shape in plan)
    return remarks <= 2 and all(
        opening(first) != opening(second)
        and (is_about_the_walk(first) or not _PRONOUN.search(second.template))
        for first, second in pairwise(plan)
    )


def opening(shape: Shape) -> str:
    """The first word."""
    return shape.template.split()[0]


def is_about_the_walk(shape: Shape) -> bool:
    """Whether `it`, in the next sentence, would be the walk."""
    return "name" in shape.fields or bool(_WALK.search(shape.template))
