"""`Splicer`: tables in, texts with their proof out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from textsplice.config import Config, SearchConfig, load_config
from textsplice.corpus.table import Table
from textsplice.errors import InputError, StorageError
from textsplice.files import file_hash
from textsplice.neighbors.store import Store
from textsplice.policy.kind import Kind
from textsplice.search.generation import Generation
from textsplice.search.judge import likelihoods
from textsplice.search.offers import Offers
from textsplice.search.pipeline import Made, Pipeline, Record, check_settings
from textsplice.search.propose import PolicyProposer, Proposer
from textsplice.search.rules.rule import Rule
from textsplice.search.swap import SWAP, SwapProposer
from textsplice.search.verify import Proof
from textsplice.slots.lexicon import Lexicon
from textsplice.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from textsplice.policy.policy import Policy
    from textsplice.prepare.folder import Prepared
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
        folder: Path | None = None,
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

        folder = Path(run)
        if not (folder / "run.json").is_file():
            raise StorageError(
                "is not the folder of a run: it has no run.json.",
                where=str(folder),
                remedy="Train one with `textsplice train CONFIG`.",
            )
        return cls._open(folder, load_policy(folder))

    @classmethod
    def untrained(cls, prepared: Prepared | Path | str) -> Splicer:
        """The swap baseline over a prepared folder, or over the texts of a run."""
        if isinstance(prepared, (str, Path)):
            folder = Path(prepared)
            if (folder / "run.json").is_file():
                return cls._open(folder, None)
            from textsplice.prepare.folder import Prepared

            prepared = Prepared.open(folder)
        return cls(
            store=prepared.store,
            vocabulary=prepared.vocabulary,
            config=prepared.config,
            policy=None,
            run=prepared.key[:12],
        )

    @classmethod
    def _open(cls, folder: Path, policy: Policy | None) -> Splicer:
        weights = folder / "model.safetensors"
        return cls(
            store=Store.load(folder / "store"),
            vocabulary=Vocabulary.load(folder / "vocab.json"),
            config=load_config(folder / "config.toml"),
            policy=policy,
            run=_run_id(folder),
            folder=folder,
            weights=file_hash(weights)[:12] if weights.is_file() else None,
        )

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
        policies = {SWAP.name, self.config.policy.kind} if trained else {SWAP.name}
        return Proof(self.run, frozenset(policies), self.store, self.vocabulary, self.weights)

    @cached_property
    def encodings(self) -> Encodings:
        """The encodings of the store's texts, computed when they are first needed."""
        from textsplice.search.encodings import Encodings

        return Encodings(self._trained(), self.store, self.folder)

    @cached_property
    def lexicon(self) -> Lexicon | None:
        """How values are worded, if the corpus of the run was prepared with a lexicon."""
        path = self.folder / "lexicon.toml" if self.folder else None
        return Lexicon.load(path) if path and path.is_file() else None

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

        `search` replaces the run's own settings. `total` is for the progress bar, if `tables` has no length.
        """
        search = search or self.config.search
        changes = {"beam": beam, "batch_size": batch_size}
        search = replace(search, **{key: value for key, value in changes.items() if value is not None})
        check_settings(search)
        if self.policy is not None:
            from textsplice.policy.device import resolve

            self.policy.to(resolve(search.device, where="search.device"))
        if total is None and isinstance(tables, Sequence):
            total = len(tables)
        return self._pipeline().generations(tables, search, tuple(rules), total=total, quiet=not progress)

    def made(self, search: SearchConfig, rules: Sequence[Rule] = ()) -> Made:
        """How texts are made with these settings, as their rows say it."""
        return self._pipeline().made(search, rules)

    def likelihoods(self, table: Table, texts: Sequence[str]) -> list[float]:
        """The mean log-probability per token of each text, as a text of this table (LRT, S2S+copy)."""
        proposer = PolicyProposer(self._trained(), self._offers, self.encodings)
        return likelihoods(proposer, table, texts, where=str(self.folder))

    @property
    def proposer(self) -> Proposer:
        """Where candidates come from: the policy or, without one, swap."""
        if self.policy is None:
            return SwapProposer(self._offers)
        return PolicyProposer(self.policy, self._offers, self.encodings)

    def _pipeline(self) -> Pipeline:
        weights = None if self.policy is None else self.weights
        return Pipeline(self.proposer, self.run, weights, self.store.tokenizer, self.lexicon, self._judge)

    def _trained(self) -> Policy:
        if self.policy is None:
            raise InputError(
                f"{self.kind.name} has no policy.", remedy="Train one with `textsplice train CONFIG`."
            )
        return self.policy

    def _judge(self, folder: str) -> Splicer:
        """The run whose likelihood has a say in the choice."""
        if not (Path(folder) / "run.json").is_file():
            raise StorageError(
                "is not the folder of a run, but search.judge names it.",
                where=folder,
                remedy="Train that run first, or do without it: --set search.judge=''.",
            )
        if folder not in self._judges:
            self._judges[folder] = Splicer.load(folder)
        return self._judges[folder]


def _run_id(folder: Path) -> str:
    path = folder / "run.json"
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StorageError(f"can't be read: {error}.", where=str(path)) from error
    match about:
        case {"id": str(name)}:
            return name
        case _:
            raise StorageError(
                "does not say the run's id.", where=str(path), remedy="Copy it again from its run."
            )
