"""Generation, step by step: propose → derive → rules → choose → `Generation`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import TypedDict

from textsplice.config import SearchConfig
from textsplice.corpus.asked import with_asked
from textsplice.corpus.forms import with_forms
from textsplice.corpus.table import Example, Table
from textsplice.errors import InputError
from textsplice.memory import release_memory
from textsplice.oracle.sources import Sources
from textsplice.oracle.writing import Writing
from textsplice.policy.problem import Candidate, Draft, broken_rule, wants_one
from textsplice.progress import bar
from textsplice.search.choose import Slips, choose, slot_slips, worded_slips
from textsplice.search.derive import Derived, derive, without_unused
from textsplice.search.doubts import find_doubts, unchecked_values
from textsplice.search.generation import Alternative, Generation, Status, make_generation
from textsplice.search.judge import Judge, opinion
from textsplice.search.offers import Offers
from textsplice.search.propose import Proposal, Proposer
from textsplice.search.rules.rule import Rule
from textsplice.search.seams import cost_of_seams
from textsplice.search.style import Style
from textsplice.search.swap import SWAP
from textsplice.slots.asking import asked_for
from textsplice.slots.lexicon import Lexicon
from textsplice.stopping import stop_if_unwanted
from textsplice.text.linearize import linearize
from textsplice.text.tokens import Tokenizer

Record = Table | Example | Mapping[str, object]
UNFINISHED = "the policy did not end the text"
# However many tables are searched at once, and on whatever device, their texts are the same.
NOT_PART_OF_HOW = ("batch_size", "device")
LATER = (
    *("max_table_tokens", "proposers", "writers", "swap_writes", "seams", "misplaced_values"),
    *("avoid", "whole_sentences", "approved_first", "lexicon", "alternatives"),
)


class Made(TypedDict):
    """What a row says of how it was made; only rows that agree in it may share a file."""

    run: str
    policy: str
    rules: list[dict[str, object]]
    weights: str | None
    search: dict[str, object]


@dataclass(frozen=True)
class Pipeline:
    """Makes texts of tables; `run` and `weights` are what rows say of it.

    Each proposer is asked about the tables for which those before it have no text that obeys the rules; first
    of all `approved`, if there is one, which leaves most tables to the others.
    `judge` opens the run that `search.judge` names, and those of `search.writers`. `max_table_tokens` is the
    limit of the run's corpus, `asked` are its fields that ask for a value, and `forms` those whose values
    texts say in another form. Seams are attested by the texts of `offers`. Doubts are looked for with
    `wordings` where no `lexicon` has a say in choosing.
    """

    proposers: tuple[Proposer, ...]
    run: str
    weights: str | None
    tokenizer: Tokenizer
    lexicon: Lexicon | None
    judge: Callable[[str], Judge]
    max_table_tokens: int
    offers: Offers
    approved: Proposer | None = None
    asked: Collection[str] = ()
    forms: Sequence[str] = ()
    wordings: Lexicon | None = None

    def generations(
        self,
        tables: Iterable[Record],
        search: SearchConfig,
        rules: tuple[Rule, ...],
        *,
        total: int | None = None,
        quiet: bool = False,
    ) -> Iterator[Generation]:
        """The texts of tables, in their order, `search.batch_size` at a time."""
        made = self.made(search, rules)
        Style.of(search, self.tokenizer)  # a wording that is none is refused before anything is searched
        limit = search.max_table_tokens or self.max_table_tokens
        examples = (_example(record, number) for number, record in enumerate(tables))
        formed = (with_forms(example, self.forms) for example in examples)
        remaining = (with_asked(example, self.asked) for example in formed)
        with bar(total, "generating", quiet=quiet) as progress:
            while batch := list(islice(remaining, search.batch_size)):
                fitting = [table_length(each.table, self.tokenizer, limit) <= limit for each in batch]
                asked = [each for each, fits in zip(batch, fitting, strict=True) if fits]
                found = iter(self._batch(asked, search, rules, made) if asked else ())
                for example, fits in zip(batch, fitting, strict=True):
                    yield next(found) if fits else self._too_long(example, limit, search, made)
                progress.advance(len(batch))
                release_memory()

    def _batch(
        self, batch: Sequence[Example], search: SearchConfig, rules: tuple[Rule, ...], made: Made
    ) -> Iterator[Generation]:
        """The texts of some tables; a proposer is asked about those that have none from earlier ones."""
        approved = [self._approved(example, search, rules, made) for example in batch]
        left = [example for example, found in zip(batch, approved, strict=True) if found is None]
        written = self._proposed(left, search, rules, made) if left else iter(())
        for found in approved:
            yield next(written) if found is None else found

    def _approved(
        self, example: Example, search: SearchConfig, rules: tuple[Rule, ...], made: Made
    ) -> Generation | None:
        if self.approved is None:
            return None
        (proposal,) = self.approved.propose([example], rules, search)
        found = self._generation(self.approved, proposal, search, rules, made)
        return found if found.finished else None

    def _proposed(
        self, batch: Sequence[Example], search: SearchConfig, rules: tuple[Rule, ...], made: Made
    ) -> Iterator[Generation]:
        first, *others = self.proposers
        for example, proposal in zip(batch, first.propose(batch, rules, search), strict=True):
            stop_if_unwanted()
            found = self._generation(first, proposal, search, rules, made)
            for proposer in others:
                if found.finished:
                    break
                (proposal,) = proposer.propose([example], rules, search)
                new = self._generation(proposer, proposal, search, rules, made)
                found = new if new.finished or found.status == "abstained" else found
            yield found

    def _too_long(self, example: Example, limit: int, search: SearchConfig, made: Made) -> Generation:
        """What is given for a table that is not searched."""
        attribution = self.proposers[0].kind.attribution(marginalize=search.marginalize)
        length = table_length(example.table, self.tokenizer, limit)
        return make_generation(
            id=example.id,
            table=example.table,
            sources=Sources(self.offers.store.linearize(example.table), (), {}),
            splices=(),
            score=float("-inf"),
            status="abstained",
            reason=too_long(length, limit),
            **made,
            tokenizer=self.tokenizer,
            attribution=attribution,
        )

    def made(self, search: SearchConfig, rules: Sequence[Rule] = ()) -> Made:
        """How texts are made with these settings."""
        settings = {key: value for key, value in asdict(search).items() if key not in NOT_PART_OF_HOW}
        if search.judge:
            settings["judge"] = self.judge(search.judge).weights  # the name of a folder says little elsewhere
        else:
            del settings["judge"]
        settings["proposers"] = list(search.proposers)
        settings["avoid"] = list(search.avoid)
        settings["writers"] = [self.judge(writer).weights for writer in search.writers]
        if search.lexicon and self.lexicon is not None:
            settings["lexicon"] = self.lexicon.digest[:12]
        for name in LATER:  # not said if they are as they were before
            if getattr(search, name) == getattr(SearchConfig(), name):
                del settings[name]
        return {
            "run": self.run,
            "policy": self.proposers[0].kind.name,
            "rules": [rule.to_dict() for rule in rules],
            "weights": self.weights,
            "search": settings,
        }

    def _generation(
        self,
        proposer: Proposer,
        proposal: Proposal,
        search: SearchConfig,
        rules: tuple[Rule, ...],
        made: Made,
    ) -> Generation:
        """The best candidate that is a text and obeys the rules, else the unfinished one, else none."""
        kind = proposer.kind
        # Whoever else was asked before it, swap has no weights.
        made = {**made, "policy": kind.name, "weights": None if kind is SWAP else made["weights"]}

        def make(candidate: Candidate, status: Status) -> Generation:
            sources, splices = proposal.sources.using(candidate.splices, proposal.words), candidate.splices
            if kind.derives_after:  # other drafts' neighbors were not offered to this one
                sources, splices = without_unused(sources, splices)
            return make_generation(
                id=proposal.example.id,
                table=proposal.example.table,
                sources=sources,
                splices=splices,
                score=candidate.score,
                status=status,
                **made,
                tokenizer=self.tokenizer,
                attribution=kind.attribution(marginalize=search.marginalize),
            )

        outcome = proposal.outcome
        choosing = proposer.choosing(search)
        # Where only the probability ranks, what comes after those that are given need not be replayed.
        texts = self._texts(proposal, outcome.ranked(), rules)
        found = [*islice(texts, search.given if wants_one(choosing) else None)]
        judged: dict[tuple[int, ...], float] = {}
        ranked = self._ranked(choosing, proposal, found, judged)[: search.given]
        if ranked:
            drafts = {each.candidate.ids: each.draft for each in found}
            others = tuple(self._alternative(proposal, drafts[c.ids], c.score) for c in ranked[1:])
            found = replace(self._with_seams(make(ranked[0], "ok")), alternatives=others)
            return self._with_doubts(found, proposer, judged.get(ranked[0].ids))
        unfinished = [outcome.unfinished] if outcome.unfinished else []
        for text in self._texts(proposal, unfinished, rules):
            return replace(self._with_seams(make(text.candidate, "unfinished")), reason=UNFINISHED)
        nothing = Candidate((), (), float("-inf"))
        return replace(make(nothing, "abstained"), reason=outcome.obstacle)

    def _alternative(self, proposal: Proposal, draft: Draft, score: float) -> Alternative:
        writing = Writing(draft.sources, proposal.example.table, self.tokenizer)
        return Alternative(writing.write(draft.origins).text, score)

    def _texts(
        self, proposal: Proposal, candidates: Iterable[Candidate], rules: tuple[Rule, ...]
    ) -> Iterator[Derived]:
        """The candidates that replay to a text which obeys the rules, whatever their proposer promised."""
        for candidate in candidates:
            derived = derive(candidate, proposal.sources, proposal.words)
            broken = derived.obstacle or broken_rule(rules, derived.draft)
            if broken is None:
                yield derived
            else:
                rule = derived.obstacle is None
                proposal.outcome.hinder(broken, rule=rule, score=candidate.score)

    def _ranked(
        self,
        search: SearchConfig,
        proposal: Proposal,
        found: Sequence[Derived],
        judged: dict[tuple[int, ...], float],
    ) -> list[Candidate]:
        """The candidates, best first; what the judge says of them goes into `judged`."""
        if proposal.order is not None:
            place = {ids: number for number, ids in enumerate(proposal.order)}
            return sorted((each.candidate for each in found), key=lambda candidate: place[candidate.ids])

        def judge(candidates: Sequence[Candidate]) -> Sequence[float]:
            said = opinion(self.judge(search.judge), proposal, self.tokenizer)(candidates)
            judged.update(zip((candidate.ids for candidate in candidates), said, strict=True))
            return said

        style = Style.of(search, self.tokenizer)
        return choose(
            found,
            proposal.sources,
            proposal.words,
            by=search.choose,
            slips=self._slips(proposal.example) if search.slots_first else None,
            style=style.slips if style else None,
            judge=judge if search.judge else None,
            seams=cost_of_seams(search.seams, self.offers.store.trigrams) if search.seams else None,
            similar=proposal.similar,
        )

    def _with_doubts(self, generation: Generation, proposer: Proposer, judged: float | None) -> Generation:
        """The same with what a person should look at; an approved text has been looked at."""
        if proposer is self.approved:
            return generation.with_doubts(())
        text, table, seams = generation.text, generation.table, generation.seams
        known, lexicon = self.offers.known, self.lexicon or self.wordings
        return generation.with_doubts(
            find_doubts(text, table, seams, known, lexicon, judged),
            unchecked_values(text, table, known, lexicon),
        )

    def _with_seams(self, generation: Generation) -> Generation:
        return generation.with_seams(self.offers.store.trigrams)

    def _slips(self, example: Example) -> Slips:
        """How slips with the values of a table are counted: by the run's lexicon, if it has one."""
        table, known = example.table, self.offers.known
        slips = worded_slips(table, self.lexicon, self.tokenizer) if self.lexicon else slot_slips
        if not known.kinds and not asked_for(table):
            return slips

        def count(draft: Draft) -> int:
            text = Writing(draft.sources, table, self.tokenizer).write(draft.origins).text
            wrong = slips(draft) + sum(1 for _ in known.slips(text, table))
            silent = sum(1 for _ in known.silences(text, table, self.lexicon or self.wordings))
            return 2 * wrong + silent  # to say nothing is better than to say something wrong

        return count


def check_settings(search: SearchConfig) -> None:
    """`InputError` for settings with which nothing can be found."""
    for name in ("beam", "max_splices", "max_tokens", "batch_size"):
        if getattr(search, name) < 1:
            raise InputError(
                f"{name} is {getattr(search, name)}: nothing could be found.", remedy="Use 1 or more."
            )
    if search.alternatives < 0:
        raise InputError(f"alternatives is {search.alternatives}.", remedy="Use 0 or more.")
    if not search.proposers:
        raise InputError("proposers is empty: nobody is asked.", remedy='Use ["policy"].')
    if search.judge and search.choose == "likelihood":
        raise InputError(
            "a judge has no say where choose is likelihood.",
            remedy='Set search.choose to "typical" or "consensus", or search.judge to "".',
        )


def table_length(table: Table, tokenizer: Tokenizer, limit: int) -> int:
    """The tokens of a linearized table; if it can't have more than `limit`, they need not be counted."""
    most = sum(1 + sum(map(len, values)) for _, values in table)
    return most if most <= limit else len(linearize(table, tokenizer).tokens)


def too_long(length: int, limit: int) -> str:
    """Why a table is not searched, as a clause."""
    return f"the table has {length:,} tokens; search.max_table_tokens allows {limit:,}"


def _example(record: Record, number: int) -> Example:
    if isinstance(record, Example):
        return record
    table = record if isinstance(record, Table) else Table.of(record)
    for name, values in table:
        try:
            "".join((name, *values)).encode("utf-8")
        except UnicodeEncodeError as error:
            raise InputError(
                f"the field {name!r} holds half of a surrogate pair, which is no text."
            ) from error
    return Example(str(number), table, None)
