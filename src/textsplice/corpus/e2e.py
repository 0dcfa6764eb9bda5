"""The E2E challenge's files: a meaning representation and a text per row.

mr,ref
"name[The Vaults], eatType[pub]","The Vaults is a pub."
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from textsplice.corpus.missing import missing_file
from textsplice.corpus.reader import Reader, ReadOptions
from textsplice.corpus.rows import Row, fitted, header_of, scan_rows
from textsplice.corpus.table import Example, Table
from textsplice.errors import CorpusError

SPLIT_FILES = {"train": "trainset.csv", "dev": "devset.csv", "test": "testset_w_refs.csv"}

_NAME = re.compile(r"([^\[\],]*)\[")
_NEXT = re.compile(r"\]\s*(?:,|$)")


class E2EReader(Reader):
    """Reads `mr,ref` from one file, or from the release's folder; without `ref` there are only tables."""

    takes = ("file", "folder")
    if_missing = "`textsplice data get e2e` fetches the corpus."

    def __init__(self, path: Path, split: str | None, options: ReadOptions) -> None:
        if split is not None and path.is_dir():
            path = path / SPLIT_FILES[split]
            if not path.is_file():
                raise missing_file(path, remedy=self.if_missing)
        super().__init__(path, split, options)

    @classmethod
    def recognizes(cls, folder: Path) -> bool:
        return (folder / SPLIT_FILES["train"]).exists()

    def columns(self) -> list[str]:
        return e2e_header(self.path)

    def count(self) -> int:
        return max(0, sum(1 for _ in scan_rows(self.path)) - 1)

    def examples(self) -> Iterator[Example]:
        header = e2e_header(self.path)
        where = f"{self.path}:1"
        text_column = self.options.text_column_among(header, usual="ref", where=where)
        mr_at = header.index("mr")
        text_at = None if text_column is None else header.index(text_column)
        id_at = header.index("id") if "id" in header else None
        last_mr, table = "", None
        for number, row in enumerate(self._records(header), start=1):
            cells = row.cells
            try:
                if row.problem is not None:
                    raise row.problem
                # The references of a table are adjacent rows: they share one object, parsed once.
                if table is None or cells[mr_at] != last_mr:
                    table = parse_mr(cells[mr_at], where=f"{self.path}:{row.line}")
                    last_mr = cells[mr_at]
            except CorpusError as problem:
                self.refuse(problem)
                continue
            given_id = "" if id_at is None else cells[id_at].strip()
            text = "" if text_at is None else cells[text_at]
            yield Example(given_id or self.id_of(number), table, text if text.strip() else None)

    def _records(self, header: list[str]) -> Iterator[Row]:
        rows = scan_rows(self.path)
        next(rows, None)
        return (fitted(row, header, f"{self.path}:{row.line}") for row in rows)


def is_e2e(header: list[str], text_column: str | None) -> bool:
    """Whether a CSV file is E2E's although it was named without `e2e:`."""
    return header == ["MR"] or ("mr" in header and {*header} <= {"mr", "ref", "id", text_column})


def e2e_header(path: Path) -> list[str]:
    """The header, which must have `mr`; that of the release's test set is `MR`."""
    header = header_of(next(scan_rows(path), None), path)
    if header == ["MR"]:
        return ["mr"]
    if "mr" not in header:
        raise CorpusError(
            f"the header is {','.join(header)!r}, but that of an E2E file is 'mr,ref'.",
            where=f"{path}:1",
            remedy="Leave out 'e2e:' to read a CSV with one column per field.",
        )
    return header


def parse_mr(mr: str, *, where: str | None = None) -> Table:
    """`name[The Vaults], eatType[pub]` as a table.

    A value may contain commas, pairs of brackets, and a `]` that is not followed by a comma or the end.
    """
    fields: dict[str, tuple[str, ...]] = {}
    position = 0
    while position < len(mr):
        opening = _NAME.match(mr, position)
        name = opening.group(1).strip() if opening else ""
        if opening is None or not name:
            if not mr[position:].strip() and not fields:
                break
            raise CorpusError(
                f"expected 'field[value]' at column {position + 1} of the mr,"
                f" found {mr[position : position + 20].strip()!r}.",
                where=where,
            )
        if name in fields:
            raise CorpusError(
                f"the field {name!r} appears twice in the mr.",
                where=where,
                remedy="An mr can't have two values for a field; JSONL can.",
            )
        end, position = _closing(mr, opening.end(), name, where)
        value = mr[opening.end() : end].strip()
        fields[name] = (value,) if value else ()
    if not fields:
        raise CorpusError("the table has no field.", where=where)
    return Table(tuple(fields.items()))


def _closing(mr: str, begin: int, name: str, where: str | None) -> tuple[int, int]:
    """Where the value that begins at `begin` ends, and where the next field begins."""
    depth = 0
    for position in range(begin, len(mr)):
        if mr[position] == "[":
            depth += 1
        elif mr[position] == "]":
            if depth:
                depth -= 1
            elif following := _NEXT.match(mr, position):
                return position, following.end()
    raise CorpusError(
        f"the bracket of the field {name!r} that opens at column {begin} of the mr is never closed.",
        where=where,
        remedy="Write it as 'field[value], field[value]'.",
    )
