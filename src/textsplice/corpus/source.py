"""From what a user writes (`e2e:data/e2e`, `routes.jsonl`, `bundled`) to a corpus."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import cast

from textsplice.config import CorpusConfig
from textsplice.corpus.corpus import Corpus
from textsplice.corpus.missing import missing_file
from textsplice.corpus.reader import Reader, ReadOptions, Sentences
from textsplice.corpus.splits import Cut, file_of_split, split_of_file, split_of_folder
from textsplice.errors import CorpusError
from textsplice.extensions import FORMATS
from textsplice.parsing import called, unreadable

_PREFIXED = re.compile(r"([A-Za-z][A-Za-z0-9_+-]+):(.*)", re.DOTALL)


def read_corpus(
    source: str | Path,
    split: str | None = None,
    *,
    text_column: str | None = None,
    sentences: Sentences | None = None,
    like: CorpusConfig | None = None,
    alternatives: int = 0,
    finished: bool = False,
) -> Corpus:
    """The examples of a split, read as they are asked for.

    `source` is `e2e:PATH`, `wikibio:PATH`, `webnlg:PATH`, a `.jsonl`, `.csv` or `.parquet` file, a folder
    with files such as `train.jsonl`, or `bundled`.
    `split` is train, dev or test. One file is cut into these as `prepare` cuts it; without `split`, or with
    "all", every row of it is read.
    `text_column` names the column or key of the text; the default is `text` (in E2E: `ref`).
    `sentences`: whether the text of a WikiBio example is its "first" sentence, as in the paper, or "all".
    `like` has the defaults of both: the text column of a run's own corpus, where the source has such a
    column, and its sentences.
    `alternatives`: how many alternatives of a row that `textsplice generate` wrote are examples too.
    `finished`: such a row has no text here unless its status is ok.
    """
    options = ReadOptions(
        text_column or (like.text_column or None if like else None),
        text_column_optional=text_column is None,
        sentences=sentences or (like.sentences if like else "first"),
        alternatives=alternatives,
        finished=finished,
    )
    try:
        return _opened(str(source), split, options)
    except OSError as error:  # a folder that may not be entered, a name that is too long
        raise unreadable(error, str(source), CorpusError) from error


def _opened(source: str, split: str | None, options: ReadOptions) -> Corpus:
    found = _located(source)
    if found.one_file:
        part = split_of_file(split, source)
        reader = found.open(None, options)
    else:
        part = split_of_folder(split, source)
        reader = found.open(part, options)
    for path in reader.files:
        if path.stat().st_size == 0:
            raise CorpusError("the file is empty.", where=str(path))
    # The first example is read now, so that a file of another kind is reported here.
    if next(reader.examples(), None) is None:
        raise CorpusError("there is no example in this file.", where=str(reader.files[0]))
    return Corpus(Cut(reader, part) if found.one_file and part else reader, source, part)


def is_one_file(source: str | Path) -> bool:
    """Whether train, dev and test are cut from one file."""
    return _located(str(source)).one_file


@dataclass(frozen=True, slots=True)
class _Located:
    """A format and where its data is; a plain folder has files of several formats."""

    format: type[Reader] | None
    path: Path

    @property
    def one_file(self) -> bool:
        return self.path.is_file()

    def open(self, split: str | None, options: ReadOptions) -> Reader:
        if self.format is not None:
            return self.format(self.path, split, options)
        if split is None:
            return _format_of_file(self.path)(self.path, None, options)
        path = _file_in_folder(self.path, split)
        return _format_of_file(path)(path, split, options)


def _located(source: str) -> _Located:
    if source in FORMATS and not (bare := _format(source)).takes:
        return _Located(bare, Path())
    path = Path(source).expanduser()
    prefixed = _PREFIXED.fullmatch(source)
    if prefixed is None or path.exists():
        if not path.exists():
            raise missing_file(path)
        _require_file_or_folder(path)
        return _Located(None, path)
    prefix, path = prefixed[1], Path(prefixed[2]).expanduser()
    if prefix not in FORMATS:
        nearest = get_close_matches(prefix, _prefixes(), n=1)
        written = (f"{name}:PATH" if _format(name).takes else repr(name) for name in _prefixes())
        raise CorpusError(
            f"unknown kind of corpus {prefix!r}" + (f"; did you mean {nearest[0]!r}?" if nearest else "."),
            where=source,
            remedy=f"Write {', '.join(written)} or a path.",
        )
    reader = _format(prefix)
    if not path.exists():
        raise missing_file(path, remedy=reader.if_missing)
    _require_file_or_folder(path)
    kind = "folder" if path.is_dir() else "file"
    if kind not in reader.takes:
        wanted = " or ".join(reader.takes) or "path"
        raise CorpusError(
            f"{path} is a {kind}." if reader.takes else f"{prefix!r} takes no path.",
            where=source,
            remedy=f"Name a {wanted} after '{prefix}:'." if reader.takes else f"Write {prefix!r}.",
        )
    return _Located(reader, path)


def _require_file_or_folder(path: Path) -> None:
    mode = path.stat().st_mode
    if not (path.is_file() or path.is_dir()):
        raise CorpusError(
            f"is {called(mode)}; a corpus is read more than once.",
            where=str(path),
            remedy="Save it as a file.",
        )


def _format(name: str) -> type[Reader]:
    return cast("type[Reader]", FORMATS[name])


def _prefixes() -> list[str]:
    return [name for name in FORMATS if not name.startswith(".")]


def _endings() -> list[str]:
    return [name for name in FORMATS if name.startswith(".")]


def _format_of_file(path: Path) -> type[Reader]:
    fitting = [ending for ending in _endings() if path.name.lower().endswith(ending)]
    if fitting:
        return _format(max(fitting, key=len))
    raise CorpusError(
        f"can't tell the format of a file called {path.name!r}.",
        where=str(path),
        remedy=f"Its name must end in one of {', '.join(_endings())}.",
    )


def _file_in_folder(folder: Path, split: str) -> Path:
    found = file_of_split(folder, split, _endings())
    if found is not None:
        return found
    for prefix in _prefixes():
        if _format(prefix).recognizes(folder):
            raise CorpusError(
                f"the folder looks like {prefix}.", where=str(folder), remedy=f"Write {prefix}:{folder}."
            )
    raise missing_file(
        folder / f"{split}.jsonl", remedy=f"A folder holds files like {split}.jsonl or {split}.csv."
    )
