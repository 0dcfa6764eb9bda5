"""The folder of an export: a run that can be given away, since it holds nobody's texts.

export.json       what it is an export of, which words and texts it needs, and the hash of every other file
README.md         the card, for people
config.toml       the settings, without paths of the machine it was made on
config.json       the shape of the policy          model.safetensors    its weights in bfloat16
word-ids.json     which words may be generated     lexicon.toml         how values are worded, if known

The words and the texts come from a prepared folder, or from a run. An export is never written to again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textsplice.config import Config, load_config
from textsplice.errors import StorageError
from textsplice.files import file_hash, text_hash
from textsplice.neighbors.store import Store
from textsplice.parsing import read_object
from textsplice.runs.companions import find_companion
from textsplice.runs.integrity import DIGEST, CheckedFiles, listed_hashes, unsigned
from textsplice.runs.lineage import earlier, store_hash
from textsplice.runs.prepared import Prepared
from textsplice.runs.recognized import EXPORT, EXPORT_FORMATS, is_export
from textsplice.runs.run import Run
from textsplice.runs.text_files import TextFiles
from textsplice.slots.lexicon import Lexicon
from textsplice.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from torch import Tensor

FORMAT = f"{EXPORT_FORMATS}1"
CARD = "README.md"
CONFIG = "config.toml"
SHAPE = "config.json"
WEIGHTS = "model.safetensors"
WORD_IDS = "word-ids.json"
LEXICON = "lexicon.toml"
REMEDY = "Copy the export again from where you got it."

Source = Run | Prepared


@dataclass(frozen=True)
class Export:
    """An export by its folder. Each file is checked against its hash when it is opened."""

    path: Path

    @classmethod
    def open(cls, folder: Path | str) -> Export:
        """The export in a folder; `StorageError` if there is none."""
        path = Path(folder)
        if not is_export(path):
            raise StorageError(
                "is not an export: it has no export.json that `textsplice export` wrote.",
                where=str(folder),
                remedy="Make one with `textsplice export RUN --out FOLDER`.",
            )
        found = read_object(path / EXPORT, StorageError, remedy=REMEDY).get("format")
        if found != FORMAT:
            raise StorageError(
                f"is an export of format {found!r}; this version reads {FORMAT!r}.",
                where=str(folder),
                remedy="Use the version of textsplice that made it.",
            )
        return cls(path)

    @cached_property
    def about(self) -> dict[str, object]:
        """What it is an export of."""
        path = self.path / EXPORT
        about = read_object(path, StorageError, remedy=REMEDY)
        return unsigned({DIGEST: None, **about}, path, REMEDY)  # one without a hash of itself was changed

    @property
    def card(self) -> Path:
        """What it is, for people."""
        return self.path / CARD

    @cached_property
    def config(self) -> Config:
        """The configuration that the run was trained with."""
        return load_config(self._checked.path(CONFIG))

    @cached_property
    def lexicon(self) -> Lexicon | None:
        """How values are worded, if the run knew."""
        return Lexicon.load(self._checked.path(LEXICON)) if LEXICON in self._hashes else None

    @property
    def weights_id(self) -> str:
        """Twelve digits that differ where weights differ; the run's own weights have others."""
        return file_hash(self.path / WEIGHTS)[:12]

    def check(self) -> int:
        """Reads every listed file and compares hashes: how many there are, or `StorageError`."""
        return self._checked.check_all()

    def read_shape(self) -> tuple[str, str]:
        """The content of `config.json`, and where it is, for errors about it."""
        path = self._listed(SHAPE)
        try:
            return path.read_text(encoding="utf-8"), str(path)
        except (OSError, UnicodeDecodeError) as error:
            raise StorageError(f"can't be read: {error}.", where=str(path), remedy=REMEDY) from error

    def read_weights(self) -> tuple[dict[str, Tensor], str]:
        """The weights, in float32 to compute with, and where they are, for errors about them."""
        from textsplice.runs.tensors import read_tensors

        path = self._listed(WEIGHTS)
        found = read_tensors(path, REMEDY)
        wide = {name: each.float() if each.is_floating_point() else each for name, each in found.items()}
        return wide, str(path)

    def word_ids(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The ids that may be generated: by FULL and LRT, and by S2S+copy."""
        path = self._listed(WORD_IDS)
        match read_object(path, StorageError, remedy=REMEDY):
            case {"generate": list(generate), "frequent": list(frequent)}:
                lists = cast("list[list[object]]", [generate, frequent])
            case _:
                lists = [[None]]
        if not all(type(number) is int for each in lists for number in each):
            raise StorageError("is not two lists of ids.", where=str(path), remedy=REMEDY)
        first, second = cast("list[list[int]]", lists)
        return tuple(first), tuple(second)

    def over(self, source: Source) -> ExportedRun:
        """The export with words and texts to splice from; `StorageError` if they are of something else."""
        run = ExportedRun(self, source)
        _require_words(self, source)
        _require_withdrawn(self, source)
        return run

    def find_judge(self, name: str) -> Path:
        """The folder that `search.judge` or `search.writers` names: beside the export, else a path."""
        return find_companion(self.path, self.config.search, self.about, name)

    def _listed(self, name: str) -> Path:
        if name not in self._hashes:
            raise StorageError(f"does not list {name}.", where=str(self.path / EXPORT), remedy=REMEDY)
        return self._checked.path(name)

    @cached_property
    def _hashes(self) -> Mapping[str, str | list[str]]:
        return listed_hashes(self.about.get("files"), self.path / EXPORT, REMEDY)

    @cached_property
    def _checked(self) -> CheckedFiles:
        return CheckedFiles(self.path, self._hashes, REMEDY)


@dataclass(frozen=True)
class ExportedRun:
    """An export with the words and texts of a prepared folder or a run: what a run has, but read-only."""

    export: Export
    source: Source

    @property
    def path(self) -> Path:
        """The folder of the export."""
        return self.export.path

    @property
    def about(self) -> dict[str, object]:
        """What the run was made from."""
        return self.export.about

    @cached_property
    def id(self) -> str:
        """The run's id if these are the texts of the run; otherwise one that depends on the texts too."""
        own, texts = str(self.about["id"]), store_hash(self.store)
        return own if texts == self.about.get("store") else text_hash(f"{own} {texts}")[:12]

    @property
    def weights_id(self) -> str:
        """As of the export."""
        return self.export.weights_id

    @property
    def config(self) -> Config:
        """As of the export."""
        return self.export.config

    @property
    def lexicon(self) -> Lexicon | None:
        """As of the export."""
        return self.export.lexicon

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The source's words; which of them may be generated, the export says."""
        words = self.source.vocabulary
        generate, frequent = self.export.word_ids()
        if not all(0 <= number < len(words) for number in (*generate, *frequent)):
            path = self.path / WORD_IDS
            raise StorageError("has a number that is no word.", where=str(path), remedy=REMEDY)
        return Vocabulary(words.words, words.embedded, generate, frequent)

    @property
    def store(self) -> Store:
        """The source's texts."""
        return self.source.store

    @property
    def stored_texts(self) -> TextFiles:
        """The texts alone, and the files they are in."""
        return self.source.stored_texts

    def read_shape(self) -> tuple[str, str]:
        """As of the export."""
        return self.export.read_shape()

    def read_weights(self) -> tuple[dict[str, Tensor], str]:
        """As of the export."""
        return self.export.read_weights()

    def find_judge(self, name: str) -> Path:
        """As of the export."""
        return self.export.find_judge(name)


def source_path(source: Source) -> Path:
    """The folder of a run or of prepared data."""
    return source.path if isinstance(source, Run) else source.folder


def _require_words(export: Export, source: Source) -> None:
    """Weights mean words by their numbers: other words would make nonsense. More words do no harm."""
    where, settings = str(source_path(source)), export.path / CONFIG
    remedy = f"Prepare its corpus with the same settings: `textsplice prepare {settings} --out FOLDER`."
    tokenizer = export.config.text.tokenizer
    if source.store.tokenizer != tokenizer:
        raise StorageError(
            f"has texts of the tokenizer {source.store.tokenizer!r}; the export {export.path} needs "
            f"{tokenizer!r}.",
            where=where,
            remedy=remedy,
        )
    if not source.vocabulary.begins_with(str(export.about.get("words"))):
        raise StorageError(
            f"has other words than the export {export.path} was trained on.", where=where, remedy=remedy
        )


def _require_withdrawn(export: Export, source: Source) -> None:
    """What was withdrawn from the run must not come back with the texts."""
    for before in earlier(export.about).values():
        for name, hashes in before.taken_out.items():
            texts = [source.store.texts[row] for row in source.store.rows_of.get(name, [])]
            if any(text_hash(text) in hashes for text in texts):
                raise StorageError(
                    f"holds the text {name!r}, which was withdrawn from the run of {export.path}.",
                    where=str(source_path(source)),
                    remedy="Give a run without it as the store: `textsplice withdraw RUN ID --out NEW`.",
                )
