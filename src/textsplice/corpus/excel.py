"""Excel workbooks (.xlsx): the cells of one sheet, as a CSV file has them.

| cell                 | becomes                                                                  |
|----------------------|--------------------------------------------------------------------------|
| text                 | itself                                                                   |
| number               | its digits, with the `%` and the zeros that its format shows             |
| date, time           | `2024-05-01`, `14:30`, `2024-05-01 14:30`                                |
| TRUE, FALSE          | "yes", "no"                                                              |
| formula              | its result, as it was saved; a problem if none was                       |
| error such as #N/A   | a problem                                                                |
| merged with those below | the same value in each of these rows                                  |
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from functools import cached_property
from importlib import import_module
from itertools import islice, zip_longest
from pathlib import Path
from typing import Protocol, cast

from textsplice.corpus.rows import Row, fitted, header_of
from textsplice.corpus.tabular import CellsReader
from textsplice.corpus.workbook import check_workbook, merged_cells
from textsplice.errors import CorpusError, MissingExtraError

MOST_ROWS = 1_048_576  # of a sheet in Excel
AT_ONCE = 256
_ZEROS = re.compile(r"(0*)(?:\.(0+))?%?")


class _Cell(Protocol):
    """What openpyxl says of a cell."""

    value: object
    data_type: str
    number_format: str | None


class _Sheet(Protocol):
    title: str

    def reset_dimensions(self) -> None: ...
    def iter_rows(self) -> Iterator[Sequence[_Cell]]: ...


class _Workbook(Protocol):
    worksheets: list[_Sheet]

    def close(self) -> None: ...


class ExcelReader(CellsReader):
    """Reads the first sheet of a workbook, or the one that is named after `#`."""

    part = "the name of a sheet"

    def read_header(self) -> list[str]:
        rows = self._rows()
        first = next(rows, None)
        rows.close()
        if first is None:
            raise self._empty()
        return header_of(first, self.path, f"{self.path}, row {first.line}")

    @property
    def where(self) -> str:
        return f"{self.path}, row 1"

    def records(self) -> Iterator[Row]:
        header = self.header
        rows = self._rows()
        next(rows, None)
        for row in rows:
            padded = row._replace(cells=row.cells + [""] * (len(header) - len(row.cells)))
            yield fitted(padded, header, f"{self.path}, row {row.line}")

    def _rows(self) -> Generator[Row]:
        """The rows that are not blank, with the values of merged cells in each of them."""
        with self._opened(data_only=True) as values, self._opened(data_only=False) as formulas:
            results, written = self._sheet(values), self._sheet(formulas)
            merged = _Merged(merged_cells(self.path, results.title))
            pairs = zip_longest(_cells(results, self.path), _cells(written, self.path), fillvalue=())
            for number, (cells, sources) in enumerate(pairs, start=1):
                row = self._row(number, cells, sources)
                if not row.is_blank:
                    yield merged.filled(row)

    @contextmanager
    def _opened(self, *, data_only: bool) -> Generator[_Workbook]:
        load = self._load
        with _undamaged(self.path):
            opened = cast(_Workbook, load(self.path, read_only=True, data_only=data_only, keep_links=False))
        try:
            yield opened
        finally:
            opened.close()

    @cached_property
    def _load(self) -> Callable[..., object]:
        """What opens the workbook, once it is known to be safe."""
        try:
            load = cast("Callable[..., object]", import_module("openpyxl").load_workbook)
        except ImportError as error:
            raise MissingExtraError(
                "reading Excel files needs the extra 'excel'.",
                where=str(self.path),
                remedy="Install it: pip install 'textsplice[excel]'. Or save the sheet as CSV.",
            ) from error
        check_workbook(self.path)
        return load

    def _row(self, number: int, cells: Sequence[_Cell], written: Sequence[_Cell]) -> Row:
        """The texts of a row; `written` are its cells with formulas in place of their results."""
        texts: list[str] = []
        problem = None
        for at, (cell, formula) in enumerate(zip_longest(cells, written)):
            what = None
            if cell is None or cell.value is None:
                if formula is not None and formula.data_type == "f":
                    what = "holds a formula without a saved result"
                texts.append("")
            elif cell.data_type == "e":
                what = f"holds the error {cell.value}"
                texts.append("")
            else:
                texts.append(_text(cell))
            if what and problem is None:
                problem = CorpusError(
                    f"the cell {_letters(at)}{number} {what}.",
                    where=f"{self.path}, row {number}",
                    remedy="Correct it, and save the workbook in a spreadsheet program.",
                )
        return Row(number, texts, problem)

    def _sheet(self, workbook: _Workbook) -> _Sheet:
        sheets = workbook.worksheets
        named = self.options.part
        if not sheets:
            raise CorpusError("the workbook has no sheet with cells.", where=str(self.path))
        for sheet in sheets:
            if named is None or sheet.title == named:
                return sheet
        raise CorpusError(
            f"there is no sheet {named!r}.",
            where=str(self.path),
            remedy=f"The sheets are {', '.join(sheet.title for sheet in sheets)}.",
        )

    def _empty(self) -> CorpusError:
        with self._opened(data_only=True) as workbook:
            title = self._sheet(workbook).title
            others = [sheet.title for sheet in workbook.worksheets if sheet.title != title]
        remedy = f"Name another: {self.path}#{others[0]}." if others else None
        return CorpusError(f"the sheet {title!r} is empty.", where=str(self.path), remedy=remedy)


class _Merged:
    """Merged cells of a sheet, as its rows are passed from the top."""

    def __init__(self, below: Mapping[int, Sequence[tuple[int, int]]]) -> None:
        self._below = below
        self._held: dict[int, tuple[int, str]] = {}  # by column: the last row, and the value

    def filled(self, row: Row) -> Row:
        """The row with the values of cells above that reach down to it."""
        self._held = {at: held for at, held in self._held.items() if held[0] >= row.line}
        cells = [*row.cells, *[""] * (max(self._held, default=-1) + 1 - len(row.cells))]
        for at, (_, value) in self._held.items():
            cells[at] = cells[at] or value
        for at, last in self._below.get(row.line, ()):
            self._held[at] = (last, cells[at] if at < len(cells) else "")
        return row._replace(cells=cells)


def _cells(sheet: _Sheet, path: Path) -> Iterator[Sequence[_Cell]]:
    """The rows of a sheet, the first being row 1; the size that the file claims is not believed."""
    sheet.reset_dimensions()
    rows = sheet.iter_rows()
    count = 0
    while True:
        with _undamaged(path):
            batch = list(islice(rows, AT_ONCE))
        if not batch:
            return
        count += len(batch)
        if count > MOST_ROWS + AT_ONCE:
            raise CorpusError(f"has more than {MOST_ROWS:,} rows.", where=str(path))
        for row in batch:
            yield _trimmed(row)


def _trimmed(row: Sequence[_Cell]) -> Sequence[_Cell]:
    """Without the empty cells at its end, of which a row may have thousands."""
    stop = len(row)
    while stop and row[stop - 1].value is None:
        stop -= 1
    return row[:stop]


@contextmanager
def _undamaged(path: Path) -> Generator[None]:
    """Whatever openpyxl raises is the file's fault; what it warns of does not concern the cells."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except MemoryError:
        raise
    except Exception as error:
        raise CorpusError(
            "the Excel file is damaged, or not an .xlsx workbook.",
            where=str(path),
            remedy="Open it in a spreadsheet program and save it again as .xlsx, or as CSV.",
        ) from error


def _letters(at: int) -> str:
    """The name of a column: A, B, …, Z, AA."""
    return (_letters(at // 26 - 1) if at >= 26 else "") + chr(ord("A") + at % 26)


def _text(cell: _Cell) -> str:
    """The value of a cell as a text, much as the sheet shows it."""
    match cell.value:
        case bool(value):
            return "yes" if value else "no"
        case int(value) | float(value):
            return _digits(value, cell.number_format or "")
        case datetime() as value:
            return f"{value.date().isoformat()} {_clock(value.time())}".removesuffix(" 00:00")
        case date() as value:
            return value.isoformat()
        case time() as value:
            return _clock(value)
        case timedelta() as value:
            return str(value)
        case value:
            return str(value).replace("_x000D_", "")  # a carriage return, as Excel writes it


def _clock(value: time) -> str:
    return value.isoformat("seconds").removesuffix(":00")


def _digits(value: int | float, shown: str) -> str:
    """The digits of a number: fifteen, as Excel keeps them, and the zeros and the `%` of its format."""
    percent = "%" if shown.endswith("%") and '"' not in shown else ""
    number = value * 100 if percent else value
    digits = str(number) if isinstance(number, int) else f"{number:.15g}"
    zeros = _ZEROS.fullmatch(shown)
    if zeros and "e" not in digits:
        whole, _, decimals = digits.partition(".")
        decimals = decimals.ljust(len(zeros[2] or ""), "0")
        sign = "-" if whole.startswith("-") else ""
        whole = sign + whole.removeprefix("-").zfill(len(zeros[1]))
        digits = f"{whole}.{decimals}" if decimals else whole
    return digits + percent
