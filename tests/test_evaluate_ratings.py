"""Rating sheets are blinded and balanced; a known effect is found and an absent one is not."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from textsplice.cli.ratings import app
from textsplice.corpus.table import Table
from textsplice.errors import ConfigError, InputError
from textsplice.evaluate.outputs import Output
from textsplice.evaluate.ratings.analysis import analyses_as_data, analyses_as_markdown, analyze, tukey
from textsplice.evaluate.ratings.items import CRITERIA, make_items
from textsplice.evaluate.ratings.reading import Rating, Ratings, read_ratings
from textsplice.evaluate.ratings.sheets import write_sheets

pytest.importorskip("statsmodels")

SYSTEMS = ("splicer-full", "splicer-lrt", "baseline")


def outputs(system: str, count: int = 12) -> list[Output]:
    return [
        Output(str(n), Table.of({"name": f"Place <{n}>"}), f"Text {n} & {sum(map(ord, system))}", "x:1")
        for n in range(count)
    ]


def sheets_in(folder: Path, *, examples: int = 10, raters: int = 3) -> Path:
    systems = {name: outputs(name) for name in SYSTEMS}
    write_sheets(folder, make_items(systems, examples=examples, raters=raters, seed=3), seed=3)
    return folder


def fill(folder: Path, *, effect: float, leave_out: int | None = None) -> list[Path]:
    """Marks around 3, with `effect` for the first system."""
    key = {item["item"]: item for item in json.loads((folder / "key.json").read_text())["items"]}
    noise = random.Random(1)
    filled: list[Path] = []
    for number, path in enumerate(sorted(folder.glob("rater-*.csv"))):
        rows = list(csv.DictReader(path.open(encoding="utf-8")))
        for row in rows:
            good = effect if key[row["item"]]["system"] == SYSTEMS[0] else 0.0
            for criterion in CRITERIA:
                row[criterion] = str(min(5, max(1, round(3 + good + noise.gauss(0, 0.7)))))
        if number == leave_out:
            rows[5]["faithfulness"] = ""
        target = folder / f"filled-{number}.csv"
        with target.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)
        filled.append(target)
    return filled


def test_every_system_stands_equally_often_in_every_round() -> None:
    systems = {name: outputs(name) for name in SYSTEMS}
    for sheet in make_items(systems, examples=12, raters=3, seed=5):
        rounds = [sheet[start : start + 12] for start in range(0, 36, 12)]
        for shown in rounds:
            assert set(Counter(item.system for item in shown).values()) == {4}
            assert len({item.example for item in shown}) == 12
        assert len({(item.example, item.system) for item in sheet}) == 36


def test_raters_meet_an_example_in_different_orders() -> None:
    systems = {name: outputs(name) for name in SYSTEMS}
    sheets = make_items(systems, examples=6, raters=3, seed=5)
    orders = {tuple(item.system for item in sheet if item.example == 0) for sheet in sheets}
    assert len(orders) == 3


def test_sheets_do_not_name_systems_and_escape_what_they_show(tmp_path: Path) -> None:
    sheets_in(tmp_path)
    for path in tmp_path.glob("rater-*"):
        text = path.read_text(encoding="utf-8")
        assert not any(name in text for name in SYSTEMS)
        assert "{{" not in text
    page = (tmp_path / "rater-01.html").read_text(encoding="utf-8")
    assert "Place &lt;" in page
    assert "Place <" not in page
    assert "http" not in page
    assert page.count("<section") == 30


def test_a_known_effect_is_found(tmp_path: Path) -> None:
    ratings = read_ratings(sheets_in(tmp_path) / "key.json", fill(tmp_path, effect=1.0))
    for analysis in analyze(ratings):
        assert analysis.effect("system").p < 0.001
        assert max(analysis.means, key=lambda system: analysis.means[system]) == "splicer-full"
        pairs = {frozenset((d.first, d.second)): d for d in analysis.differences}
        assert pairs[frozenset(("splicer-full", "baseline"))].p < 0.01
        assert pairs[frozenset(("splicer-full", "baseline"))].low > 0.3
        unrelated = pairs[frozenset(("splicer-lrt", "baseline"))]
        assert unrelated.low < 0 < unrelated.high


def test_where_there_is_no_effect_one_is_seen_as_rarely_as_chance_allows() -> None:
    noise = random.Random(1)
    found: list[float] = []
    for _ in range(12):
        marks = tuple(
            Rating(rater, example, system, criterion, min(5, max(1, round(noise.gauss(3, 0.9)))))
            for rater in range(3)
            for example in range(8)
            for system in SYSTEMS
            for criterion in CRITERIA
        )
        found += [analysis.effect("system").p for analysis in analyze(Ratings(marks, (0, 1, 2), {}))]
    # Of 36 honest p-values about two are below 0.05 (seven or more: once in 400 times), and half below 0.5.
    assert sum(p < 0.05 for p in found) < 7
    assert 9 < sum(p < 0.5 for p in found) < 27


def test_an_incomplete_rater_is_left_out_and_named(tmp_path: Path) -> None:
    ratings = read_ratings(sheets_in(tmp_path) / "key.json", fill(tmp_path, effect=1.0, leave_out=1))
    assert ratings.raters == (0, 2)
    assert ratings.excluded == {1: "89 of 90 marks were given"}
    page = analyses_as_markdown(ratings, analyze(ratings))
    assert "Rater 2 is left out: 89 of 90 marks were given." in page


def test_no_item_looks_like_a_number_to_a_spreadsheet() -> None:
    systems = {name: outputs(name) for name in SYSTEMS}
    sheets = make_items(systems, examples=12, raters=9, seed=5)
    assert all(item.item[0] == "t" for sheet in sheets for item in sheet)
    assert len({item.item for sheet in sheets for item in sheet}) == 12 * 9 * 3


def test_a_sheet_that_a_spreadsheet_saved_in_its_own_encoding_is_read(tmp_path: Path) -> None:
    files = fill(sheets_in(tmp_path), effect=1.0)
    expected = read_ratings(tmp_path / "key.json", files)
    text = files[0].read_text(encoding="utf-8").replace("Text ", "Café – ")
    files[0].write_bytes(text.encode("cp1252"))
    with pytest.raises(UnicodeDecodeError):
        files[0].read_text(encoding="utf-8")
    assert read_ratings(tmp_path / "key.json", files) == expected


@pytest.mark.parametrize("content", ["", "item,table,text,naturalness,faithfulness,informativeness\n"])
def test_a_file_without_a_row_is_left_out_and_named(tmp_path: Path, content: str) -> None:
    files = fill(sheets_in(tmp_path), effect=1.0)
    files[1].write_text(content)
    ratings = read_ratings(tmp_path / "key.json", files)
    assert ratings.raters == (0, 2)
    assert ratings.empty == (str(files[1]),)
    analyses = analyze(ratings)
    assert f"{files[1]} is left out: it has no rows." in analyses_as_markdown(ratings, analyses)
    assert analyses_as_data(ratings, analyses)["empty"] == [str(files[1])]
    with pytest.raises(InputError, match=r"^no rater finished, so there is nothing to analyze\.$"):
        read_ratings(tmp_path / "key.json", [files[1]])


def run(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None:
        raise result.exception
    return result.stdout


def written_outputs(folder: Path, system: str) -> str:
    rows = [{"id": o.id, "table": o.table.to_record(), "text": o.text} for o in outputs(system) if o.table]
    path = folder / f"{system}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return f"{system}={path}"


def test_sheets_are_made_and_read_by_the_command_with_the_same_figures_every_time(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    sheets = tmp_path / "sheets"
    systems = [written_outputs(tmp_path, system) for system in SYSTEMS]
    told = run("make", *systems, "--out", sheets, "--examples", "10", "--raters", "3").splitlines()
    assert told[:2] == [str(sheets / "rater-01.html"), str(sheets / "rater-01.csv")]
    assert told[-1] == "Send each rater one file; keep key.json to yourself."
    assert len(list(sheets.iterdir())) == 8
    filled = fill(sheets, effect=1.0)
    page = run("read", sheets, *filled)
    assert page.startswith("# Ratings by 3 raters\n")
    assert page.strip() == (sheets / "ratings.md").read_text(encoding="utf-8").strip()
    data = json.loads((sheets / "ratings.json").read_text(encoding="utf-8"))
    assert [each["criterion"] for each in data["criteria"]] == list(CRITERIA)
    assert (sheets / "ratings.png").read_bytes()[:4] == b"\x89PNG"
    # The figure names what was rated, and who.
    drawn = (sheets / "ratings.svg").read_text(encoding="utf-8")
    assert all(f"<!-- {name} -->" in drawn for name in (*SYSTEMS, *CRITERIA))
    run("read", sheets, *filled, "--out", tmp_path / "again")
    for name in ("ratings.png", "ratings.svg", "ratings.json", "ratings.md"):
        assert (sheets / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    run("read", sheets, *filled, "--out", tmp_path / "bare", "--no-figure")
    assert sorted(path.name for path in (tmp_path / "bare").iterdir()) == [
        "ratings.json",
        "ratings.md",
        "textsplice.json",
    ]


def test_a_filled_sheet_is_never_overwritten(tmp_path: Path) -> None:
    sheets = tmp_path / "sheets"
    arguments = ("make", *(written_outputs(tmp_path, name) for name in SYSTEMS), "--out", sheets)
    run(*arguments, "--examples", "4", "--raters", "2")
    made = {path.name: path.read_bytes() for path in sheets.iterdir()}
    run(*arguments, "--examples", "4", "--raters", "2")
    assert {path.name: path.read_bytes() for path in sheets.iterdir()} == made
    sheet = sheets / "rater-02.csv"
    filled = sheet.read_text(encoding="utf-8").replace(",,,\n", ",5,4,3\n")
    sheet.write_text(filled, encoding="utf-8")
    with pytest.raises(ConfigError) as raised:
        run(*arguments, "--examples", "4", "--raters", "2")
    assert raised.value.sentence() == (
        f"{sheet}: was changed after this command wrote it. Move it away, or name another folder with --out."
    )
    assert sheet.read_text(encoding="utf-8") == filled


def test_the_key_of_other_sheets_is_never_overwritten(tmp_path: Path) -> None:
    sheets = tmp_path / "sheets"
    arguments = ("make", *(written_outputs(tmp_path, name) for name in SYSTEMS), "--out", sheets)
    run(*arguments, "--examples", "4", "--raters", "2")
    made = {path.name: path.read_bytes() for path in sheets.iterdir()}
    with pytest.raises(ConfigError) as raised:
        run(*arguments, "--examples", "4", "--raters", "2", "--seed", "2")
    assert raised.value.sentence() == (
        f"{sheets / 'key.json'}: is the key of other sheets, which raters may have."
        " Name another folder with --out."
    )
    assert {path.name: path.read_bytes() for path in sheets.iterdir()} == made


def test_reading_ratings_does_not_overwrite_other_files(tmp_path: Path) -> None:
    filled = fill(sheets_in(tmp_path), effect=1.0)
    (tmp_path / "ratings.md").write_text("my notes", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"ratings\.md: already exists and was not written by this command"):
        run("read", tmp_path, *filled, "--no-figure")
    assert (tmp_path / "ratings.md").read_text(encoding="utf-8") == "my notes"
    assert not (tmp_path / "ratings.json").exists()


def test_one_system_alone_can_not_be_rated(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"^OUTPUTS: ratings compare at least two systems with different names"
    ):
        run("make", written_outputs(tmp_path, "baseline"), "--out", tmp_path / "sheets")


def test_tukey_equals_scipys_for_one_way_data() -> None:
    from scipy.stats import tukey_hsd

    groups = {"a": [1, 2, 3, 2], "b": [2, 3, 4, 5], "c": [4, 5, 5, 3]}
    means = {name: sum(given) / 4 for name, given in groups.items()}
    within = sum((mark - means[name]) ** 2 for name, given in groups.items() for mark in given)
    found = tukey(means, dict.fromkeys(groups, 4), within / 9, 9)
    expected = tukey_hsd(*groups.values())
    assert [d.p for d in found] == pytest.approx([expected.pvalue[i, j] for i, j in ((0, 1), (0, 2), (1, 2))])
    interval = expected.confidence_interval(0.95)
    assert found[1].low == pytest.approx(interval.low[2, 0])
    assert found[1].high == pytest.approx(interval.high[2, 0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("naturalness", "6"), ":2: naturalness is '6', not a mark from 1 to 5."),
        (("item", "nobody"), ":2: the item 'nobody' is not in the key."),
    ],
)
def test_bad_sheets_are_sentences(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    path = fill(sheets_in(tmp_path), effect=0.0)[0]
    rows = list(csv.DictReader(path.open(encoding="utf-8")))
    rows[0][change[0]] = change[1]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(InputError) as raised:
        read_ratings(tmp_path / "key.json", [path])
    assert raised.value.sentence() == f"{path}{message}"


def test_more_examples_than_there_are_is_refused() -> None:
    systems = {name: outputs(name) for name in SYSTEMS}
    with pytest.raises(InputError) as raised:
        make_items(systems, examples=13, raters=1, seed=1)
    assert raised.value.sentence() == (
        "only 12 tables have an output of every system; 13 are needed. Ask for fewer with --examples."
    )
