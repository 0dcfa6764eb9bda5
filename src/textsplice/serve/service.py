"""What the server does, without HTTP: one splicer, one line of jobs, one file of approved texts."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import ceil
from typing import NamedTuple, TypeVar, cast

from textsplice.corpus.table import Example, Table
from textsplice.errors import InputError, TextspliceError
from textsplice.report.document import document
from textsplice.report.page import html
from textsplice.search.generation import Generation
from textsplice.search.rows import read_generation
from textsplice.search.rules.registered import rules_from_dicts
from textsplice.search.rules.rule import Rule
from textsplice.search.rules.wordings import NoContradictions
from textsplice.serve.approved import ApprovedFile
from textsplice.serve.batching import Batches, Job
from textsplice.serve.describe import describe_fields, example_record
from textsplice.serve.limits import Limits
from textsplice.serve.problems import Problem
from textsplice.serve.results import Json, Looking, Written, as_json, result
from textsplice.serve.rule_models import RULE_NAMES
from textsplice.slots.lexicon import BUNDLED, Lexicon
from textsplice.splicer import Splicer
from textsplice.stopping import StoppedError
from textsplice.trace.gate import Gate
from textsplice.trace.reading import Draft
from textsplice.trace.values import KnownValues
from textsplice.trace.verifying import Verifier

T = TypeVar("T")
LONGEST_WAIT = 60  # seconds that a client is asked to wait
STARTING = ("swap", "full")  # these begin with a text of the store


@dataclass(frozen=True)
class Named:
    """What is served, as people and the command line call it."""

    name: str
    run: str  # the folder
    store: str | None = None  # where an export has its texts
    swap: bool = False

    def arguments(self) -> list[str]:
        """What it is for `textsplice generate`."""
        store = ["--store", self.store] if self.store else []
        return [self.run, "-", *store, *(["--swap"] if self.swap else [])]


class _Wanted(NamedTuple):
    """A record, and how many alternatives are asked for."""

    example: Example
    alternatives: int


@dataclass
class Service:
    """Answers requests; everything that searches runs in one thread, one batch after another."""

    splicer: Splicer
    named: Named
    approved: ApprovedFile
    limits: Limits = field(default_factory=Limits)
    told: Callable[[int], object] | None = None  # how many rows are searched at once
    stopped: Callable[[], object] | None = None  # a search that nobody waited for any more

    def __post_init__(self) -> None:
        self._batches = Batches(
            self.limits.batch,
            told=lambda rows: self.told and self.told(rows),
            stopped=lambda: self.stopped and self.stopped(),
        )
        self._admitted = 0
        self._used: Counter[str] = Counter()

    # What is fixed

    @property
    def policy(self) -> str:
        """Who writes the texts: the first of those that are asked."""
        splicer = self.splicer
        first = splicer.config.search.proposers[0]
        return splicer.kind.name if splicer.policy is None or first == "policy" else first

    @property
    def _can_start(self) -> bool:
        return self.policy in STARTING

    @cached_property
    def looking(self) -> Looking:
        """What texts are looked at with."""
        store = self.splicer.store
        found = self.splicer.wordings
        return Looking(found or Lexicon.of_tables(store.tables, store.kinds), store.trigrams)

    @cached_property
    def schema(self) -> Json:
        """What `/v1/schema` says."""
        splicer, limits = self.splicer, self.limits
        return {
            "name": self.named.name,
            "run": splicer.run,
            "policy": self.policy,
            "can": {"trace": True, "approve": True, "start": self._can_start},
            "texts": len(splicer.store),
            "tokenizer": splicer.store.tokenizer,
            "fields": describe_fields(splicer.store),
            "example": example_record(splicer.store),
            "limits": limits.told(),
            "rules": [{"name": name} for name in RULE_NAMES if self._can_start or name != "start-from"],
        }

    def warm(self) -> None:
        """Does everything once, so that the first request does not wait for what is compiled or opened."""
        store = self.splicer.store
        found = self.splicer.generate(store.tables[0]) if store.tables else None
        text, table = (found.text, found.table) if found and found.text else (store.texts[0], store.tables[0])
        for record in (table, None):
            traced = self.splicer.trace(text, record)
            result(traced, self.looking, 0)
        self._gate((), None).judge(Draft("0", text, table, "text"))
        _ = self.schema

    # Places

    def refusal(self) -> Problem | None:
        """429 if there is no place for one more request; None if there is one."""
        expected = self._batches.expected()
        if self._admitted < self.limits.queue and expected <= self.limits.seconds:
            return None
        # A place is free when the batch that is searched now has been answered.
        seconds = min(LONGEST_WAIT, max(1, ceil(self._batches.pace * self.limits.batch)))
        return Problem(
            429,
            f"{self._admitted} requests are waiting already.",
            remedy=f"Try again in {seconds} seconds." if seconds > 1 else "Try again in a second.",
            headers={"Retry-After": str(seconds)},
        )

    @contextmanager
    def place(self) -> Generator[None]:
        """A place in the line, which is given back whatever happens; 429 if there is none."""
        refused = self.refusal()
        if refused is not None:
            raise refused
        self._admitted += 1
        try:
            yield
        finally:
            self._admitted -= 1

    @property
    def admitted(self) -> int:
        """How many requests have a place."""
        return self._admitted

    def close(self) -> None:
        """Finishes what runs."""
        self._batches.close()

    # Requests

    async def generate(
        self,
        examples: Sequence[Example],
        rules: tuple[Rule, ...],
        alternatives: int,
        *,
        streamed: bool = False,
    ) -> AsyncGenerator[Written]:
        """The results of records, in their order, as they are ready.

        All of them must be ready in time; if they are `streamed`, each batch.
        """
        # Rows say the alternatives that were asked for only if these are fewer than the run's.
        fewer = alternatives if alternatives < self.splicer.config.search.given - 1 else None
        asked = json.dumps([[rule.to_dict() for rule in rules], fewer], sort_keys=True)
        run = partial(self._generate, rules, fewer)
        deadline = time.monotonic() + self.limits.seconds
        for start in range(0, len(examples), self.limits.batch):
            some = [_Wanted(each, alternatives) for each in examples[start : start + self.limits.batch]]
            deadline = time.monotonic() + self.limits.seconds if streamed else deadline
            for found in await self._asked(Job(asked, some, run, deadline)):
                yield cast("Written", found)

    async def trace(self, text: str, table: Table | None, *, exact: bool) -> bytes:
        """The fewest splices of a text."""

        def trace() -> bytes:
            return as_json(self._result(self.splicer.trace(text, table, exact=exact), 0))

        return await self._call(trace)

    async def gate(
        self, text: str, table: Table | None, rules: tuple[Rule, ...], most_splices: int | None
    ) -> bytes:
        """Whether a draft may be published."""

        def judge() -> bytes:
            record = None if table is None else self.splicer.read(table)
            verdict = self._gate(rules, most_splices).judge(Draft("text", text, record, "text"))
            reasons = [reason.to_dict() for reason in verdict.reasons]
            found = self._result(verdict.trace, 0)
            return as_json({"accepted": verdict.accepted, "reasons": reasons, "result": found})

        return await self._call(judge)

    async def verify(self, row: Mapping[str, object]) -> Json:
        """Whether a row is true, by this store."""

        def find() -> Json:
            try:
                generation = _read(row, exact=True)
            except TextspliceError as error:
                return {"true": False, "why": error.sentence()}
            finding = self._verifier.find(generation)
            return {"true": finding.verdict == "verified", "why": finding.why or _unverified(finding.verdict)}

        return await self._call(find)

    async def player(self, row: Mapping[str, object]) -> str:
        """The page that plays one derivation."""
        return await self._call(lambda: html(document(_read(row), "row")))

    async def approve(self, text: str, table: Table, about: Mapping[str, object]) -> int:
        """Adds a text to the approved ones; how many there are."""
        row = {"table": table.to_record(), "text": text, **about}
        return await asyncio.to_thread(self.approved.add, row)

    def source(self, name: str) -> Json | None:
        """A text of the store."""
        store = self.splicer.store
        rows = store.rows_of.get(name)
        if not rows:
            return None
        row = rows[0]
        table = store.tables[int(store.table_of[row])]
        return {
            "id": name,
            "text": store.texts[row],
            "table": table.to_record() if table.fields else None,
            "approved": row in store.approved,
            "used": self._used[name],
        }

    def rules(self, given: Sequence[Mapping[str, object]], start: str | None) -> tuple[Rule, ...]:
        """The rules of a request, of which one may say where to begin."""
        rules = [*given, *([{"rule": "start-from", "id": start}] if start is not None else [])]
        starts = [rule["id"] for rule in rules if rule["rule"] == "start-from"]
        if starts and not self._can_start:
            raise InputError(
                f"{self.policy} does not begin with a text of the store.",
                where="start",
                remedy="Leave it out.",
            )
        for name in starts:
            if name not in self.splicer.store.rows_of:
                raise Problem(404, f"there is no text {name!r} in the store.", where="start")
        return rules_from_dicts(rules, "rules")

    def examples(self, records: Sequence[tuple[str, Mapping[str, object]]]) -> list[Example]:
        """The records of a request."""
        self.limits.check_rows(len(records))
        return [Example(name, self.table(record), None) for name, record in records]

    def table(self, record: Mapping[str, object]) -> Table:
        """A record, if it is not too large; of a text, what can be said."""
        self.limits.check_record(record)
        return Table.of(record)

    # In the thread that searches

    def _generate(
        self, rules: tuple[Rule, ...], alternatives: int | None, asked: Sequence[object]
    ) -> list[Written]:
        wanted = cast("Sequence[_Wanted]", asked)
        examples = [each.example for each in wanted]
        made = self.splicer.generate_many(
            examples,
            rules=rules,
            alternatives=alternatives,
            batch_size=max(1, len(examples)),
            progress=False,
        )
        found = (self._result(one, each.alternatives) for one, each in zip(made, wanted, strict=True))
        return [Written(str(each["status"]), as_json(each)) for each in found]

    def _gate(self, rules: tuple[Rule, ...], most_splices: int | None) -> Gate:
        lexicon = self.splicer.wordings
        values = self._values
        return Gate(self.splicer.tracer, frozenset(), rules, lexicon, most_splices, values=values)

    @cached_property
    def _verifier(self) -> Verifier:
        return Verifier(self.splicer.witness)

    @cached_property
    def _values(self) -> KnownValues:
        return KnownValues.of_store(self.splicer.store)

    def _result(self, generation: Generation, alternatives: int) -> Json:
        found = result(generation, self.looking, alternatives)
        numbering = generation.sources.numbering
        used = {each.source for each in generation.provenance if numbering.is_neighbor(each.source)}
        self._used.update(generation.sources.neighbors[numbering.rank(number)].id for number in used)
        return found

    # In the loop

    async def _call(self, function: Callable[[], T], deadline: float | None = None) -> T:
        """The result of a function, in the thread that searches."""
        deadline = deadline or time.monotonic() + self.limits.seconds
        (found,) = await self._asked(Job(object(), (None,), lambda _: (function(),), deadline))
        return cast("T", found)

    async def _asked(self, job: Job) -> Sequence[object]:
        try:
            async with asyncio.timeout(max(0.0, job.deadline - time.monotonic())):
                return await asyncio.wrap_future(self._batches.submit(job))
        except (TimeoutError, StoppedError):
            raise Problem(
                503,
                f"it took longer than {self.limits.seconds:g} seconds.",
                remedy="Send fewer records at once, or shorter texts.",
                headers={"Retry-After": "1"},
            ) from None
        finally:
            job.given_up = True


def _unverified(verdict: str) -> str | None:
    return None if verdict == "verified" else f"the row is {verdict}"


def _read(row: Mapping[str, object], *, exact: bool = False) -> Generation:
    """The generation of a row that somebody sent; none of this machine's files is opened because of it."""
    generation = read_generation(row, "row", exact=exact)
    for rule in generation.rules:
        if rule.get("rule") == NoContradictions.name and rule.get("lexicon") not in BUNDLED:
            raise InputError("it names a lexicon that does not come with textsplice.", where="row")
    return generation
