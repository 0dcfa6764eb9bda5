"""WebNLG's XML: sets of triples, each with texts that say them.

    <benchmark><entries>
      <entry category="Airport" eid="Id1" size="1">
        <modifiedtripleset><mtriple>Aarhus_Airport | cityServed | Aarhus</mtriple></modifiedtripleset>
        <lex comment="good" lid="Id1">Aarhus Airport serves Aarhus.</lex>

How triples become a table: `triples.py`. Everything else in an entry is passed over: the original triples and
what enriched releases add.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from textsplice.corpus.missing import missing_file
from textsplice.corpus.reader import Reader, ReadOptions
from textsplice.corpus.splits import NAMES
from textsplice.corpus.table import Example
from textsplice.corpus.triples import Triple, table_of_triples
from textsplice.errors import CorpusError
from textsplice.parsing import read_text

MOST_TRIPLES = 100
"""Of an entry. WebNLG has at most seven; the names of fields would grow with the square of their number."""
LONGEST_TRIPLE = 10_000


class WebNLGReader(Reader):
    """Reads all XML files of a split's folder, in the order of their names."""

    takes = ("folder",)
    if_missing = (
        "The corpus is at https://gitlab.com/shimorina/webnlg-dataset;"
        " name the folder that has train, dev and test."
    )

    def __init__(self, path: Path, split: str | None, options: ReadOptions) -> None:
        super().__init__(path, split, options)
        names = NAMES[split or "train"]
        folder = next((path / name for name in names if (path / name).is_dir()), None)
        if folder is None:
            raise missing_file(path / names[0], remedy=self.if_missing)
        self._files = xml_files(folder)
        if not self._files:
            raise CorpusError("there is no XML file in this folder.", where=str(folder))

    @classmethod
    def recognizes(cls, folder: Path) -> bool:
        return bool(xml_files(folder / "train"))

    @property
    def files(self) -> tuple[Path, ...]:
        return self._files

    def examples(self) -> Iterator[Example]:
        seen: dict[str, str] = {}
        for path in self._files:
            for entry in read_entries(path):
                where = f"{path}:{entry.line}"
                name = f"{self.split}:{len(entry.triples)}triples:{entry.category}:{entry.eid}"
                if name in seen:
                    raise CorpusError(
                        f"the entry {name!r} is in the corpus twice, first at {seen[name]}.",
                        where=where,
                        remedy="Leave one of the files out.",
                    )
                seen[name] = where
                table = table_of_triples(entry.triples)
                if not entry.texts:
                    yield Example(name, table, None)
                for number, text in entry.texts:
                    yield Example(f"{name}:{number}", table, text)


@dataclass(slots=True)
class Entry:
    """Triples, and the texts that say them by their number in the entry; empty ones are left out."""

    category: str
    eid: str
    line: int
    triples: list[Triple] = field(default_factory=list[Triple])
    texts: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])


def xml_files(folder: Path) -> tuple[Path, ...]:
    """The XML files in a folder and the folders in it."""
    return tuple(sorted(path for path in folder.rglob("*.xml") if path.is_file()))


def read_entries(path: Path) -> list[Entry]:
    """The entries of one file; a file that declares entities or a document type is refused."""
    # Without a document type there is nothing but the five entities of XML: none can grow or name a file.
    content = read_text(path, CorpusError).encode("utf-8")
    return _Entries(path).parse(content)


class _Entries:
    """What is read so far, while expat calls back."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._parser = expat.ParserCreate("utf-8")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._open: list[str] = []
        self._text: list[str] = []
        self._lexes = 0
        self._entry: Entry | None = None
        self._entries: list[Entry] = []

    def parse(self, content: bytes) -> list[Entry]:
        try:
            self._parser.Parse(content, True)
        except expat.ExpatError as error:
            raise CorpusError(
                f"not valid XML at column {error.offset + 1}: {expat.ErrorString(error.code)}.",
                where=f"{self._path}:{error.lineno}",
                remedy="The file is damaged; fetch it again.",
            ) from error
        return self._entries

    def _doctype(self, *_: object) -> None:
        raise self._error(
            "the file declares a document type, which could define entities without end.",
            "WebNLG's files have no <!DOCTYPE>; remove it.",
        )

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._open.append(tag)
        if tag == "entry":
            missing = [name for name in ("category", "eid") if not attributes.get(name, "").strip()]
            if missing or self._entry is not None:
                what = f"has no {missing[0]}" if missing else "is inside another entry"
                raise self._error(f"the entry {what}.", 'An entry looks like <entry category="…" eid="…">.')
            self._entry = Entry(attributes["category"], attributes["eid"], self._parser.CurrentLineNumber)
            self._lexes = 0
        elif tag in ("mtriple", "lex"):
            self._text.clear()

    def _characters(self, text: str) -> None:
        # Enriched releases have the text in an element of its own, beside a template and more.
        if self._open[-1] in ("mtriple", "lex") or self._open[-2:] == ["lex", "text"]:
            self._text.append(text)

    def _end(self, tag: str) -> None:
        self._open.pop()
        entry = self._entry
        if entry is None:
            return
        if tag == "mtriple":
            entry.triples.append(self._triple("".join(self._text)))
            if len(entry.triples) > MOST_TRIPLES:
                raise self._error(f"the entry has more than {MOST_TRIPLES} triples.")
        elif tag == "lex":
            self._lexes += 1
            if text := "".join(self._text).strip():
                entry.texts.append((self._lexes, text))
        elif tag == "entry":
            if not entry.triples:
                raise self._error("the entry has no <mtriple>.")
            self._entries.append(entry)
            self._entry = None

    def _triple(self, text: str) -> Triple:
        parts = [part.strip() for part in text.split(" | ")]
        if len(parts) != 3 or not all(parts) or len(text) > LONGEST_TRIPLE:
            raise self._error(f"expected 'subject | predicate | object', found {text[:80].strip()!r}.")
        return Triple(*parts)

    def _error(self, what: str, remedy: str | None = None) -> CorpusError:
        return CorpusError(what, where=f"{self._path}:{self._parser.CurrentLineNumber}", remedy=remedy)
