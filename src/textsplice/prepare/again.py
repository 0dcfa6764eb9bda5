"""A prepared folder made anew with other training texts, from the folder alone.

The texts come from the folder that is there, and all that depends on them is made again by the stages of
`prepare`: words, store, neighbors, derivations, vocabulary. The corpus itself is not read.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path

from textsplice.errors import StorageError
from textsplice.files import atomic_write_bytes, file_hash
from textsplice.prepare.build import Build, Report
from textsplice.runs.manifest import Manifest
from textsplice.runs.prepared import Prepared
from textsplice.slots.kinds import alike_fields
from textsplice.slots.lexicon import Lexicon
from textsplice.slots.wordings import FieldKind


def require_absent(folder: Path) -> None:
    """`StorageError` if a folder is prepared already, or holds something else."""
    Prepared.require_free(folder)
    if Prepared.is_prepared(folder) and "config" in Manifest(folder).stages:  # the last stage
        raise StorageError("is a prepared folder already.", where=str(folder), remedy="Name a new folder.")


class Again(Build):
    """The stages of `prepare`, of which the first ones read a prepared folder instead of a corpus."""

    def __init__(
        self, given: Prepared, manifest: Manifest, threads: int, report: Report, quiet: bool
    ) -> None:
        super().__init__(given.config, manifest, threads, report, quiet)
        self.given = given

    def _kinds(self) -> Mapping[str, FieldKind]:
        if not self.config.corpus.kinds:
            return {}
        path = self.given.files.kinds
        with self._stage("kinds", [self.files.kinds], file_hash(path)) as needed:
            if needed:
                atomic_write_bytes(self.files.kinds, path.read_bytes())
        self.alike = alike_fields(self.given.findings)
        return self.given.kinds

    def _lexicon(self) -> Lexicon | None:
        if self.given.lexicon is None:
            return None
        path = self.given.files.lexicon
        with self._stage("lexicon", [self.files.lexicon], file_hash(path)) as needed:
            if needed:
                atomic_write_bytes(self.files.lexicon, path.read_bytes())
        return self.given.lexicon

    def _texts(self, split: str, lexicon: Lexicon | None) -> None:  # noqa: ARG002 - `unsaid` is there
        before = self.given.manifest.stages[f"texts/{split}"]["key"]
        files = (self.files.texts(split), self.files.tables(split))
        with self._stage(f"texts/{split}", files, before, self._changes(split)) as needed:
            if needed and split == "train":
                self._write_train(*files)
            elif needed:
                from_files = (self.given.files.texts(split), self.given.files.tables(split))
                for source, target in zip(from_files, files, strict=True):
                    atomic_write_bytes(target, source.read_bytes())

    @abstractmethod
    def _changes(self, split: str) -> list[object]:
        """What makes the texts of a split other ones."""

    @abstractmethod
    def _write_train(self, texts_path: Path, tables_path: Path) -> None:
        """Writes the training texts."""
