"""From what a user writes (`e2e:data/e2e`, `routes.jsonl`, `bundled`) to a corpus."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import cast

from textsplice.config import CorpusConfig
from textsplice.corpus.bad_rows import BadRows
from textsplice.corpus.corpus import Corpus
from textsplice.corpus.lists import AUTO, NONE, parse_lists, written
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
    lists: Sequence[str] | None = None,
    asked: Sequence[str] | None = None,
    forms: Sequence[str] | None = None,
    format: str | None = None,  # noqa: A002 - as people call it
    skipped: BadRows | None = None,
) -> Corpus:
    """The examples of a split, read as they are asked for.

    `source` is a `.jsonl`, `.csv`, `.tsv`, `.xlsx` or `.parquet` file, a folder with files such as
    `train.jsonl`, `e2e:PATH`, `wikibio:PATH`, `webnlg:PATH`, `hf:NAME`, or `bundled`. `book.xlsx#Sheet` names
    a sheet.
    `split` is train, dev or test. One file is cut into these as `prepare` cuts it; without `split`, or with
    "all", every row of it is read.
    `text_column` names the column or key of the text; the default is `text` (in E2E: `ref`).
    `sentences`: whether the text of a WikiBio example is its "first" sentence, as in the paper, or "all".
    `lists`: which columns of a CSV, TSV or Excel file hold several values in a cell, such as "features |";
    "auto", the default, finds them, and "none" keeps every cell whole.
    `asked`: fields that get the value `?` where a record names them without a value.
    `forms`: fields whose values are read in the form in which texts say them, such as "price=1,000".
    `like` has the defaults of these: the text column of a run's own corpus, where the source has such a
    column, its sentences, its lists, what it asks for and its forms.
    `alternatives`: how many alternatives of a row that `textsplice generate` wrote are examples too.
    `finished`: such a row has no text here unless its status is ok.
    `format`: what a file is whose name does not say it, such as "csv".
    `skipped` collects rows that can't be read; without it, the first is an error.
    """
    options = ReadOptions(
        text_column or (like.text_column or None if like else None),
        text_column_optional=text_column is None,
        sentences=sentences or (like.sentences if like else "first"),
        alternatives=alternatives,
        finished=finished,
        lists=tuple(lists) if lists is not None else like.list_columns if like else (AUTO,),
        asked=tuple(asked) if asked is not None else like.asked if like else (),
        forms=tuple(forms) if forms is not None else like.forms if like else (),
    )
    # A run's own columns may be missing where others are given to generate for.
    optional = lists is None and like is not None
    try:
        return _opened(_located(str(source), format), split, options, skipped, check_lists=not optional)
    except OSError as error:  # a folder that may not be entered, a name that is too long
        raise unreadable(error, str(source), CorpusError) from error


def _opened(
    found: _Located, split: str | None, options: ReadOptions, skipped: BadRows | None, *, check_lists: bool
) -> Corpus:
    options = replace(options, part=found.part)
    whole = found.is_whole(options)
    part = split_of_file(split, found.source) if whole else split_of_folder(split, found.source)
    options = replace(options, lists=_lists(found, None if whole else part, options, check=check_lists))
    reader = found.open(None if whole else part, options)
    for path in reader.files:
        if path.stat().st_size == 0:
            raise CorpusError("the file is empty.", where=str(path))
    # The first example is read now, so that a file of another kind is reported here.
    reader.skipped = None if skipped is None else BadRows()
    if next(reader.examples(), None) is None:
        if reader.skipped:
            raise _nothing_readable(reader.skipped)
        raise CorpusError("there is no example in this file.", where=str((*reader.files, reader.path)[0]))
    reader.skipped = skipped
    return Corpus(Cut(reader, part) if whole and part else reader, found.source, part)


def _nothing_readable(bad: BadRows) -> CorpusError:
    first, others = bad.kept[0], len(bad) - 1
    more = f" The {others:,} other rows can't be read either." if others else ""
    return CorpusError(first.what, where=first.where, remedy=f"{first.remedy or ''}{more}".strip() or None)


def _lists(found: _Located, split: str | None, options: ReadOptions, *, check: bool) -> tuple[str, ...]:
    """The columns that hold lists, in all splits as in train."""
    if options.lists in ((), (NONE,)):
        return ()
    is_auto = options.lists == (AUTO,)
    named = {} if is_auto else parse_lists(options.lists)
    if not (is_auto or check):
        return options.lists
    reader = found.open(split, replace(options, lists=()))
    if split not in (None, "train"):
        with suppress(CorpusError, OSError):  # a folder of texts to score may have no train
            reader = found.open("train", replace(options, lists=()))
    if is_auto:
        return written(reader.find_lists())
    reader.check_lists(named)
    return options.lists


def is_one_file(source: str | Path) -> bool:
    """Whether train, dev and test are cut from one file."""
    found = _located(str(source))
    return found.is_whole(ReadOptions(part=found.part))


@dataclass(frozen=True, slots=True)
class _Located:
    """A format and where its data is; a plain folder has files of several formats."""

    source: str
    format: type[Reader] | None
    path: Path
    part: str | None = None

    def is_whole(self, options: ReadOptions) -> bool:
        """Whether train, dev and test are cut from what is there."""
        return self.path.is_file() if self.format is None else self.format.is_whole(self.path, options)

    def open(self, split: str | None, options: ReadOptions) -> Reader:
        if self.format is not None:
            return self.format(self.path, split, options)
        if split is None:
            return _format_of_file(self.path)(self.path, None, options)
        path = _file_in_folder(self.path, split)
        return _format_of_file(path)(path, split, options)


def _located(source: str, kind: str | None = None) -> _Located:
    if source in FORMATS and not (bare := _format(source)).takes:
        return _Located(source, bare, Path())
    path = Path(source).expanduser()
    prefixed = _PREFIXED.fullmatch(source)
    if prefixed is None or path.exists():
        return _located_file(source, path, kind)
    prefix, rest = prefixed[1], prefixed[2]
    if prefix not in FORMATS:
        nearest = get_close_matches(prefix, _prefixes(), n=1)
        ways = map(_way, _prefixes())
        raise CorpusError(
            f"unknown kind of corpus {prefix!r}" + (f"; did you mean {nearest[0]!r}?" if nearest else "."),
            where=source,
            remedy=f"Write {', '.join(ways)} or a path.",
        )
    return _located_of(source, _format(prefix), prefix, rest)


def _located_file(source: str, path: Path, kind: str | None) -> _Located:
    """A file or folder that is named without a prefix; of a workbook, a sheet may be named."""
    if path.exists():
        _require_file_or_folder(path)
        return _Located(source, None if kind is None else _format(f".{kind}"), path)
    book, sign, part = source.rpartition("#")
    if sign and (whole := Path(book).expanduser()).is_file():
        reader = _format(f".{kind}") if kind else _format_of_file(whole)
        if reader.part is None:
            raise CorpusError(
                f"only in {' and '.join(_with_parts())} can a part be named, such as {part!r}.",
                where=source,
                remedy=f"Write {book}.",
            )
        return _Located(source, reader, whole, part)
    raise missing_file(path)


def _located_of(source: str, reader: type[Reader], prefix: str, rest: str) -> _Located:
    """What is named after a prefix."""
    name, sign, part = rest.rpartition("#")
    name, part = (name, part) if sign and reader.part else (rest, None)
    path = Path(name).expanduser()
    if not path.exists():
        if "name" in reader.takes and name:
            return _Located(source, reader, Path(name), part)
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
    return _Located(source, reader, path, part)


def _way(name: str) -> str:
    """How a corpus of this format is named."""
    takes = _format(name).takes
    return f"{name}:{'NAME' if 'name' in takes else 'PATH'}" if takes else repr(name)


def _with_parts() -> list[str]:
    """The formats of which a part can be named."""
    return [name if name.startswith(".") else f"{name}:" for name in FORMATS if _format(name).part]


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
    old = path.suffix.lower() in (".xls", ".ods", ".numbers")
    raise CorpusError(
        f"can't tell the format of a file called {path.name!r}.",
        where=str(path),
        remedy="Save it as .xlsx or .csv."
        if old
        else f"Its name must end in one of {', '.join(_endings())}.",
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
