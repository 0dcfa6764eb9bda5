"""WikiBio's official layout: three parallel files per split.

train.box    name_1:walter<TAB>name_2:extra<TAB>image:<none>      one table per line
train.nb     2                                                    how many sentences its text has
train.sent   walter extra is a german pilot .                     the sentences, one per line
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from sys import intern

from textsplice.corpus.lines import count_lines, read_lines
from textsplice.corpus.missing import missing_file
from textsplice.corpus.reader import Reader, ReadOptions
from textsplice.corpus.table import Example, Table
from textsplice.errors import CorpusError

SPLIT_NAMES = {"train": "train", "dev": "valid", "test": "test"}
KINDS = ("box", "nb", "sent")

MOST_SENTENCES = 1_000_000

_NUMBERED = re.compile(r"(.+)_\d+")


class WikiBioReader(Reader):
    """Reads a split of a folder; without `.nb` and `.sent` there are only tables."""

    takes = ("folder",)
    if_missing = "`textsplice data get wikibio` says where to get it."

    def __init__(self, path: Path, split: str | None, options: ReadOptions) -> None:
        super().__init__(path, split, options)
        name = SPLIT_NAMES[split or "train"]
        box, self.nb, self.sent = (find_file(path, name, kind) for kind in KINDS)
        if box is None or (self.nb is None) != (self.sent is None):
            found = {"box": box, "nb": self.nb, "sent": self.sent}
            absent = next(kind for kind, file in found.items() if file is None)
            raise missing_file(path / f"{name}.{absent}", remedy=self.if_missing)
        self.box = box

    @classmethod
    def recognizes(cls, folder: Path) -> bool:
        return (folder / "train.box").exists()

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(path for path in (self.box, self.nb, self.sent) if path is not None)

    def count(self) -> int:
        return count_lines(self.box)

    def examples(self) -> Iterator[Example]:
        texts = self._texts()
        number = 0
        for number, line in read_lines(self.box):
            table = parse_box(line, where=f"{self.box}:{number}")
            try:
                text = next(texts)
            except StopIteration:
                raise CorpusError(
                    f"there is a table, but {self.nb} ends after {number - 1} lines.",
                    where=f"{self.box}:{number}",
                    remedy="The three files of a split must belong together.",
                ) from None
            yield Example(self.id_of(number), table, text)
        if self.nb is not None and any(True for _ in texts):
            raise CorpusError(
                f"there is a number of sentences, but {self.box} ends after {number} lines.",
                where=f"{self.nb}:{number + 1}",
                remedy="The three files of a split must belong together.",
            )

    def _texts(self) -> Iterator[str | None]:
        if self.nb is None or self.sent is None:
            while True:
                yield None
        sentences = read_lines(self.sent)
        read = 0
        for number, line in read_lines(self.nb):
            wanted = _sentence_count(line, where=f"{self.nb}:{number}")
            text = [sentence.strip() for _, sentence in islice(sentences, wanted)]
            read += len(text)
            if len(text) < wanted:
                raise CorpusError(
                    f"the example has {wanted} sentences, but {self.sent} ends after {read} lines.",
                    where=f"{self.nb}:{number}",
                    remedy="The three files of a split must belong together.",
                )
            yield " ".join(text if self.options.sentences == "all" else text[:1]) or None
        if next(sentences, None) is not None:
            raise CorpusError(
                f"there are more sentences than the {read} that {self.nb} counts.",
                where=f"{self.sent}:{read + 1}",
                remedy="The three files of a split must belong together.",
            )


def find_file(folder: Path, name: str, kind: str) -> Path | None:
    """`train.box` or `train.box.gz`; the official archive has a folder per split: `train/train.box`."""
    candidates = (
        parent / f"{name}.{kind}{ending}" for parent in (folder, folder / name) for ending in ("", ".gz")
    )
    return next((path for path in candidates if path.is_file()), None)


def parse_box(line: str, *, where: str | None = None) -> Table:
    """One line of a `.box` file as a table; a field's tokens become one value, joined by spaces."""
    tokens: dict[str, list[str]] = {}
    for item in line.rstrip("\r\n").split("\t"):
        if not item.strip():
            continue
        # The first colon ends the key, whose last number counts tokens: in `image_1:anba_bola_1` and
        # `pcupdate_1:22:39` the rest belongs to the value.
        key, colon, token = item.partition(":")
        if not colon or not key:
            raise CorpusError(f"expected 'field_1:token', found {item!r}.", where=where)
        numbered = _NUMBERED.fullmatch(key)
        values = tokens.setdefault(intern(numbered.group(1) if numbered else key), [])
        # `<none>` marks an empty field; next to other tokens it means nothing.
        if token and token != "<none>":
            values.append(token)
    if not tokens:
        raise CorpusError("the table has no field.", where=where)
    return Table(tuple((name, (" ".join(values),) if values else ()) for name, values in tokens.items()))


def _sentence_count(line: str, *, where: str) -> int:
    try:
        wanted = int(line)
    except ValueError:
        wanted = -1
    if not 0 <= wanted <= MOST_SENTENCES:
        raise CorpusError(f"expected a number of sentences, found {line.strip()!r}.", where=where)
    return wanted
