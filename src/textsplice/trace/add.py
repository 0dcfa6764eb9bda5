"""Adding approved texts to a run or prepared folder: the inverse of withdrawing, and nothing is trained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from textsplice.config import Config
from textsplice.corpus import Example, read_corpus
from textsplice.corpus.like import read_like
from textsplice.errors import StorageError
from textsplice.neighbors.store import Store
from textsplice.prepare.again import require_absent
from textsplice.prepare.growing import Given, Growth, grow, plan_growth, words_of
from textsplice.prepare.grown import prepare_with
from textsplice.runs.lineage import grown_from, ids_ever_used, store_hash
from textsplice.runs.prepared import Prepared
from textsplice.runs.recognized import is_export
from textsplice.runs.run import Run
from textsplice.search.encodings import Encodings

Opened = Run | Prepared


@dataclass(frozen=True)
class Added:
    """What became of the texts that were to be added, and the folder that has them."""

    folder: Path
    ids: tuple[str, ...]  # of the texts that are new
    approved: tuple[str, ...]  # ids of texts that were there before and are approved now
    duplicates: int  # texts that were there already, with the same record
    left_out: int  # rows without a text


def add(
    store: Path | str,
    texts: Path | str | Iterable[Example],
    out: Path | str,
    *,
    split: str | None = None,
    text_column: str | None = None,
    new_ids: bool = False,
    quiet: bool = True,
) -> Added:
    """Writes a run or prepared folder into a new one that also has these approved texts.

    `texts` is anything that `read_corpus` reads, a run or prepared folder, or examples. Where a record is the
    very same as that of an added text, `generate` gives that text as it is. Nothing is trained.
    """
    addition = Addition.open(store, texts, split=split, text_column=text_column, new_ids=new_ids)
    return addition.write(Path(out), quiet=quiet)


@dataclass(frozen=True)
class Addition:
    """Approved texts for a run or prepared folder, looked at and not written yet."""

    opened: Opened
    growth: Growth

    @classmethod
    def open(
        cls,
        store: Path | str,
        texts: Path | str | Iterable[Example],
        *,
        split: str | None = None,
        text_column: str | None = None,
        new_ids: bool = False,
    ) -> Addition:
        """Reads both; an error if one of the texts can't be added."""
        opened = open_store(store)
        if isinstance(texts, (str, Path)):
            given, where = _read(texts, opened.config, split, text_column), str(texts)
        else:
            read = (replace(each, table=read_like(each.table, opened.config.corpus)) for each in texts)
            given, where = (Given(example, named=True) for example in read), "the texts"
        if new_ids:
            given = (each._replace(named=False) for each in given)
        taken = ids_ever_used(opened.about) if isinstance(opened, Run) else set[str]()
        return cls(opened, plan_growth(opened.store, opened.config, given, taken=taken, where=where))

    @cached_property
    def added(self) -> Added:
        """What becomes of the texts; the folder is the one that is there."""
        growth, store = self.growth, self.opened.store
        folder = self.opened.path if isinstance(self.opened, Run) else self.opened.folder
        known = tuple(dict.fromkeys(store.ids[row] for row in growth.known))
        return Added(folder, tuple(growth.ids), known, growth.duplicates, growth.left_out)

    def require_writable(self, out: Path) -> None:
        """`StorageError` if the new folder is there already, or holds something else."""
        if isinstance(self.opened, Run):
            Run.require_absent(out)
        else:
            require_absent(out)

    def write(self, out: Path, *, quiet: bool = True) -> Added:
        """Writes the new folder, whole or not at all."""
        self.require_writable(out)
        if isinstance(self.opened, Run):
            _grow_run(self.opened, self.growth, out, quiet=quiet)
        else:
            prepare_with(self.opened, self.growth, out, quiet=quiet)
        added = self.added
        return Added(out, added.ids, added.approved, added.duplicates, added.left_out)


def open_store(store: Path | str) -> Opened:
    """The run or prepared folder that texts can be added to."""
    if is_export(store):
        raise StorageError(
            "is an export, which has no texts of its own, so none can be added to it.",
            where=str(store),
            remedy="Add them to the prepared folder (or run) that you give it with --store.",
        )
    if Run.is_run(store):
        return Run.open(store)
    if Prepared.is_prepared(store):
        return Prepared.open(store)
    raise StorageError(
        "is neither a run nor a prepared folder, so no text can be added to it.",
        where=str(store),
        remedy="Name a folder that `train` or `prepare` made; a corpus is your own file.",
    )


def _read(texts: Path | str, config: Config, split: str | None, text_column: str | None) -> Iterator[Given]:
    """The rows of a file, or the texts of a run or prepared folder."""
    if Run.is_run(texts) or Prepared.is_prepared(texts) or is_export(texts):
        store = (Run.open(texts) if not Prepared.is_prepared(texts) else Prepared.open(texts)).store
        return (Given(example, named=True) for example in _examples(store))
    split = split or (None if Path(texts).is_file() else "train")
    corpus = read_corpus(texts, split, text_column=text_column, like=config.corpus, finished=True)
    return (
        Given(example, named=example.id != corpus.default_id(number))
        for number, example in enumerate(corpus, start=1)
    )


def _examples(store: Store) -> Iterator[Example]:
    for row, (name, text) in enumerate(zip(store.ids, store.texts, strict=True)):
        yield Example(name, store.tables[int(store.table_of[row])], text)


def _grow_run(run: Run, growth: Growth, out: Path, *, quiet: bool) -> Run:
    words = run.vocabulary.extended(words_of(growth, run.config))
    store = grow(run.store, words, growth, run.config, run.lexicon)
    before = grown_from(run.about, run.store, run.vocabulary.words, growth.ids)
    changes = ["added", store_hash(store)]

    def encode(new: Run) -> None:
        """The encodings of old texts are taken over, if they were kept; only new ones are computed."""
        if run.encodings.exists():
            from textsplice.policy.checkpoint import load_policy

            policy = load_policy(run)
            known = Encodings(policy, run.store, run)
            Encodings(policy, new.store, new).save(known=known, quiet=quiet)

    return run.with_store(store, words, out, before, [changes], encode)
