"""The rules that a request may send, each with its settings."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool

MOST_RULES = 32
MOST_NAMED = 1000  # ids, words or fields of one rule

Name = Annotated[str, Field(min_length=1)]
Word = Annotated[str, Field(pattern=r"[A-Za-z0-9]")]  # a word has a letter or a digit
Names = Annotated[list[Name], Field(min_length=1, max_length=MOST_NAMED)]


def whole(value: object) -> object:
    """JSON has one kind of number: 3.0 is 3."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


# The schema of a validator's input must say the bounds once more.
Count = Annotated[
    int,
    Field(ge=1, le=1000),
    BeforeValidator(whole, json_schema_input_type=Annotated[int, Field(ge=1, le=1000)]),
]


class Asked(BaseModel):
    """What is taken: nothing but these fields."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ApprovedNeighborsRule(Asked):
    """Splice only from these texts."""

    rule: Literal["approved-neighbors"]
    ids: Names


class NeverNeighborsRule(Asked):
    """Never splice from these texts."""

    rule: Literal["never-neighbors"]
    ids: Names


class StartFromRule(Asked):
    """Begin with this text."""

    rule: Literal["start-from"]
    id: Name


class ForbidWordsRule(Asked):
    """None of these words or phrases; with `lookalikes`, not in letters that look alike either."""

    rule: Literal["forbid-words"]
    words: Annotated[list[Word], Field(min_length=1, max_length=MOST_NAMED)]
    lookalikes: StrictBool = False


class RequireFieldsRule(Asked):
    """All values of these fields appear."""

    rule: Literal["require-fields"]
    fields: Names


class MinSentencesRule(Asked):
    """At least so many sentences."""

    rule: Literal["min-sentences"]
    count: Count


class MaxSentencesRule(Asked):
    """At most so many sentences."""

    rule: Literal["max-sentences"]
    count: Count


class KeepSentencesRule(Asked):
    """No whole sentence is ever replaced."""

    rule: Literal["keep-sentences"]


class CopyOnlyRule(Asked):
    """No generated words."""

    rule: Literal["copy-only"]


class NoContradictionsRule(Asked):
    """No words that say another value than the record has, by a lexicon that comes with textsplice."""

    rule: Literal["no-contradictions"]
    lexicon: Literal["bundled", "e2e"]


Rule = Annotated[
    ApprovedNeighborsRule
    | NeverNeighborsRule
    | StartFromRule
    | ForbidWordsRule
    | RequireFieldsRule
    | MinSentencesRule
    | MaxSentencesRule
    | KeepSentencesRule
    | CopyOnlyRule
    | NoContradictionsRule,
    Field(discriminator="rule"),
]
RULE_NAMES = (
    *("approved-neighbors", "never-neighbors", "start-from", "forbid-words", "require-fields"),
    *("min-sentences", "max-sentences", "keep-sentences", "copy-only", "no-contradictions"),
)
Rules = Annotated[list[Rule], Field(max_length=MOST_RULES)]
