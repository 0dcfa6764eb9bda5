"""The folder of a run: complete, so that it can be copied, moved, repeated, and continued by somebody else.

run.json          what made it, and the hash of every file that does not change any more
config.toml       the exact configuration
config.json       the shape of the policy          model.safetensors    its best weights
vocab.json        words and their numbers          lexicon.toml         how values are worded, if known
store/            the texts to splice from         journal.jsonl        the losses, step by step
checkpoints/      last and best, to go on from     tensorboard/         if asked for
encodings/        of the store's texts, if `generate --cache-encodings` made them
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast

from textsplice.config import Config, load_config, to_toml
from textsplice.errors import StorageError, TextspliceError, TrainingError
from textsplice.files import atomic_write_bytes, atomic_write_text, file_hash, storage_error
from textsplice.neighbors.about import read_kinds
from textsplice.neighbors.store import Store
from textsplice.runs.checkpoint import CheckpointFolder
from textsplice.runs.companions import find_companion, places_of
from textsplice.runs.encodings import EncodingFolder
from textsplice.runs.fitted import default_system
from textsplice.runs.integrity import CheckedFiles, listed_hashes, require_words, signed, unsigned
from textsplice.runs.ownership import (
    locked,
    remove_empty_parents,
    remove_listed,
    removed_on_failure,
    require_ours,
)
from textsplice.runs.prepared import Prepared
from textsplice.runs.recognized import RUN as ABOUT
from textsplice.runs.recognized import RUN_FORMATS, is_export, is_run
from textsplice.runs.text_files import TextFiles
from textsplice.slots.lexicon import Lexicon
from textsplice.slots.wordings import FieldKind
from textsplice.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from torch import Tensor

FORMAT = f"{RUN_FORMATS}2"
CONFIG = "config.toml"
SHAPE = "config.json"
WEIGHTS = "model.safetensors"
VOCABULARY = "vocab.json"
LEXICON = "lexicon.toml"
STORE = "store"
JOURNAL = "journal.jsonl"
OLD_JOURNAL = "train.jsonl"  # before format 2; a corpus may have a file of that name
CHECKPOINTS = "checkpoints"
TENSORBOARD = "tensorboard"
ENCODINGS = "encodings"
REMEDY = "Copy it again from its run, or train again."

# What a run of before format 2, which lists nothing, is made of.
_ARRAYS = (
    *(f"{side}.{name}" for side in ("fields", "values") for name in ("bitmaps", "offsets", "slots")),
    *("class_sizes", "class_words", "value_sizes", "row_offsets", "rows", "typicality", "group_slots"),
)
OLD_FILES = (
    *(CONFIG, SHAPE, WEIGHTS, VOCABULARY, LEXICON, OLD_JOURNAL),
    *(f"{STORE}/{name}" for name in ("store.json", "texts.parquet", "tables.parquet", "index/index.json")),
    *(f"{STORE}/index/{name}.npy" for name in _ARRAYS),
)

Hashes = dict[str, str | list[str]]


@dataclass(frozen=True)
class Run:
    """A run by its folder. Each file is checked against its hash when it is opened."""

    path: Path

    @staticmethod
    def is_run(folder: Path | str) -> bool:
        """Whether a folder is one that `train` made; other programs have a run.json too."""
        return is_run(folder)

    @classmethod
    def open(cls, folder: Path | str) -> Run:
        """The run in a folder; `StorageError` if there is none."""
        if is_export(folder):
            raise StorageError(
                "is an export of a run, which has no texts of its own.",
                where=str(folder),
                remedy="Name the run, or the prepared folder of its corpus.",
            )
        if not cls.is_run(folder):
            raise StorageError(
                "is not the folder of a run: it has no run.json that `textsplice train` wrote.",
                where=str(folder),
                remedy="Train one with `textsplice train CONFIG`.",
            )
        run = cls(default_system(folder))
        found = run.about.get("format", FORMAT)
        if found != FORMAT:
            raise StorageError(
                f"is a run of format {found!r}; this version reads {FORMAT!r}.",
                where=str(folder),
                remedy="Use the version of textsplice that trained it.",
            )
        return run

    # What it is

    @cached_property
    def about(self) -> dict[str, object]:
        """What made the run: its id, version, command, data, seed, machine."""
        path = self.path / ABOUT
        try:
            about = cast("dict[str, object]", json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, RecursionError) as error:
            raise StorageError(f"can't be read: {error}.", where=str(path)) from error
        # A later format, which `open` refuses, may have another kind of hash.
        return unsigned(about, path, REMEDY) if about.get("format", FORMAT) == FORMAT else about

    @property
    def id(self) -> str:
        """Twelve digits that name the run in everything it generates."""
        return str(self.about["id"])

    @property
    def is_of_first_version(self) -> bool:
        """Whether version 0.1 made it, whose rows are of another format."""
        return str(self.about.get("version")).split(".")[:2] == ["0", "1"]

    def is_complete(self) -> bool:
        """Whether the folder was made to its end: the configuration comes last."""
        return (self.path / CONFIG).is_file()

    def is_of(self, prepared: Prepared) -> bool:
        """Whether the run was trained on this prepared data."""
        return self.about.get("prepared") == prepared.key

    @cached_property
    def config(self) -> Config:
        """The configuration it was trained with."""
        return load_config(self._checked.path(CONFIG))

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Words and their numbers."""
        return Vocabulary.load(self._checked.path(VOCABULARY))

    @cached_property
    def store(self) -> Store:
        """The texts it splices from."""
        store = Store.load(self._checked.folder_path(STORE))
        require_words(store.tokens.values, len(self.vocabulary), self.path / STORE, REMEDY)
        return store

    @property
    def stored_texts(self) -> TextFiles:
        """The texts alone, and the files they are in."""
        return TextFiles(self._checked.folder_path(STORE), self._checked.path(VOCABULARY), REMEDY)

    @cached_property
    def lexicon(self) -> Lexicon | None:
        """How values are worded, if its corpus was prepared with a lexicon."""
        if "files" in self.about and LEXICON not in self._hashes():
            return None  # a file of that name would be somebody else's
        path = self._checked.path(LEXICON)
        return Lexicon.load(path) if path.is_file() else None

    @property
    def kinds(self) -> dict[str, FieldKind]:
        """The kinds of fields, if its corpus was prepared with them."""
        folder = self._checked.folder_path(STORE)
        return read_kinds(folder) if folder.is_dir() else {}  # a run that is damaged can still be looked at

    def read_lexicon(self) -> bytes:
        """The content of its lexicon's file."""
        return self._checked.path(LEXICON).read_bytes()

    @cached_property
    def _checked(self) -> CheckedFiles:
        return CheckedFiles(self.path, self._hashes(), REMEDY)

    def check(self) -> int:
        """Reads every listed file and compares hashes: how many there are, or `StorageError`."""
        if "files" not in self.about:
            return 0  # of before format 2
        others = (self.encodings, *filter(None, (self.last.find(), self.best.find())))
        return self._checked.check_all() + sum(other.check() for other in others)

    def _hashes(self) -> Hashes:
        """The hash of every file; runs of before format 2 have none."""
        return listed_hashes(self.about.get("files", {}), self.path / ABOUT, REMEDY)

    # The policy

    @property
    def weights_id(self) -> str | None:
        """Twelve digits that differ where weights differ; None where there are none yet."""
        path = self.path / WEIGHTS
        return file_hash(path)[:12] if path.is_file() else None

    def read_shape(self) -> tuple[str, str]:
        """The content of `config.json`, and where it is, for errors about it."""
        path = self._checked.path(SHAPE)
        try:
            return path.read_text(encoding="utf-8"), str(path)
        except FileNotFoundError:
            raise StorageError(
                "there is no policy here yet.", where=str(path), remedy="Train on with --resume."
            ) from None
        except (OSError, UnicodeDecodeError) as error:
            raise StorageError(f"can't be read: {error}.", where=str(path)) from error

    def read_weights(self) -> tuple[dict[str, Tensor], str]:
        """The best weights, and where they are, for errors about them."""
        from textsplice.runs.tensors import read_tensors

        path = self._checked.path(WEIGHTS)
        return read_tensors(path, REMEDY), str(path)

    def write_policy(self, shape: str, weights: Mapping[str, Tensor]) -> None:
        """Replaces the policy; whenever the writer is killed, what is there has a hash in `run.json`."""
        from safetensors.torch import save

        contents = {SHAPE: shape.encode("utf-8"), WEIGHTS: save(dict(weights), metadata={"format": "pt"})}
        for name, content in contents.items():
            self._replace(name, content)

    def _replace(self, name: str, content: bytes) -> None:
        if name not in self._hashes():
            _require_absent(self.path / name)
        new = hashlib.sha256(content).hexdigest()
        before = self._hashes().get(name, [])
        known = [before] if isinstance(before, str) else before
        self._record({name: [*known, new]})
        atomic_write_bytes(self.path / name, content)
        self._record({name: new})

    def _record(self, hashes: Hashes, **changes: object) -> None:
        about = {**self.about, **changes, "files": dict(sorted({**self._hashes(), **hashes}.items()))}
        self._write_about(about)

    def _write_about(self, about: dict[str, object]) -> None:
        text = json.dumps(signed(about), indent=2, ensure_ascii=False) + "\n"
        atomic_write_text(self.path / ABOUT, text)
        self._forget()

    def _forget(self) -> None:
        """Drops what was read before the folder changed."""
        for name in ("about", "_checked", "config"):
            self.__dict__.pop(name, None)

    # The judge and the writers

    def find_judge(self, name: str) -> Path:
        """The folder that `search.judge` or `search.writers` names, wherever this run was moved."""
        return find_companion(self.path, self.config.search, self.about, name)

    # Training

    @property
    def journal(self) -> Path:
        """One JSON object per line: losses, validations, notes."""
        old = self.path / OLD_JOURNAL
        return old if "files" not in self.about and old.is_file() else self.path / JOURNAL

    @property
    def last(self) -> CheckpointFolder:
        """The checkpoint that `--resume` goes on from."""
        return CheckpointFolder(self.path / CHECKPOINTS / "last")

    @property
    def best(self) -> CheckpointFolder:
        """The checkpoint with the least validation loss."""
        return CheckpointFolder(self.path / CHECKPOINTS / "best")

    @property
    def tensorboard(self) -> Path:
        """TensorBoard's event files."""
        return self.path / TENSORBOARD

    @property
    def encodings(self) -> EncodingFolder:
        """Encodings of the store's texts."""
        return EncodingFolder(self.path / ENCODINGS)

    @classmethod
    def require_free(cls, folder: Path) -> None:
        """`StorageError` if a run can't be made in a folder, since it holds something else."""
        require_ours(folder, ours=cls.is_run(folder), what="the folder of a run", first=ABOUT)

    @classmethod
    def require_absent(cls, folder: Path) -> None:
        """`StorageError` if a folder holds a run already, or something else."""
        cls.require_free(folder)
        if cls.is_run(folder) and cls(folder).is_complete():
            raise StorageError("is a run already.", where=str(folder), remedy="Name a new folder.")

    @classmethod
    @contextmanager
    def claimed(cls, folder: Path, busy: TextspliceError | None = None) -> Generator[None]:
        """Holds a folder for one training: a new or empty one, or the folder of a run."""
        cls.require_free(folder)
        busy = busy or TrainingError(
            "another process is training in this folder.",
            where=str(folder),
            remedy="Wait until it ends, or set output.run to another folder.",
        )
        with locked(folder, busy, ABOUT):
            yield

    @classmethod
    def create(cls, folder: Path, config: Config, prepared: Prepared, about: Mapping[str, object]) -> Run:
        """Makes the folder of a new run, with all it needs from the prepared folder.

        `run.json` comes first and makes the folder ours. The judge is recorded relative to the run.
        """
        run = cls(folder)
        copied = {
            path: folder / path.relative_to(prepared.folder)
            for path in (*prepared.store_files(), *([prepared.files.lexicon] if prepared.lexicon else []))
        }
        for target in (*copied.values(), folder / JOURNAL, folder / CONFIG, folder / VOCABULARY):
            _require_absent(target)
        run._write_about({"format": FORMAT, **about, "journal": JOURNAL, "files": {}})
        run._copy(copied)
        run._replace(VOCABULARY, prepared.vocabulary.to_json().encode("utf-8"))
        run.describe(config, about)
        return run

    def with_store(
        self,
        store: Store,
        words: Vocabulary,
        folder: Path,
        before: Mapping[str, object],
        changes: Sequence[object],
        complete: Callable[[Run], None] = lambda _run: None,
    ) -> Run:
        """Writes this run into a new folder with another store; checkpoints and journal stay behind.

        It has an id of its own, since its texts do: that of this run and the changes. `before` is what it
        says of this run, `complete` writes what else it is to have. It is written whole or not at all.
        """
        about = {
            **self.about,
            "format": FORMAT,
            "id": hashlib.sha256(json.dumps([self.id, *changes]).encode("utf-8")).hexdigest()[:12],
            "made_from": before,
        }
        policy = [name for name in (SHAPE, WEIGHTS, LEXICON) if (self.path / name).is_file()]
        contents = {name: self._checked.path(name).read_bytes() for name in policy}
        contents[VOCABULARY] = words.to_json().encode("utf-8")
        config = self.config
        found = replace(  # they are beside this run, wherever we are now
            config.search,
            judge=str(self.find_judge(config.search.judge)) if config.search.judge else "",
            writers=tuple(str(self.find_judge(writer)) for writer in config.search.writers),
        )
        remedy = "Wait until it ends, or name another folder."
        busy = StorageError("another process is writing this folder.", where=str(folder), remedy=remedy)
        run, existed = Run(folder), folder.exists()
        with self.claimed(folder, busy), TemporaryDirectory() as temporary:
            self.require_absent(folder)
            if self.is_run(folder):
                run.remove()  # one that was killed while it was written
            with removed_on_failure(folder, run.remove, keep=existed):
                store.save(Path(temporary) / STORE)
                run._write_about({**about, "journal": JOURNAL, "files": {}})
                for name, content in contents.items():
                    run._replace(name, content)
                written = sorted(path for path in Path(temporary).rglob("*") if path.is_file())
                run._copy({path: folder / path.relative_to(temporary) for path in written})
                run.describe(config, about)
                run._record({}, **places_of(folder, found))
                complete(run)
        return run

    def _copy(self, copied: Mapping[Path, Path]) -> None:
        """Copies files into the run; listed first, so that a run that is killed now can be removed whole."""
        self._record({to.relative_to(self.path).as_posix(): file_hash(path) for path, to in copied.items()})
        try:
            for path, to in copied.items():
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, to)
        except OSError as error:
            raise storage_error(error, self.path) from error

    def describe(self, config: Config, about: Mapping[str, object]) -> None:
        """Writes the configuration and what makes the run, now or from here on."""
        if "files" not in self.about:
            self._upgrade()
        self._replace(CONFIG, to_toml(config).encode("utf-8"))
        changes = {name: value for name, value in about.items() if self.about.get(name) != value}
        self._record({}, **changes, **places_of(self.path, config.search))

    def _upgrade(self) -> None:
        """Lists the files of a run of before format 2, and gives its journal the name it has now."""
        found = [name for name in OLD_FILES if name != OLD_JOURNAL and (self.path / name).is_file()]
        hashes: Hashes = {name: file_hash(self.path / name) for name in found}
        if (self.path / OLD_JOURNAL).is_file() and not (self.path / JOURNAL).exists():
            (self.path / OLD_JOURNAL).rename(self.path / JOURNAL)
        self._record(hashes, format=FORMAT, journal=JOURNAL)

    def record_tensorboard(self) -> None:
        """Lists TensorBoard's files as ours."""
        found = sorted(self.tensorboard.glob("events.out.tfevents.*"))
        self._record({path.relative_to(self.path).as_posix(): file_hash(path) for path in found})

    def require_removable(self) -> None:
        """`StorageError` if somebody's file lies where a new run would have to write."""
        for checkpoint in (self.last, self.best):
            checkpoint.require_ours()

    def remove(self) -> None:
        """Removes everything that training wrote, and nothing else; `run.json` goes last."""
        names = [*self._hashes(), *([JOURNAL] if "journal" in self.about else [])]
        if "files" not in self.about:
            names += OLD_FILES
        try:
            self.encodings.remove()
            for checkpoint in (self.last, self.best):
                checkpoint.remove()
            remove_listed(self.path, names)
            remove_empty_parents(self.path, [self.path / CHECKPOINTS / "last", self.path / STORE / "index"])
            (self.path / ABOUT).unlink(missing_ok=True)
        except OSError as error:
            raise storage_error(error, self.path) from error
        self._forget()


def _require_absent(path: Path) -> None:
    """A file that the run does not list is somebody else's, and is left alone."""
    if path.exists():
        raise StorageError(
            "is in the way: it was not written by `textsplice train`.",
            where=str(path),
            remedy="Move it away, or set output.run to another folder.",
        )
