"""Excel workbooks: what each kind of cell becomes, and what is refused."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest

from textsplice.corpus import read_corpus
from textsplice.corpus.bad_rows import BadRows
from textsplice.corpus.workbook import MOST_FILES, check_workbook
from textsplice.errors import CorpusError, MissingExtraError

openpyxl = pytest.importorskip("openpyxl", reason="the extra 'excel' is not installed")


def saved(path: Path, *rows: Sequence[object], change: Callable[[Any], None] | None = None) -> Path:
    """A workbook whose first sheet, `Bikes`, has these rows."""
    workbook = openpyxl.Workbook()
    workbook.active.title = "Bikes"
    for row in rows:
        workbook.active.append(row)
    if change:
        change(workbook)
    workbook.save(path)
    return path


def tables(source: Path | str) -> list[dict[str, str | list[str]]]:
    return [example.table.to_record() for example in read_corpus(source)]


def complaint(source: Path | str) -> str:
    with pytest.raises(CorpusError) as caught:
        list(read_corpus(source))
    return str(caught.value)


@pytest.mark.parametrize(
    ("value", "shown", "text"),
    [
        ("City 3", "General", "City 3"),
        (240, "General", "240"),
        (240.0, "General", "240"),
        (19.989999999999998, "General", "19.99"),
        (4006381333931, "General", "4006381333931"),
        (-1.5, "General", "-1.5"),
        (12.5, "0.00", "12.50"),
        (12.345, "0.0", "12.345"),  # nothing is rounded away
        (0.07, "0%", "7%"),
        (0.125, "0.0%", "12.5%"),
        (123, "00000", "00123"),
        (True, "General", "yes"),
        (False, "General", "no"),
        (date(2024, 5, 1), "yyyy-mm-dd", "2024-05-01"),
        (datetime(2024, 5, 1, 14, 30), "yyyy-mm-dd hh:mm", "2024-05-01 14:30"),
        (time(9, 5), "hh:mm", "09:05"),
        (timedelta(hours=30), "[h]:mm:ss", "1 day, 6:00:00"),
        ("  spaced  ", "General", "spaced"),
        ("'=SUM(1)", "General", "'=SUM(1)"),
    ],
)
def test_a_cell_becomes_a_text(tmp_path: Path, value: object, shown: str, text: str):
    def change(workbook: Any) -> None:
        workbook.active["B2"].number_format = shown

    path = saved(tmp_path / "a.xlsx", ["name", "value"], ["A", value], change=change)
    assert tables(path) == [{"name": "A", "value": text}]


def test_rows_and_cells_that_are_empty_are_left_out(tmp_path: Path):
    path = saved(
        tmp_path / "a.xlsx",
        [],
        ["name", "food", "text"],
        ["A", None, "T"],
        [None],
        [],
        ["B", "x", None, None],
    )
    assert [(e.id, e.table.to_record(), e.text) for e in read_corpus(path)] == [
        ("a:1", {"name": "A", "food": []}, "T"),
        ("a:2", {"name": "B", "food": "x"}, None),
    ]
    assert len(read_corpus(path)) == 2


def test_a_cell_that_is_merged_with_those_below_holds_for_all_of_them(tmp_path: Path):
    def change(workbook: Any) -> None:
        workbook.active.merge_cells("A2:A3")
        workbook.active.merge_cells("C3:C4")

    path = saved(
        tmp_path / "a.xlsx",
        ["make", "model", "size"],
        *(["Harrow", "1", "S"], [None, "2", "M"], ["Elm", "3"], ["Oak", "4"]),
        change=change,
    )
    assert tables(path) == [
        {"make": "Harrow", "model": "1", "size": "S"},
        {"make": "Harrow", "model": "2", "size": "M"},
        {"make": "Elm", "model": "3", "size": "M"},
        {"make": "Oak", "model": "4", "size": []},
    ]


def test_lists_are_found_in_a_sheet_too(tmp_path: Path):
    path = saved(tmp_path / "a.xlsx", ["name", "tags"], ["A", "x|y"], ["B", "y|x"], ["C", "x"])
    assert read_corpus(path).lists == ("tags |",)


def test_a_sheet_can_be_named(tmp_path: Path):
    def change(workbook: Any) -> None:
        workbook.create_sheet("March #2").append(["food"])
        workbook["March #2"].append(["x"])
        workbook.create_sheet("Empty")

    path = saved(tmp_path / "a.xlsx", ["name"], ["A"], change=change)
    assert tables(path) == [{"name": "A"}]
    assert complaint(f"{path}#March") == (
        f"{path}: there is no sheet 'March'. The sheets are Bikes, March #2, Empty."
    )
    assert complaint(f"{path}#Empty") == (f"{path}: the sheet 'Empty' is empty. Name another: {path}#Bikes.")
    changed = saved(
        tmp_path / "b.xlsx", ["name"], ["A"], change=lambda w: w.create_sheet("May").append(["f"])
    )
    assert complaint(f"{changed}#May") == f"{changed}: there is no example in this file."


def test_formulas_without_results_and_errors_are_bad_rows(tmp_path: Path):
    def change(workbook: Any) -> None:
        workbook.active["B4"].data_type = "e"

    path = saved(
        tmp_path / "a.xlsx",
        ["name", "price"],
        ["A", 1],
        ["B", "=1+1"],
        ["C", "#N/A"],
        ["D", 4],
        change=change,
    )
    assert complaint(path).startswith(f"{path}, row 3: the cell B3 holds a formula without a saved result.")
    bad = BadRows()
    assert [example.id for example in read_corpus(path, skipped=bad)] == ["a:1", "a:4"]
    assert [problem.what for problem in bad.kept] == [
        "the cell B3 holds a formula without a saved result.",
        "the cell B4 holds the error #N/A.",
    ]


def test_a_header_is_asked_of_a_sheet_as_of_a_csv_file(tmp_path: Path):
    assert complaint(saved(tmp_path / "a.xlsx", ["a", None, "b"], [1, 2, 3])) == (
        f"{tmp_path}/a.xlsx, row 1: column 2 of the header has no name. Name it or delete the column."
    )
    assert "the row has 3 cells, the header 2" in complaint(saved(tmp_path / "b.xlsx", ["a", "b"], [1, 2, 3]))
    assert "is empty" in complaint(saved(tmp_path / "c.xlsx"))


# -- files that are none, or that are dangerous -----------------------------------------------------


def rewritten(path: Path, target: Path, name: str, change: Callable[[bytes], bytes]) -> Path:
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for each in old.namelist():
            content = old.read(each)
            new.writestr(each, change(content) if each == name else content)
    return target


SHEET = "xl/worksheets/sheet1.xml"


def test_a_damaged_workbook_is_a_sentence(tmp_path: Path):
    path = saved(tmp_path / "a.xlsx", ["name"], ["A"])
    whole = path.read_bytes()
    for content in (b"PK\x03\x04junk", whole[: len(whole) // 2], b"not a workbook"):
        (tmp_path / "b.xlsx").write_bytes(content)
        said = complaint(tmp_path / "b.xlsx")
        assert "is not an .xlsx workbook, is damaged, or needs a password." in said
    for change in (
        lambda xml: xml[: len(xml) // 2],
        lambda xml: xml.replace(b'r="A2"', b'r="AAAAAAA2"'),
        lambda xml: xml.replace(b't="inlineStr"><is><t>A</t></is>', b't="s"><v>77</v>'),
    ):
        odd = rewritten(path, tmp_path / "odd.xlsx", SHEET, change)
        assert "the Excel file is damaged" in complaint(odd)


def test_entities_are_refused(tmp_path: Path):
    path = saved(tmp_path / "a.xlsx", ["name"], ["A"])
    odd = rewritten(path, tmp_path / "b.xlsx", SHEET, lambda xml: b'<!DOCTYPE x [<!ENTITY a "b">]>' + xml)
    assert "has a <!DOCTYPE>, which no spreadsheet program writes." in complaint(odd)
    wide = rewritten(path, tmp_path / "c.xlsx", SHEET, lambda xml: xml.decode().encode("utf-16"))
    assert "is not in UTF-8" in complaint(wide)


def test_what_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = saved(tmp_path / "a.xlsx", ["name"], ["A"])
    monkeypatch.setattr("textsplice.corpus.workbook.MOST_BYTES", 1000)
    with pytest.raises(CorpusError, match=f"unpacks to more than 0 GiB or {MOST_FILES:,} files"):
        check_workbook(path)


def test_rows_far_down_do_not_fill_the_memory(tmp_path: Path):
    path = saved(tmp_path / "a.xlsx", ["name"], ["A"])
    odd = rewritten(
        path,
        tmp_path / "b.xlsx",
        SHEET,
        lambda xml: xml.replace(b'<row r="2"', b'<row r="900000000"').replace(b'r="A2"', b'r="A900000000"'),
    )
    assert "has more than 1,048,576 rows." in complaint(odd)


def test_without_the_extra_the_error_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = saved(tmp_path / "a.xlsx", ["name"], ["A"])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(
        MissingExtraError, match=r"needs the extra 'excel'.*pip install 'textsplice\[excel\]'"
    ):
        read_corpus(path)
