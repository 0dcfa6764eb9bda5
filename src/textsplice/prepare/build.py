"""`prepare`: runs the stages whose inputs or settings changed, and leaves the others alone.

    texts ──► words ──► encoded ──► store ──► neighbors ──► derivations ──► vocabulary

A stage's key hashes its settings and the keys of what it reads. Files appear whole, the manifest is written
after them, and both are the same bytes every time: a run that was killed goes on where it stopped and
ends with the folder that an undisturbed run makes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from textsplice.arrow import column_ints, column_ragged, read_columns
from textsplice.config import Config, NeighborsConfig, OutputConfig, load_config, to_toml
from textsplice.corpus import Corpus
from textsplice.corpus.lists import described
from textsplice.corpus.table import Example
from textsplice.engine import Engine
from textsplice.errors import ConfigError, CorpusError
from textsplice.files import atomic_write_text, file_hash
from textsplice.neighbors.scores import score_named
from textsplice.neighbors.store import Store
from textsplice.prepare import stages
from textsplice.prepare.bulk import BulkRows, bulk_work
from textsplice.prepare.inputs import SplitInputs
from textsplice.prepare.texts import Tokenized, as_read, open_split, tokenized_examples, write_texts
from textsplice.progress import bar
from textsplice.ragged import Ragged
from textsplice.runs.findings import read_findings, write_findings
from textsplice.runs.manifest import Manifest, key_of
from textsplice.runs.parts import Parts
from textsplice.runs.prepared import Prepared, claimed
from textsplice.runs.prepared_files import TARGETS, PreparedFiles
from textsplice.slots.kinds import alike_fields, chosen_kinds, decide, kinds_of
from textsplice.slots.lexicon import Lexicon, lexicon_path
from textsplice.slots.placeholders import told_placeholders
from textsplice.slots.wordings import FieldKind
from textsplice.text import Vocabulary
from textsplice.text.delexicalize import delexicalize
from textsplice.text.linearize import Unsaid

VERSION = 1  # of the stages: raise it when one of them writes something else from the same input
EXAMPLES_A_PART = 50_000
NOT_OF_TEXTS = (
    *("source", "splits", "decontaminate", "targets", "target_alternatives"),
    *("lists", "list_columns", "asked", "forms", "placeholders", "kinds"),
)

Report = Callable[[str], None]
# Where a folder is does not belong to what it holds; earlier versions wrote this in its place.
NOT_SAID = OutputConfig("prepared/bundled", "runs/bundled")


def prepare(
    config: Config | Path | str,
    *,
    folder: Path | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
    parts: Path | None = None,
    report: Report = lambda _line: None,
    quiet: bool = False,
) -> Prepared:
    """Brings the prepared folder up to date with a configuration, or the TOML file of one, and opens it.

    Only what changed since the last time is made again. `report` is called with a line per stage. With an
    `engine`, neighbors and derivations are found by its workers; finished parts are kept beside the folder,
    or in `parts`.
    """
    config = config if isinstance(config, Config) else load_config(config)
    if "train" not in config.corpus.splits:
        raise ConfigError("corpus.splits must hold 'train'.", where="config")
    chosen_kinds(config.corpus.kinds)  # one that is none is refused before anything is written
    score_named(config.neighbors.score)  # an unknown score is refused before anything is written
    target = folder or Path(config.prepared_folder)
    with claimed(target) as manifest:
        config = replace(config, corpus=as_read(config.corpus))
        if config.corpus.list_columns:
            told = described(config.corpus.list_columns)
            what = f"cells are read as lists in {told}; corpus.lists can say otherwise."
            report(f"{config.corpus.source}: {what}")
        if texts := config.corpus.placeholders:
            report(f"texts that stand where nobody has written one are left out: {told_placeholders(texts)}.")
        given = (config, manifest, threads or os.cpu_count() or 1, report, quiet)
        if engine is None:
            build = Build(*given)
            build.run()
        else:
            with Parts.opened(parts or Path(f"{target}.parts"), keep=parts is not None) as place:
                build = Build(*given, engine, place)
                build.run()
        if not build.made:
            report(f"{target} is up to date: nothing to do.")
    return Prepared.open(target)


class Build:
    """One run of `prepare`: the configuration, the folder, and what has been made."""

    def __init__(
        self,
        config: Config,
        manifest: Manifest,
        threads: int,
        report: Report,
        quiet: bool,
        engine: Engine | None = None,
        place: Parts | None = None,
    ) -> None:
        self.config = config
        self.files = PreparedFiles(manifest.folder)
        self.manifest = manifest
        self.threads = threads
        self.report = report
        self.quiet = quiet
        self.engine, self.place = engine, place
        self.keys: dict[str, str] = {}
        self.made: list[str] = []
        self.kinds: Mapping[str, FieldKind] = {}
        self.alike: tuple[str, ...] = ()

    def run(self) -> None:
        """All stages in order."""
        splits = (*self.config.corpus.splits, *self._target_splits())
        self.kinds = self._kinds()
        lexicon = self._lexicon()
        lexicon = lexicon and lexicon.with_kinds(self.kinds)
        # Train comes last: what it is cleaned of must be read before it.
        for split in (*(s for s in splits if s != "train"), "train"):
            self._texts(split, lexicon)
        self._words(splits)
        for split in splits:
            self._encoded(split)
        self._store()
        for split in splits:
            self._neighbors_and_derivations(split)
        self._vocabulary()
        self._settings()
        self.manifest.keep_only(list(self.keys))

    def _target_splits(self) -> tuple[str, ...]:
        """The splits for which other texts are learned from than their own."""
        corpus = self.config.corpus
        return tuple(f"{TARGETS}{s}" for s in corpus.splits if s in ("train", "dev") and corpus.targets)

    @contextmanager
    def _stage(self, name: str, files: Sequence[Path], *inputs: object) -> Generator[bool]:
        """Yields whether the stage must be made; if so, its files are recorded when the block ends."""
        key = key_of(VERSION, name, inputs)
        self.keys[name] = key
        if self.manifest.is_fresh(name, key):
            yield False
            return
        self.manifest.announce(*files)
        yield True
        self.manifest.record(name, key, files)
        self.made.append(name)
        self.report(f"made {name}")

    def _lexicon(self) -> Lexicon | None:
        """The lexicon, of which the folder keeps a copy for its runs; None if there is none."""
        if not self.config.text.lexicon:
            return None
        path = lexicon_path(self.config.text.lexicon)
        with self._stage("lexicon", [self.files.lexicon], file_hash(path)) as needed:
            if needed:
                Lexicon.load(path)  # what can't be read is refused before it is copied
                atomic_write_text(self.files.lexicon, path.read_text(encoding="utf-8"))
        return Lexicon.load(self.files.lexicon)

    def _kinds(self) -> Mapping[str, FieldKind]:
        """What kinds of fields there are; nothing if the configuration does not ask for it."""
        corpus = self.config.corpus
        if not corpus.kinds:
            return {}
        source = open_split(corpus, "train")
        with self._stage(
            "kinds",
            [self.files.kinds],
            corpus.kinds,
            self._text_settings(source),
            [file_hash(path) for path in source.files],
        ) as needed:
            if needed:
                with bar(None, "kinds of fields", quiet=self.quiet):
                    write_findings(self.files.kinds, decide(source, corpus.kinds))
        findings = read_findings(self.files.kinds)
        self.alike = alike_fields(findings)
        return kinds_of(findings)

    def _text_settings(self, source: Corpus) -> dict[str, object]:
        """The settings that texts depend on."""
        settings = {k: v for k, v in asdict(self.config.corpus).items() if k not in NOT_OF_TEXTS}
        if source.cut_version is not None:
            settings["cut"] = source.cut_version
        return settings

    def _texts(self, split: str, lexicon: Lexicon | None) -> None:
        corpus = self.config.corpus
        tokenizer = self.config.text.tokenizer
        source = open_split(corpus, split)
        cleaned_of = corpus.decontaminate if split == "train" else ()
        unknown = set(cleaned_of) - set(corpus.splits)
        if unknown:
            raise ConfigError(
                f"corpus.decontaminate names {sorted(unknown)[0]!r}, which is no split.", where="config"
            )
        settings = self._text_settings(source)
        if split.startswith(TARGETS):
            settings["target_alternatives"] = corpus.target_alternatives
        if corpus.list_columns and not split.startswith(TARGETS):
            settings["lists"] = corpus.list_columns
        if corpus.asked:
            settings["asked"] = corpus.asked
        if corpus.forms:
            settings["forms"] = corpus.forms
        if corpus.placeholders:
            settings["placeholders"] = corpus.placeholders
        files = (self.files.texts(split), self.files.tables(split))
        with self._stage(
            f"texts/{split}",
            files,
            settings,
            tokenizer,
            [file_hash(path) for path in source.files],
            [self.keys[f"texts/{name}"] for name in cleaned_of],
            self.keys.get("lexicon"),
            *([dict(self.kinds)] if self.kinds else []),
        ) as needed:
            if not needed:
                return
            empty: list[Example] = []
            unsaid = Unsaid.of_kinds(self.kinds)
            examples = tokenized_examples(source, split, corpus, tokenizer, unsaid, empty.append)
            if cleaned_of:
                leaked = {shape for name in cleaned_of for shape in stages.shapes(self.files, name)}
                examples = (item for item in examples if _shape(item) not in leaked)
            with bar(None, f"reading {split}", quiet=self.quiet) as progress:
                count = write_texts(examples, *files, progress.advance, lexicon)
            if empty:
                rows = "1 training row has" if len(empty) == 1 else f"{len(empty):,} training rows have"
                self.report(f"{rows} no text and are left out; the first is {empty[0].id!r}.")
            if not count:
                raise CorpusError(
                    f"the split {split!r} holds no example.",
                    where=source.source,
                    remedy="Of a corpus in one file a tenth of the tables goes here: give more of them, "
                    'or set corpus.splits to ["train"].',
                )

    def _words(self, splits: Sequence[str]) -> None:
        least = self.config.vocabulary.embed_min_count
        texts = [self.keys[f"texts/{split}"] for split in splits]
        with self._stage("words", [self.files.words], splits, least, texts) as needed:
            if needed:
                stages.build_words(self.files, splits, least).save(self.files.words)

    def _encoded(self, split: str) -> None:
        prepared = self.files
        files = [prepared.encoded_texts(split), prepared.encoded_tables(split)]
        inputs = (self.keys["words"], self.keys[f"texts/{split}"])
        with self._stage(f"encoded/{split}", files, inputs) as needed:
            if needed:
                words = Vocabulary.load(prepared.words)
                stages.encode(prepared.texts(split), files[0], words)
                stages.encode(prepared.tables(split), files[1], words)

    def _store(self) -> None:
        folder = self.files.store
        key = key_of(VERSION, "store", self._store_inputs())
        self.keys["store"] = key
        if self.manifest.is_fresh("store", key):
            return
        self.manifest.announce(folder)
        with bar(None, "masking and indexing", quiet=self.quiet):
            self._built_store().save(folder)
        self.manifest.record("store", key, [path for path in folder.rglob("*") if path.is_file()])
        self.made.append("store")
        self.report("made store")

    def _store_inputs(self) -> tuple[object, ...]:
        """What the store is made of."""
        masked, settings = self.config.text.mask, self.config.neighbors
        inputs = (self.keys["encoded/train"], masked, settings.fold, settings.verbatim)
        # Keys of the default score are those of folders made before there was a choice.
        named = () if settings.score == NeighborsConfig().score else (settings.score,)
        alike = (self.alike,) if self.alike else ()
        return (*inputs, *named, dict(self.kinds), *alike) if self.kinds else (*inputs, *named)

    def _built_store(self) -> Store:
        settings = self.config.neighbors
        return stages.build_store(
            self.files,
            Vocabulary.load(self.files.words),
            masked=self.config.text.mask,
            fold=settings.fold,
            verbatim=settings.verbatim,
            tokenizer=self.config.text.tokenizer,
            score=settings.score,
            kinds=self.kinds,
            alike=self.alike,
        )

    def _neighbors_and_derivations(self, split: str) -> None:
        encoded = read_columns(self.files.encoded_texts(split))
        table_of, targets = column_ints(encoded["table"]), column_ragged(encoded["tokens"])
        inputs = SplitInputs(self.files, split)
        with bar(2 * len(targets), f"neighbors and derivations of {split}", quiet=self.quiet) as progress:
            for part, start in enumerate(range(0, len(targets), EXAMPLES_A_PART)):
                rows = range(start, min(start + EXAMPLES_A_PART, len(targets)))
                bulk, key = self._neighbors(split, part, rows, table_of, inputs)
                progress.advance(len(rows))
                self._derivations(split, part, key, rows, (targets, table_of), inputs, bulk)
                progress.advance(len(rows))

    def _neighbors(
        self, split: str, part: int, rows: range, table_of: NDArray[np.int32], inputs: SplitInputs
    ) -> tuple[BulkRows | None, str]:
        """The neighbors of a part of a split; returns who finds them, if not this process, and the key."""
        settings = self.config.neighbors
        tables_are_stored = split.removeprefix(TARGETS) == "train"
        if not tables_are_stored or (split != "train" and settings.exclude == "self"):
            settings = NeighborsConfig(k=settings.k, exclude="none")  # it has no text in the store
        path = self.files.neighbors(split, part)
        made_from = (self.keys["store"], self.keys[f"encoded/{split}"], list(rows)[:1], len(rows))
        stage = f"neighbors/{split}-{part:04}"
        with self._stage(stage, [path], settings.k, settings.exclude, made_from) as needed:
            bulk = self._bulk(split, rows, settings, self.keys[stage])
            if needed and bulk is not None:
                stages.write_neighbors(path, bulk.neighbors)
            elif needed:
                found = stages.find_neighbors(
                    inputs.store,
                    inputs.tables,
                    table_of,
                    rows,
                    k=settings.k,
                    exclude=settings.exclude,
                    threads=self.threads,
                    own=split == "train",
                )
                stages.write_neighbors(path, found)
        return bulk, self.keys[stage]

    def _bulk(self, split: str, rows: range, settings: NeighborsConfig, key: str) -> BulkRows | None:
        """Who finds neighbors and derivations, if this process does not."""
        if self.engine is None or self.place is None:
            return None
        stored = pq.read_metadata(self.files.texts("train")).num_rows
        work = bulk_work(self.files, split, settings.k, settings.exclude, key, stored)
        return BulkRows(self.engine, self.place, work, rows, self.quiet)

    def _derivations(
        self,
        split: str,
        part: int,
        key: str,
        rows: range,
        examples: tuple[Ragged, NDArray[np.int32]],
        inputs: SplitInputs,
        bulk: BulkRows | None,
    ) -> None:
        """The least derivations of a part of a split, from its neighbors, whose stage has this key."""
        path = self.files.derivations(split, part)
        with self._stage(f"derivations/{split}-{part:04}", [path], key) as needed:
            if needed and bulk is not None:
                stages.write_derivations(path, bulk.derivations)
            elif needed:
                targets, table_of = examples
                neighbors = column_ragged(read_columns(self.files.neighbors(split, part))["neighbors"])
                found = stages.derivations_of(
                    targets=stages.rows_of(targets, rows),
                    table_of=table_of[rows.start : rows.stop],
                    table_tokens=inputs.table_tokens,
                    table_segments=inputs.table_segments,
                    store=inputs.store,
                    neighbors=_matrix(neighbors),
                    threads=self.threads,
                )
                stages.write_derivations(path, found)

    def _vocabulary(self) -> None:
        files = self.files
        learned = f"{TARGETS}train" if self.config.corpus.targets else "train"
        derived = [key for name, key in self.keys.items() if name.startswith(f"derivations/{learned}-")]
        settings = self.config.vocabulary
        with self._stage("vocabulary", [files.vocabulary], derived, asdict(settings)) as needed:
            if not needed:
                return
            parts = [
                (
                    column_ragged(read_columns(files.derivations(learned, part))["splices"]),
                    _matrix(column_ragged(read_columns(files.neighbors(learned, part))["neighbors"])),
                )
                for part in range(len(derived))
            ]
            targets = column_ragged(read_columns(files.encoded_texts("train"), ["tokens"])["tokens"])
            words = Vocabulary.load(files.words)
            stages.generated_words(words, parts, targets, settings).save(files.vocabulary)

    def _settings(self) -> None:
        """The configuration as used; where it is written to says nothing about what is in it."""
        config = Config(
            corpus=self.config.corpus,
            text=self.config.text,
            neighbors=self.config.neighbors,
            vocabulary=self.config.vocabulary,
            output=NOT_SAID,
        )
        with self._stage("config", [self.files.config], config.stored()) as needed:
            if needed:
                atomic_write_text(self.files.config, to_toml(config))


def _shape(item: Tokenized) -> str:
    return delexicalize(item.target[1:-1], item.table)


def _matrix(ragged: Ragged) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
    return ragged.values.reshape(len(ragged), -1)
