"""WikiBio's official layout: three files a split that go line by line beside each other.

train.box    name_1:walter<TAB>name_2:extra<TAB>image:<none>      a table a line
train.nb     2                                                    how many sentences it has
train.sent   walter extra is a german pilot .                     the sentences, one a line
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from sys import intern
from typing import Literal

from textsplice.corpus.lines import count_lines, read_lines
from textsplice.corpus.table import Example, Table
from textsplice.errors import CorpusError

Sentences = Literal["first", "all"]

SPLIT_NAMES = {"train": "train", "dev": "valid", "test": "test"}
KINDS = ("box", "nb", "sent")

_NUMBERED = re.compile(r"(.+)_\d+")


@dataclass(frozen=True, slots=True)
class WikiBioReader:
    """Reads a split; without `.nb` and `.sent` the examples are for generation only."""

    box: Path
    nb: Path | None
    sent: Path | None
    prefix: str
    sentences: Sentences = "first"

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
            yield Example(f"{self.prefix}:{number}", table, text)
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
            yield " ".join(text if self.sentences == "all" else text[:1]) or None
        if next(sentences, None) is not None:
            raise CorpusError(
                f"there are more sentences than the {read} that {self.nb} counts.",
                where=f"{self.sent}:{read + 1}",
                remedy="The three files of a split must belong together.",
            )


def find_file(folder: Path, name: str, kind: str) -> Path | None:
    """`train.box` or `train.box.gz`; the official archive has a folder a split: `train/train.box`."""
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
        # The first colon divides, the last number counts: in `image_1:anba_bola_1` and
        # `pcupdate_1:22:39` the rest belongs to the value.
        key, colon, token = item.partition(":")
        if not colon or not key:
            raise CorpusError(f"expected 'field_1:token', found {item!r}.", where=where)
        numbered = _NUMBERED.fullmatch(key)
        values = tokens.setdefault(intern(numbered.group(1) if numbered else key), [])
        # `<none>` says that a field is empty; it takes nothing away from one that is not.
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
    if wanted < 0:
        raise CorpusError(f"expected a number of sentences, found {line.strip()!r}.", where=where)
    return wanted
