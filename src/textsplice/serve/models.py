"""What the API takes and gives, as the OpenAPI document says it. Nothing else is taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, StrictBool
from typing_extensions import TypeAliasType

from textsplice.serve.problems import Problem as Refused
from textsplice.serve.rule_models import Asked, Count, Name, Rules, whole

MOST_ALTERNATIVES = 10

NAMES: dict[str, JsonValue] = {
    "propertyNames": {"minLength": 1, "pattern": r"[^\s\x1c-\x1f\x85]"}
}  # no name is only spaces
Scalar = str | bool | int | float | None
# An object in a record is its fields with a dot between: {"a": {"b": 1}} is {"a.b": 1}.
Value = TypeAliasType(  # a recursive type needs a name
    "Value",
    "Scalar | list[Scalar] | Annotated[dict[str, Value], Field(min_length=1, json_schema_extra=NAMES)]",
)
Record = Annotated[
    dict[str, Value],
    Field(
        min_length=1,
        description="Fields and their values: texts, numbers, yes or no, or lists of these.",
        json_schema_extra=NAMES,
    ),
]
Text = Annotated[str, Field(min_length=1, pattern=r"\S")]
Utf16 = Annotated[list[int], Field(min_length=2, max_length=2, description="In UTF-16 units.")]


Alternatives = Annotated[
    int,
    Field(ge=0, le=MOST_ALTERNATIVES),
    BeforeValidator(whole, json_schema_input_type=Annotated[int, Field(ge=0, le=MOST_ALTERNATIVES)]),
]


class Given(BaseModel):
    """What is given."""

    model_config = ConfigDict(extra="forbid")


Row = Annotated[dict[str, JsonValue], Field(description="A row of textsplice.generation/2.")]


class Named(Asked):
    """A record with an id."""

    id: Name
    table: Record


NamedOrNot = Annotated[Named | Record, Field(union_mode="left_to_right")]
ONE_OR_MANY: list[JsonValue] = [
    {"required": ["table"], "properties": {"table": {"type": "object"}, "tables": {"type": "null"}}},
    {"required": ["tables"], "properties": {"tables": {"type": "array"}, "table": {"type": "null"}}},
]


class Generate(Asked):
    """Records to write texts for: `table`, or `tables`."""

    model_config = ConfigDict(json_schema_extra={"oneOf": ONE_OR_MANY})

    table: Record | None = None
    tables: Annotated[list[NamedOrNot], Field(min_length=1)] | None = None
    rules: Rules = Field(default_factory=list)
    alternatives: Alternatives = 3
    start: Name | None = Field(default=None, description="Begin with this text (swap and FULL).")

    def records(self) -> list[tuple[str, Mapping[str, object]]]:
        """The records with their ids; one without an id gets its place."""
        if (self.table is None) == (self.tables is None):
            raise Refused(422, "give either `table` or `tables`.", where="table")
        given = [self.table] if self.table is not None else self.tables or []
        return [
            (each.id, each.table) if isinstance(each, Named) else (str(number), each)
            for number, each in enumerate(given)
        ]


class Trace(Asked):
    """A text of any origin, and its record if it has one."""

    text: Text
    table: Record | None = None
    exact: StrictBool = True


class Gate(Asked):
    """A draft, and what it must be like."""

    text: Text
    table: Record | None = None
    rules: Rules = Field(default_factory=list)
    most_splices: Count | None = None


class OneRow(Asked):
    """A row that this API or `textsplice generate` gave."""

    row: Row


class Approve(Asked):
    """A text that somebody approved for a record; `row` is its provenance, which is kept with it."""

    text: Text
    table: Record
    id: Name | None = None
    row: Row | None = None


class Unapprove(Asked):
    """An approved text that is taken back, by its key in `/v1/approved`."""

    key: Name


class Command(Asked):
    """What was asked for."""

    table: Record
    rules: Rules = Field(default_factory=list)
    start: Name | None = None


class Problem(Given):
    """What is wrong (RFC 9457), with a code that never changes."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    where: str | None = None
    remedy: str | None = None


class Place(Given):
    """`text[start:stop]`."""

    start: int
    stop: int
    utf16: Utf16


class Doubt(Given):
    """Why a text may be wrong, and which characters it is about."""

    why: str
    what: str
    start: int | None = None
    stop: int | None = None


class Citation(Given):
    """What a block was copied from: a field of the record, a text of the store, or the vocabulary."""

    type: Literal["span"]
    source: Literal["table", "text", "vocabulary"]
    cited_text: str
    field: str | None = None
    id: str | None = None
    start: int | None = None
    stop: int | None = None


class Block(Given):
    """A piece of the text, with its citations."""

    type: Literal["text"]
    text: str
    start: int
    stop: int
    utf16: Utf16
    citations: list[Citation]


class Slot(Given):
    """A value of the record, and whether the text says it."""

    field: str
    value: str
    status: Literal["said", "missing", "wrong", "unchecked"]


class Seams(Given):
    """How many seams there are, and those that no text of the store attests."""

    count: int
    unattested: list[Place]


class Alternative(Given):
    """A finished text that was not given."""

    text: str
    score: float


class Result(Given):
    """A text with its proof."""

    id: str
    status: Literal["ok", "doubtful", "unfinished", "abstained"]
    reason: str | None
    doubts: list[Doubt]
    text: str
    content: list[Block]
    slots: list[Slot]
    seams: Seams
    gaps: list[Place]
    alternatives: list[Alternative]
    splices: int
    neighbors: int
    row: Row


class Results(Given):
    """One result per record, in their order."""

    results: list[Result]


class Reason(Given):
    """Why a draft is refused."""

    why: str
    what: str
    start: int | None = None
    stop: int | None = None
    utf16: Utf16 | None = None


class Judged(Given):
    """What the gate says."""

    accepted: bool
    reasons: list[Reason]
    result: Result


class Verified(Given):
    """Whether a row is true, and if not, the first thing in it that is not."""

    true: bool
    why: str | None


class Source(Given):
    """A text of the store."""

    id: str
    text: str
    table: dict[str, str | list[str]] | None
    approved: bool
    used: int = Field(description="How often texts that this server gave have copied from it.")


class Approved(Given):
    """How many texts are in the file."""

    approved: int
    file: str


class ApprovedRows(Given):
    """How many texts are in the file, and the last of them, with the keys by which they are taken back."""

    approved: int
    rows: list[dict[str, JsonValue]]
    keys: list[str]


class CommandLine(Given):
    """The same in a terminal."""

    command: str


class BadRow(Given):
    """A row that can't be read."""

    row: int
    what: str


class Read(Given):
    """The records of a file."""

    tables: list[Record]
    ids: list[str]
    bad: list[BadRow]


class FieldAbout(Given):
    """A field of the store's records."""

    name: str
    kind: Literal["said", "yes-no", "worded", "coded", "unsaid", "list", "number"]
    share: float
    values: list[str]
    list: bool
    distinct: int


class Can(Given):
    """What this server can do."""

    trace: bool
    approve: bool
    start: bool


class LimitsAbout(Given):
    """The most that a request may have."""

    body_bytes: int
    rows: int
    fields: int
    characters: int
    seconds: float


class RuleAbout(Given):
    """A rule that may be sent."""

    name: str


class Schema(Given):
    """What is served."""

    name: str
    run: str
    policy: str
    can: Can
    texts: int
    tokenizer: str
    fields: list[FieldAbout]
    example: dict[str, str | list[str]]
    limits: LimitsAbout
    rules: list[RuleAbout]


class Health(Given):
    """That it runs."""

    status: Literal["ok"]
    version: str
    run: str
