"""`Splicer`: tables in, texts with their proof out."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from textsplice.config import Config, SearchConfig
from textsplice.corpus.table import Example, Table
from textsplice.errors import InputError
from textsplice.memory import is_out_of_memory
from textsplice.neighbors.store import Store
from textsplice.oracle.sources import Sources
from textsplice.policy.cases import Case
from textsplice.progress import bar
from textsplice.ragged import Ragged
from textsplice.runs.prepared import Prepared
from textsplice.runs.run import Run
from textsplice.search.choose import Judge, Slips, choose, slot_slips, worded_slips
from textsplice.search.generation import Alternative, Attribution, Generation, Status, make_generation
from textsplice.search.offers import Offers
from textsplice.search.problem import Candidate, Outcome, Problem
from textsplice.search.rules import Rule
from textsplice.search.swap import REACH, SwapTask, swap
from textsplice.search.verify import Proof
from textsplice.slots.lexicon import Lexicon
from textsplice.text.linearize import linearize
from textsplice.text.tokens import detokenize, tokenize
from textsplice.text.vocabulary import BEGIN_ID, END_ID, Vocabulary

if TYPE_CHECKING:
    from textsplice.policy.checkpoint import Policy
    from textsplice.search.encodings import Encodings

UNFINISHED = "the policy did not end the text"
Record = Table | Example | Mapping[str, str | Sequence[str]]


@dataclass(frozen=True)
class _Task:
    """One table, the rows of the store that are offered to it, and the search's view of both."""

    example: Example
    rows: Sequence[int]
    problem: Problem


class Made(TypedDict):
    """What a row says of how it was made; rows that agree in it can stand in one file."""

    run: str
    policy: str
    rules: list[dict[str, object]]
    weights: str | None
    search: dict[str, object]


class Splicer:
    """Generates text from tables, with a trained policy or, without one, by swapping values."""

    def __init__(
        self,
        *,
        store: Store,
        vocabulary: Vocabulary,
        config: Config,
        policy: Policy | None,
        run: str,
        folder: Run | None = None,
        weights: str | None = None,
    ) -> None:
        self.store = store
        self.vocabulary = vocabulary
        self.config = config
        self.policy = policy
        self.run = run
        self.folder = folder
        self.weights = weights
        self._judges: dict[str, Splicer] = {}
        self._offers = Offers(store, config.neighbors.k, vocabulary)

    @classmethod
    def load(cls, run: Path | str) -> Splicer:
        """Opens a run folder: its weights, its vocabulary, and the texts it splices from."""
        from textsplice.policy.checkpoint import load_policy

        opened = Run.open(run)
        return cls._open(opened, load_policy(opened))

    @classmethod
    def untrained(cls, prepared: Prepared | Path | str) -> Splicer:
        """The swap baseline over a prepared folder, or over the texts of a run."""
        if isinstance(prepared, (str, Path)):
            if Run.is_run(prepared):
                return cls._open(Run.open(prepared), None)
            prepared = Prepared.open(prepared)
        return cls(
            store=prepared.store,
            vocabulary=prepared.vocabulary,
            config=prepared.config,
            policy=None,
            run=prepared.key[:12],
        )

    @classmethod
    def _open(cls, run: Run, policy: Policy | None) -> Splicer:
        return cls(
            store=run.store,
            vocabulary=run.vocabulary,
            config=run.config,
            policy=policy,
            run=run.id,
            folder=run,
            weights=run.weights_id,
        )

    @property
    def kind(self) -> str:
        """`full`, `lrt`, `copy`, or `swap` where there is no policy."""
        return "swap" if self.policy is None else self.config.policy.kind

    @property
    def proof(self) -> Proof:
        """What generations of this run can be verified against."""
        trained = self.policy is not None or self.folder is not None
        policies = {"swap", self.config.policy.kind} if trained else {"swap"}
        return Proof(self.run, frozenset(policies), self.store, self.vocabulary, self.weights)

    @cached_property
    def encodings(self) -> Encodings:
        """The encodings of the store's texts, computed when they are first needed."""
        from textsplice.search.encodings import Encodings

        assert self.policy is not None
        return Encodings(self.policy, self.store, self.folder)

    @cached_property
    def lexicon(self) -> Lexicon | None:
        """How values are worded, if the run's corpus was prepared with a lexicon."""
        return self.folder.lexicon if self.folder else None

    def likelihoods(self, table: Table, texts: Sequence[str]) -> list[float]:
        """Of each text, the mean log-probability of its tokens as texts of this table (LRT, S2S+copy)."""
        from textsplice.policy.token import TokenPolicy

        if not isinstance(self.policy, TokenPolicy):
            raise InputError(
                f"a run of kind {self.kind} has no probability of a text, only of its derivations.",
                where=str(self.folder.path) if self.folder else None,
                remedy="Use a run of kind lrt or copy.",
            )
        task = self._tasks([Example("", table, None)], ())[0]
        numbers = Vocabulary(tuple(task.problem.words), self.vocabulary.embedded)
        tokens = Ragged.from_rows(
            [BEGIN_ID, *numbers.encode(tokenize(text, self.store.tokenizer)), END_ID] for text in texts
        )
        totals = self.policy.log_likelihoods(task.problem.case, tokens, self.encodings.of([task.rows]))
        return (totals.numpy() / (tokens.lengths - 1)).tolist()

    def _judge(self, folder: str) -> Splicer:
        """The run whose opinion of finished texts is asked."""
        if folder not in self._judges:
            found = self.folder.find_judge(folder) if self.folder else Run.open(folder)
            self._judges[folder] = Splicer.load(found.path)
        return self._judges[folder]

    def made(self, search: SearchConfig, rules: Sequence[Rule] = ()) -> Made:
        """How texts are made with these settings."""
        # However many tables are searched at once, their texts are the same.
        settings = {key: value for key, value in asdict(search).items() if key != "batch_size"}
        if search.judge:
            settings["judge"] = self._judge(search.judge).weights  # a folder's name says little elsewhere
        else:
            del settings["judge"]
        return {
            "run": self.run,
            "policy": self.kind,
            "rules": [rule.to_dict() for rule in rules],
            "weights": None if self.policy is None else self.weights,
            "search": settings,
        }

    def generate(self, table: Record, *, rules: Sequence[Rule] = (), beam: int | None = None) -> Generation:
        """The text of one table."""
        return next(self.generate_many([table], rules=rules, beam=beam, progress=False))

    def generate_many(
        self,
        tables: Iterable[Record],
        *,
        beam: int | None = None,
        batch_size: int | None = None,
        progress: bool = True,
        rules: Sequence[Rule] = (),
        search: SearchConfig | None = None,
        total: int | None = None,
    ) -> Iterator[Generation]:
        """The texts of tables, in their order, `batch_size` at a time.

        `search` are settings to use instead of the run's own; `total` is for the bar, where
        `tables` has no length.
        """
        settings = search or self.config.search
        if beam is not None:
            settings = replace(settings, beam=beam)
        if batch_size is not None:
            settings = replace(settings, batch_size=batch_size)
        check_settings(settings)
        if total is None and isinstance(tables, Sequence):
            total = len(tables)
        return self._stream(tables, settings, tuple(rules), total, quiet=not progress)

    def _stream(
        self,
        tables: Iterable[Record],
        settings: SearchConfig,
        rules: tuple[Rule, ...],
        total: int | None,
        *,
        quiet: bool,
    ) -> Iterator[Generation]:
        numbered = enumerate(tables)
        size = settings.batch_size
        with bar(total, "generating", quiet=quiet) as progress:
            while batch := [_example(record, number) for number, record in islice(numbered, size)]:
                if self.policy is None:
                    yield from (self._swap(example, settings, rules) for example in batch)
                else:
                    tasks = self._tasks(batch, rules)
                    for task, outcome in zip(tasks, self._search(tasks, settings), strict=True):
                        yield self._generation(task, outcome, settings)
                progress.advance(len(batch))

    def _swap(self, example: Example, settings: SearchConfig, rules: tuple[Rule, ...]) -> Generation:
        rows = self._offers.find(example.table, rules, reach=REACH)
        neighbors = (
            (self._offers.neighbor(row), self.store.tables[int(self.store.table_of[row])]) for row in rows
        )
        tokenizer = self.store.tokenizer
        table = linearize(example.table, tokenizer)
        window = self.config.neighbors.k
        sources, outcome = swap(SwapTask(table, rules, tokenizer), neighbors, window=window)
        give = _Giver(example, sources, self.vocabulary.words, rules, settings, self, "exact")
        return give.best(outcome.ranked()[: settings.beam], None, outcome.obstacle)

    def _tasks(self, batch: Sequence[Example], rules: tuple[Rule, ...]) -> list[_Task]:
        """What the search is given: words that only these tables have get numbers for the batch."""
        linearized = [linearize(example.table, self.store.tokenizer) for example in batch]
        vocabulary = self.vocabulary.extended(token for each in linearized for token in each.tokens)
        tasks: list[_Task] = []
        for example, table in zip(batch, linearized, strict=True):
            rows = [] if self.kind == "copy" else self._offers.find(example.table, rules)
            sources = Sources(table, tuple(map(self._offers.neighbor, rows)), {})
            case = Case(
                np.array(vocabulary.encode(table.tokens), dtype=np.int32),
                np.array(table.segment_numbers(), dtype=np.int32),
                [self.store.tokens[row] for row in rows],
            )
            tasks.append(_Task(example, rows, Problem(case, sources, rules, vocabulary.words)))
        return tasks

    def _search(self, tasks: Sequence[_Task], settings: SearchConfig) -> list[Outcome]:
        """Searches a batch; one that does not fit into memory is halved until it does."""
        try:
            return self._search_at_once(tasks, settings)
        except (MemoryError, RuntimeError) as error:
            if len(tasks) == 1 or not is_out_of_memory(error):
                raise
        half = len(tasks) // 2
        warnings.warn(
            f"out of memory with {len(tasks)} tables at once; going on with {half}.",
            RuntimeWarning,
            stacklevel=2,
        )
        return [*self._search(tasks[:half], settings), *self._search(tasks[half:], settings)]

    def _search_at_once(self, tasks: Sequence[_Task], settings: SearchConfig) -> list[Outcome]:
        assert self.policy is not None
        from textsplice.policy.full import FullPolicy
        from textsplice.search.beam import search_splices
        from textsplice.search.hypothesis import BeamSettings
        from textsplice.search.tokens import TokenSettings, search_tokens

        problems = [task.problem for task in tasks]
        encodings = self.encodings.of([task.rows for task in tasks])
        by_likelihood = settings.choose == "likelihood" and not settings.slots_first
        starts = max(settings.start_neighbors, 1)
        wanted = 1 if by_likelihood else settings.beam * starts
        if isinstance(self.policy, FullPolicy):
            splices = BeamSettings(settings.beam, settings.max_splices, starts, wanted)
            return search_splices(self.policy, problems, splices, encodings)
        tokens = TokenSettings(
            settings.beam, settings.max_tokens, min(wanted, settings.beam), settings.marginalize
        )
        return search_tokens(self.policy, problems, tokens, encodings)

    def _slips(self, table: Table) -> Slips:
        """How slips with a table's values are counted: by the run's lexicon, if it has one."""
        if self.lexicon is None:
            return slot_slips
        return worded_slips(table, self.lexicon, self.store.tokenizer)

    def _opinion(self, task: _Task, judge: str) -> Judge:
        """How probable another run finds texts of a task's table."""
        words, tokenizer = task.problem.words, self.store.tokenizer

        def opinion(candidates: Sequence[Candidate]) -> list[float]:
            tokens = ([words[n] for n in c.ids if n not in (BEGIN_ID, END_ID)] for c in candidates)
            texts = [detokenize(each, tokenizer) for each in tokens]
            return self._judge(judge).likelihoods(task.example.table, texts)

        return opinion

    def _generation(self, task: _Task, outcome: Outcome, settings: SearchConfig) -> Generation:
        problem = task.problem
        ranked = choose(
            outcome.ranked(),
            problem.sources,
            problem.words,
            by=settings.choose,
            slips=self._slips(task.example.table) if settings.slots_first else None,
            judge=self._opinion(task, settings.judge) if settings.judge else None,
        )
        summed = settings.marginalize and self.kind in ("lrt", "copy")
        give = _Giver(
            task.example,
            problem.sources,
            problem.words,
            problem.rules,
            settings,
            self,
            "most-probable" if summed else "exact",
        )
        return give.best(ranked[: settings.beam], outcome.unfinished, outcome.obstacle)


@dataclass(frozen=True)
class _Giver:
    """Makes generations of what was found for one table."""

    example: Example
    sources: Sources
    words: Sequence[str]
    rules: Sequence[Rule]
    settings: SearchConfig
    splicer: Splicer
    attribution: Attribution

    def best(self, ranked: Sequence[Candidate], unfinished: Candidate | None, obstacle: str) -> Generation:
        """The first of the finished texts, else the unfinished one, else an abstention."""
        if ranked:
            others = tuple(Alternative(self._make(c, "ok").text, c.score) for c in ranked[1:])
            return replace(self._make(ranked[0], "ok"), alternatives=others)
        if unfinished is not None:
            return replace(self._make(unfinished, "unfinished"), reason=UNFINISHED)
        nothing = Candidate((), (), float("-inf"))
        return replace(self._make(nothing, "abstained"), reason=obstacle)

    def _make(self, candidate: Candidate, status: Status) -> Generation:
        return make_generation(
            id=self.example.id,
            table=self.example.table,
            sources=self.sources.using(candidate.splices, self.words),
            splices=candidate.splices,
            score=candidate.score,
            status=status,
            **self.splicer.made(self.settings, self.rules),
            tokenizer=self.splicer.store.tokenizer,
            attribution=self.attribution,
        )


def check_settings(settings: SearchConfig) -> None:
    """`InputError` for settings with which nothing can be found."""
    for name in ("beam", "max_splices", "max_tokens", "batch_size"):
        if getattr(settings, name) < 1:
            raise InputError(
                f"{name} is {getattr(settings, name)}: nothing could be found.",
                remedy="Use 1 or more.",
            )
    if settings.judge and settings.choose == "likelihood":
        raise InputError(
            "a judge has no say where choose is likelihood.",
            remedy='Set search.choose to "typical" or "consensus", or search.judge to "".',
        )


def _example(record: Record, number: int) -> Example:
    if isinstance(record, Example):
        return record
    table = record if isinstance(record, Table) else Table.of(record)
    return Example(str(number), table, None)
