"""From what a user writes (`e2e:data/e2e`, `routes.jsonl`, `bundled`) to a corpus."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path

from textsplice.corpus import e2e, wikibio
from textsplice.corpus.corpus import Corpus, Reader
from textsplice.corpus.e2e import E2EReader
from textsplice.corpus.jsonl import JsonlReader
from textsplice.corpus.missing import missing_file
from textsplice.corpus.parquet import ParquetReader
from textsplice.corpus.rows import read_header
from textsplice.corpus.tabular import CsvReader
from textsplice.corpus.wikibio import Sentences, WikiBioReader
from textsplice.errors import CorpusError

FORMATS = (".jsonl", ".jsonl.gz", ".csv", ".csv.gz", ".parquet")

_SPLITS = {
    "train": ("train",),
    "dev": ("dev", "valid", "validation"),
    "test": ("test",),
}
_PREFIXED = re.compile(r"([A-Za-z][A-Za-z0-9_+-]+):(.*)", re.DOTALL)


def read_corpus(
    source: str | Path,
    split: str | None = None,
    *,
    text_column: str | None = None,
    sentences: Sentences = "first",
) -> Corpus:
    """The examples of a source, read as they are asked for.

    `source` is `e2e:PATH`, `wikibio:PATH`, a `.jsonl`, `.csv` or `.parquet` file, a folder with
    files such as `train.jsonl`, or `bundled`; all but a single file need `split`: train, dev or test.
    `text_column` names the column or key of the text where it is not `text` (in E2E: `ref`).
    `sentences`: of WikiBio, whether the text is the first sentence (as in the paper) or all of them.
    """
    reader = _reader(str(source), split, text_column, sentences)
    for path in reader.files:
        if path.stat().st_size == 0:
            raise CorpusError("the file is empty.", where=str(path))
    # The first example is read now, so that a file of another kind is reported here.
    if next(reader.examples(), None) is None:
        raise CorpusError("there is no example in this file.", where=str(reader.files[0]))
    return Corpus(reader, str(source), split)


def _reader(source: str, split: str | None, text_column: str | None, sentences: Sentences) -> Reader:
    if source == "bundled":
        from textsplice.corpus.bundled import bundled_path

        return JsonlReader(bundled_path(_known(split, source)), _known(split, source))
    path = Path(source).expanduser()
    prefixed = _PREFIXED.fullmatch(source)
    if prefixed is not None and not path.exists():
        prefix, path = prefixed[1], Path(prefixed[2]).expanduser()
        if prefix == "e2e":
            return _e2e(path, split, text_column)
        if prefix == "wikibio":
            return _wikibio(path, _known(split, source), sentences)
        nearest = get_close_matches(prefix, ("e2e", "wikibio"), n=1)
        raise CorpusError(
            f"unknown kind of corpus {prefix!r}" + (f"; did you mean {nearest[0]!r}?" if nearest else "."),
            where=source,
            remedy="Write e2e:PATH, wikibio:PATH, a path or 'bundled'.",
        )
    if path.is_dir():
        path = _file_of_split(path, _known(split, source))
    if not path.exists():
        raise missing_file(path)
    return _file(path, split or path.name.split(".")[0], text_column)


def _file(path: Path, prefix: str, text_column: str | None) -> Reader:
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(".jsonl"):
        return JsonlReader(path, prefix, text_column)
    if name.endswith(".csv"):
        if e2e.is_e2e(read_header(path), text_column):
            return E2EReader(path, prefix, text_column)
        return CsvReader(path, prefix, text_column)
    if path.suffix.lower() == ".parquet":
        return ParquetReader(path, prefix, text_column)
    raise CorpusError(
        f"can't tell the format of a file called {path.name!r}.",
        where=str(path),
        remedy=f"Its name must end in one of {', '.join(FORMATS)}.",
    )


def _e2e(path: Path, split: str | None, text_column: str | None) -> Reader:
    remedy = "`textsplice data get e2e` fetches the corpus."
    if path.is_dir():
        path = path / e2e.SPLIT_FILES[_known(split, f"e2e:{path}")]
    if not path.is_file():
        raise missing_file(path, remedy=remedy)
    return E2EReader(path, split or path.name.split(".")[0], text_column)


def _wikibio(folder: Path, split: str, sentences: Sentences) -> Reader:
    if not folder.is_dir():
        raise missing_file(folder, remedy="`textsplice data get wikibio` says where to get it.")
    name = wikibio.SPLIT_NAMES[split]
    box, nb, sent = (wikibio.find_file(folder, name, kind) for kind in wikibio.KINDS)
    if box is None or (nb is None) != (sent is None):
        absent = next(kind for kind, path in (("box", box), ("nb", nb), ("sent", sent)) if path is None)
        raise missing_file(
            folder / f"{name}.{absent}", remedy="`textsplice data get wikibio` says where to get it."
        )
    return WikiBioReader(box, nb, sent, split, sentences)


def _known(split: str | None, source: str) -> str:
    """The split's usual name; `valid` and `validation` are `dev`."""
    for known, names in _SPLITS.items():
        if split in names:
            return known
    if split is None:
        raise CorpusError("which split? Say train, dev or test.", where=source)
    raise CorpusError(f"unknown split {split!r}.", where=source, remedy="Say train, dev or test.")


def _file_of_split(folder: Path, split: str) -> Path:
    """The one file of a folder that holds a split: `train.jsonl`, `dev.csv`, `valid.parquet`."""
    names = [f"{name}{ending}" for name in _SPLITS[split] for ending in FORMATS]
    found = [folder / name for name in names if (folder / name).is_file()]
    if len(found) > 1:
        raise CorpusError(
            f"{' and '.join(path.name for path in found)} could both be the {split} split.",
            where=str(folder),
            remedy="Name the file you mean.",
        )
    if found:
        return found[0]
    for kind, file in (("e2e", e2e.SPLIT_FILES["train"]), ("wikibio", "train.box")):
        if (folder / file).exists():
            raise CorpusError(
                f"the folder looks like {kind}.", where=str(folder), remedy=f"Write {kind}:{folder}."
            )
    raise missing_file(
        folder / f"{split}.jsonl", remedy=f"A folder holds files like {split}.jsonl or {split}.csv."
    )
