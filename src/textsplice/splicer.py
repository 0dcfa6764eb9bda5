"""`Splicer`: tables in, texts with their proof out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from textsplice.config import Config, SearchConfig, config_from_dict
from textsplice.corpus.like import read_like
from textsplice.corpus.table import Example, Table
from textsplice.errors import InputError, StorageError, VerificationError
from textsplice.neighbors.store import Store
from textsplice.policy.kind import Kind
from textsplice.runs.export import ExportedRun, Source
from textsplice.runs.exporting import export_run
from textsplice.runs.lineage import Earlier, earlier
from textsplice.runs.opening import open_run
from textsplice.runs.prepared import Prepared
from textsplice.runs.recognized import is_export
from textsplice.runs.run import Run
from textsplice.search.approved import APPROVED, ApprovedProposer
from textsplice.search.drafts import DRAFTS, SIMILAR, Derivations, DraftProposer
from textsplice.search.generation import Generation
from textsplice.search.judge import likelihoods
from textsplice.search.offers import Offers
from textsplice.search.pipeline import Made, Pipeline, Record, check_settings
from textsplice.search.proof import Proof
from textsplice.search.propose import PolicyProposer, Proposer
from textsplice.search.rows import no_rows, read_generations
from textsplice.search.rules.registered import rules_from_dicts
from textsplice.search.rules.rule import Rule
from textsplice.search.swap import SWAP, SwapProposer
from textsplice.search.verify import verify as verify_generation
from textsplice.slots.lexicon import Lexicon
from textsplice.text.vocabulary import Vocabulary
from textsplice.trace.drift import Held
from textsplice.trace.opening import open_texts
from textsplice.trace.texts import SourceTexts
from textsplice.trace.tracing import Tracer
from textsplice.trace.verifying import Witness, untrue

if TYPE_CHECKING:
    from textsplice.policy.policy import Policy
    from textsplice.search.encodings import Encodings


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
        folder: Run | ExportedRun | None = None,
        weights: str | None = None,
        old: bool = False,
    ) -> None:
        self.store = store
        self.vocabulary = vocabulary
        self.config = config
        self.policy = policy
        self.run = run
        self.folder = folder
        self.weights = weights
        self.old = old  # made by version 0.1
        self._origin: Run | ExportedRun | Prepared | None = None  # what the store was loaded from
        self._judges: dict[str, Splicer] = {}
        self._offers = Offers(store, config.neighbors.k, vocabulary)

    @classmethod
    def load(cls, run: Path | str, *, store: Source | Path | str | None = None) -> Splicer:
        """Opens a run folder: its weights, its vocabulary, and the texts it splices from.

        An export has no texts: it takes them from `store`, a prepared folder of the same corpus, or a run.
        """
        from textsplice.policy.checkpoint import load_policy

        opened = open_run(run, store)
        return cls._open(opened, load_policy(opened))

    @classmethod
    def untrained(
        cls, prepared: Prepared | Path | str, *, store: Source | Path | str | None = None
    ) -> Splicer:
        """The swap baseline over a prepared folder, or over the texts of a run, or over those of `store`."""
        if isinstance(prepared, (str, Path)):
            if store is not None or Run.is_run(prepared) or is_export(prepared):
                return cls._open(open_run(prepared, store), None)
            prepared = Prepared.open(prepared)
        made = cls(
            store=prepared.store,
            vocabulary=prepared.vocabulary,
            config=prepared.config,
            policy=None,
            run=prepared.key[:12],
            old=not prepared.manifest.is_signed,
        )
        made._origin = prepared
        return made

    @classmethod
    def _open(cls, run: Run | ExportedRun, policy: Policy | None) -> Splicer:
        made = cls(
            store=run.store,
            vocabulary=run.vocabulary,
            config=run.config,
            policy=policy,
            run=run.id,
            folder=run,
            weights=run.weights_id,
            old=isinstance(run, Run) and run.is_of_first_version,
        )
        made._origin = run
        return made

    def export(
        self,
        folder: Path | str,
        *,
        figures: Sequence[Path | str] = (),
        license: str = "",  # noqa: A002 - as the option is called
        note: str = "",
    ) -> Path:
        """Writes its run as a small folder without texts, which `load` opens with `store`; says where."""
        if self.folder is None:
            raise InputError(
                "only a run on disk can be exported.", remedy="Train one with `textsplice train CONFIG`."
            )
        return export_run(self.folder.path, folder, figures=figures, license=license, note=note).path

    def with_neighbors(self, k: int) -> Splicer:
        """The same splicer with another number of neighbors; encodings are shared."""
        changed = copy(self)
        changed.config = replace(self.config, neighbors=replace(self.config.neighbors, k=k))
        changed._offers = Offers(self.store, k, self.vocabulary)
        if self.policy is not None:
            changed.encodings = self.encodings
        return changed

    @property
    def kind(self) -> Kind:
        """What its policy says of itself; `SWAP` if there is none."""
        return SWAP if self.policy is None else self.policy.kind

    @property
    def proof(self) -> Proof:
        """What generations of this run can be verified against."""
        trained = self.policy is not None or self.folder is not None
        policies = {SWAP.name, DRAFTS.name, self.config.policy.kind} if trained else {SWAP.name}
        if self.store.approved or self._lineage:  # an earlier store may have had approved texts
            policies.add(APPROVED.name)
        return Proof(self.run, frozenset(policies), self._offers, self.config, self.weights, self.old)

    @cached_property
    def encodings(self) -> Encodings:
        """The encodings of the store's texts, computed when they are first needed."""
        from textsplice.search.encodings import Encodings

        # An export stays as it is: its encodings are held in memory.
        place = self.folder if isinstance(self.folder, Run) else None
        return Encodings(self._trained(), self.store, place)

    @cached_property
    def lexicon(self) -> Lexicon | None:
        """How values are worded, if the corpus of the run was prepared with a lexicon."""
        found = self.folder.lexicon if self.folder else None
        return found and found.with_kinds(self.store.kinds)

    @cached_property
    def wordings(self) -> Lexicon | None:
        """The lexicon of the run, or of the prepared folder that swap is over, to look at texts with."""
        found = None if self._origin is None else self._origin.lexicon
        return found and found.with_kinds(self.store.kinds)

    def generate(
        self,
        table: Record,
        *,
        rules: Sequence[Rule] = (),
        beam: int | None = None,
        alternatives: int | None = None,
    ) -> Generation:
        """The text of one table."""
        made = self.generate_many([table], rules=rules, beam=beam, alternatives=alternatives, progress=False)
        return next(made)

    def generate_many(
        self,
        tables: Iterable[Record],
        *,
        beam: int | None = None,
        alternatives: int | None = None,
        batch_size: int | None = None,
        progress: bool = True,
        rules: Sequence[Rule] = (),
        search: SearchConfig | None = None,
        total: int | None = None,
    ) -> Iterator[Generation]:
        """The texts of tables, in their order, `batch_size` at a time.

        `alternatives` is how many other texts are given with each; without them the text is the same.
        `search` replaces the run's own settings. `total` is for the progress bar, if `tables` has no length.
        """
        search = search or self.config.search
        changes = {"beam": beam, "alternatives": alternatives, "batch_size": batch_size}
        search = replace(search, **{key: value for key, value in changes.items() if value is not None})
        check_settings(search)
        if self.policy is not None:
            from textsplice.policy.device import resolve

            self.policy.to(resolve(search.device, where="search.device"))
        if total is None and isinstance(tables, Sequence):
            total = len(tables)
        return self._pipeline(search).generations(
            tables, search, tuple(rules), total=total, quiet=not progress
        )

    def generate_again(
        self, generations: Iterable[Generation], *, progress: bool = True
    ) -> Iterator[Generation]:
        """The same tables once more by this splicer, under the rules and search settings that they name."""

        def asked(generation: Generation) -> str:
            return json.dumps([generation.rules, generation.search], sort_keys=True)

        for _, alike in groupby(generations, asked):
            rows = list(alike)
            said = rows[0].search
            search = config_from_dict({"search": said}, rows[0].id).search if said else self.config.search
            # A row names its judge, its writers and its lexicon by ids, not by where they are.
            known = self.config.search
            search = replace(
                search,
                judge=known.judge if search.judge else "",
                writers=known.writers if search.writers else (),
                lexicon=known.lexicon if search.lexicon else "",
            )
            yield from self.generate_many(
                [Example(row.id, row.table, None) for row in rows],
                rules=rules_from_dicts(rows[0].rules, rows[0].id),
                search=search,
                progress=progress,
            )

    @cached_property
    def tracer(self) -> Tracer:
        """Traces texts to all texts of the store."""
        if self._origin is not None:
            with suppress(StorageError):  # the folder was moved or removed, or is no longer what was loaded
                kept = open_texts(self._origin)
                if (kept.ids[:], kept.texts[:]) == (self.store.ids, self.store.texts):
                    return Tracer(kept, self.store.unsaid)
        return self._new_tracer()

    def _new_tracer(self) -> Tracer:
        texts = SourceTexts.of_store(self.store, self.vocabulary.words, self.run)
        return Tracer(texts, self.store.unsaid)

    @property
    def witness(self) -> Witness:
        """What it can say of rows, its own and those of stores that it was made from."""
        store = self.store
        held = Held(
            self.run,
            store.ids,
            store.texts,
            self._offers.neighbor,
            store.tokenizer,
            self._lineage,
        )
        # An export may have other texts than its run; what is kept of texts could have been changed.
        is_run = self.folder is not None and self.run == self.folder.about.get("id")
        return Witness(held, self.proof, self._new_tracer, self._left_of if is_run else None)

    @property
    def _lineage(self) -> dict[str, Earlier]:
        return earlier(self.folder.about) if self.folder else {}

    def _left_of(self, run: str) -> Witness:
        """What is left of a run that this one was made from: all but the texts that were added since."""
        then = self._lineage[run]
        store = self.store.only(np.array([name not in then.added for name in self.store.ids]))
        store = replace(store, approved=store.approved[: then.approved])
        offers = Offers(store, self._offers.k, self.vocabulary)
        held = Held(run, store.ids, store.texts, offers.neighbor, store.tokenizer)
        sources = partial(SourceTexts.of_store, store, self.vocabulary.words, run)
        return Witness(held, replace(self.proof, run=run, offers=offers), lambda: Tracer(sources()))

    def trace(
        self, text: str, table: Table | Mapping[str, object] | None = None, *, exact: bool = True
    ) -> Generation:
        """The fewest splices that make any text from the table, if given, and all texts of the store.

        A word that stands in none of them is a gap. Unless `exact`, only texts that share much with it are
        looked at; `certificate` says which of the two it was. The table is read as `generate` reads it.
        """
        return self.tracer.trace(text, self.read(table) if table else None, exact=exact)

    def read(self, table: Table | Mapping[str, object]) -> Table:
        """A record as the texts of the store say it: 10500 as £10,500, if they do."""
        return read_like(table if isinstance(table, Table) else Table.of(table), self.config.corpus)

    def made(self, search: SearchConfig, rules: Sequence[Rule] = ()) -> Made:
        """How texts are made with these settings, as their rows say it."""
        return self._pipeline(search).made(search, rules)

    def likelihoods(self, table: Table, texts: Sequence[str]) -> list[float]:
        """The mean log-probability per token of each text, as a text of this table (LRT, S2S+copy)."""
        proposer = PolicyProposer(self._trained(), self._offers, self.encodings)
        return likelihoods(proposer, table, texts, where=str(self.folder.path) if self.folder else self.run)

    @property
    def proposer(self) -> Proposer:
        """Where candidates come from: the policy or, without one, swap."""
        if self.policy is None:
            return SwapProposer(self._offers)
        return PolicyProposer(self.policy, self._offers, self.encodings)

    @cached_property
    def _derivations(self) -> Derivations:
        return Derivations(self._offers)

    def _drafts(self, search: SearchConfig) -> DraftProposer:
        """Derives the texts of the runs that write, or of this one."""
        writers = search.writers
        runs = [self._judge(writer) for writer in writers] or [self]
        proposers: list[PolicyProposer] = []
        for run in runs:
            if run.policy is None or run.policy.kind.writes != "tokens":
                raise InputError(
                    f"the {run.kind.name!r} run {run.run} writes no drafts.",
                    where="search.writers" if writers else "search.proposers",
                    remedy="Drafts are written by lrt and copy runs: name one in search.writers.",
                )
            if run.store.tokenizer != self.store.tokenizer:
                raise InputError(
                    f"the run {run.run} reads text as {run.store.tokenizer!r}, this one as "
                    f"{self.store.tokenizer!r}: its words are not those of the store.",
                    where="search.writers",
                    remedy="Name writers that were prepared with the same text.tokenizer.",
                )
            proposers.append(PolicyProposer(run.policy, run._offers, run.encodings))
        swap = SwapProposer(self._offers, SIMILAR) if search.swap_writes else None
        return DraftProposer(tuple(proposers), self._derivations, swap)

    def _proposers(self, search: SearchConfig) -> tuple[Proposer, ...]:
        """Who is asked, in order; without a policy swap alone."""
        if self.policy is None:
            return (self.proposer,)
        known: dict[str, Callable[[], Proposer]] = {
            "policy": lambda: self.proposer,
            "drafts": lambda: self._drafts(search),
            "swap": lambda: SwapProposer(self._offers),
        }
        return tuple(known[name]() for name in search.proposers)

    def _lexicon_for(self, search: SearchConfig) -> Lexicon | None:
        """The lexicon that a search names, or that of the run."""
        if not search.lexicon:
            return self.lexicon
        return Lexicon.load(search.lexicon).with_kinds(self.store.kinds)

    def _pipeline(self, search: SearchConfig) -> Pipeline:
        weights = None if self.policy is None else self.weights
        return Pipeline(
            self._proposers(search),
            self.run,
            weights,
            self.store.tokenizer,
            self._lexicon_for(search),
            self._judge,
            self.config.corpus.max_table_tokens,
            self._offers,
            ApprovedProposer(self._offers) if search.approved_first and self.store.approved else None,
            self.config.corpus.asked,
            self.config.corpus.forms,
            self.wordings,
        )

    def _trained(self) -> Policy:
        if self.policy is None:
            raise InputError(
                f"{self.kind.name} has no policy.", remedy="Train one with `textsplice train CONFIG`."
            )
        return self.policy

    def _judge(self, folder: str) -> Splicer:
        """The run whose likelihood has a say in the choice."""
        if folder not in self._judges:
            found = self.folder.find_judge(folder) if self.folder else Path(folder)
            origin = self._origin.source if isinstance(self._origin, ExportedRun) else self._origin
            self._judges[folder] = Splicer.load(found, store=origin if is_export(found) else None)
        return self._judges[folder]


def verify(
    generations: Path | str | Generation | Iterable[Generation],
    run: Path | str | Splicer | None = None,
    *,
    store: Source | Path | str | None = None,
    rules: Sequence[Rule] | None = None,
    search: SearchConfig | None = None,
) -> int:
    """Replays generations, or those in a file, and compares what their splices make with what they say.

    With `run`, they must also be what that run can have made: its neighbors, words, policy, weights,
    tokenizer and limits; traces are traced again. A run that texts were added to can say the same of texts
    that were made before. An export needs the `store` of its texts. With `rules`,
    they must have been made under these rules, with `search` under these settings, which then replace the
    run's own limits. Returns their number; raises `VerificationError`, which names the row and the first
    thing that is not so.
    """
    splicer = run if run is None or isinstance(run, Splicer) else Splicer.untrained(run, store=store)
    witness = None if splicer is None else splicer.witness
    if isinstance(generations, Generation):
        generations = [generations]
    rows = (
        read_generations(Path(generations), exact=True)
        if isinstance(generations, (str, Path))
        else ((generation.id, generation) for generation in generations)
    )
    count = 0
    for where, generation in rows:
        maker = witness and (witness.maker_of(generation) or witness)
        verify_generation(generation, maker and maker.proof, asked=rules, search=search, where=where)
        if maker is not None and (lie := untrue(generation, maker)):
            raise VerificationError(f"{lie}.", where=f"{where}, row {generation.id!r}")
        count += 1
    if not count and isinstance(generations, (str, Path)):
        raise no_rows(Path(generations))
    return count
