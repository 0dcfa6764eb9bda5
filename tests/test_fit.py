"""From a stranger's file to a system that writes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import bicycles
import textsplice
from textsplice.cli import app
from textsplice.corpus import read_corpus
from textsplice.errors import ConfigError, CorpusError, InputError
from textsplice.fit import Fitted
from textsplice.fit.compare import Result, best_of
from textsplice.fit.look import Look, look_at, unpicked
from textsplice.fit.plan import plan_for, with_steps, words_count, writer_config
from textsplice.fit.sample import sampled
from textsplice.fit.told import summary, verdict
from textsplice.runs import Prepared, Run
from textsplice.runs.checking import checker_of
from textsplice.runs.fitted import default_system, fitted


@pytest.fixture(scope="module")
def offers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bicycles.write_csv(tmp_path_factory.mktemp("offers") / "offers.csv", 140)


@pytest.fixture(scope="module")
def told() -> list[str]:
    return []


@pytest.fixture(scope="module")
def made(offers: Path, told: list[str]) -> Fitted:
    out = offers.parent / "mine"
    return textsplice.fit(str(offers), out, minutes=0.1, text_column="description", say=told.append)


def result(name: str, bleu: float, slot_errors: float | None) -> Result:
    return Result(name, bleu, slot_errors, 0, 100.0, 7.0, 0, 100, 0.1, ())


def test_it_says_what_it_found_and_what_it_will_do(made: Fitted, told: list[str]) -> None:
    said = "\n".join(told)
    for kind in ("code      unsaid", "gears     number", "electric  yes/no", "extras    list"):
        assert kind in said
    assert "train rows" in said
    assert "FULL is left out" in said
    assert made.best in said


def test_the_folder_writes_like_a_run(made: Fitted, offers: Path, tmp_path: Path) -> None:
    out = tmp_path / "texts.jsonl"
    command = ["generate", str(made.folder), str(offers), "--split", "test", "--out", str(out)]
    found = CliRunner().invoke(app, command)
    assert found.exit_code == 0, found.output
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    references = {example.text for example in read_corpus(offers, "all", text_column="description")}
    assert rows
    assert all("description" not in row["table"] for row in rows)
    assert sum(row["text"] in references for row in rows) < len(rows)
    verified = CliRunner().invoke(app, ["verify", str(out), "--run", str(made.folder)])
    assert verified.exit_code == 0, verified.output
    assert made.splicer().generate(rows[0]["table"]).text == rows[0]["text"]


def test_codes_are_never_said_and_lists_are_cut(made: Fitted) -> None:
    for each in made.results:
        assert not any("BX-" in row.text for row in each.rows)
    prepared = Prepared.open(made.folder / "prepared")
    assert prepared.config.corpus.list_columns
    assert prepared.kinds["code"] == "unsaid"


def test_called_again_it_only_compares(made: Fitted, offers: Path) -> None:
    before = Run.open(made.folder / "drafts").weights_id
    again = textsplice.fit(str(offers), made.folder, minutes=0.1, text_column="description")
    assert Run.open(made.folder / "drafts").weights_id == before
    assert [each.to_dict() | {"seconds a record": 0} for each in again.results] == [
        each.to_dict() | {"seconds a record": 0} for each in made.results
    ]


def test_slots_are_checked_as_the_folder_does(made: Fitted, offers: Path, tmp_path: Path) -> None:
    lexicon, kinds = checker_of(str(made.folder))
    assert kinds["electric"] == "yes/no"
    assert (lexicon is not None) == (made.folder / "wordings.toml").is_file()
    out = tmp_path / "texts.jsonl"
    command = ["generate", str(made.folder), str(offers), "--split", "dev", "--distinct", "--out", str(out)]
    assert CliRunner().invoke(app, command).exit_code == 0
    asked = ["--references", str(offers), "--split", "dev", "--run", str(made.folder), "--metrics", "BLEU"]
    found = CliRunner().invoke(app, ["evaluate", str(out), *asked, "--json"])
    assert found.exit_code == 0, found.output
    assert (f"lexicon:{lexicon}@" in found.output) == (lexicon is not None)


def test_another_file_needs_another_folder(made: Fitted, tmp_path: Path) -> None:
    other = bicycles.write_csv(tmp_path / "other.csv", 140, seed=3)
    before = {path: path.read_bytes() for path in made.folder.rglob("*") if path.is_file()}
    for more in ({}, {"limit": 100}):
        with pytest.raises(ConfigError, match=r"was made from .*Use another --out"):
            textsplice.fit(str(other), made.folder, minutes=0.1, text_column="description", **more)
    source = str(made.folder.parent / "offers.csv")
    with pytest.raises(ConfigError, match="with other kinds of fields"):
        textsplice.fit(source, made.folder, minutes=0.1, text_column="description", kinds=["code=said"])
    assert before == {path: path.read_bytes() for path in made.folder.rglob("*") if path.is_file()}


def test_the_summary_shows_what_came_and_escapes_it(made: Fitted) -> None:
    text = (made.folder / "summary.md").read_text(encoding="utf-8")
    assert "not picked" in text
    assert (made.folder / "report.html").is_file()
    look = look_at(str(made.folder.parent / "offers.csv"), "description")
    odd = replace(made.results[0], rows=(replace(made.results[0].rows[0], text="<script>*x*"),))
    assert "\\<script\\>\\*x\\*" in summary("x.csv", look, [odd], odd, made.folder)


def test_too_little_to_learn_from_is_a_sentence(tmp_path: Path) -> None:
    few = bicycles.write_csv(tmp_path / "few.csv", 12)
    with pytest.raises(
        CorpusError, match=r"12 rows have a text, \d+ of them to learn from; at least 30 are needed"
    ):
        textsplice.fit(str(few), tmp_path / "out", text_column="description")
    assert not (tmp_path / "out").exists()


def test_people_may_know_a_kind_better(tmp_path: Path) -> None:
    offers = str(bicycles.write_csv(tmp_path / "offers.csv", 140))
    kinds = {each.field: each.kind for each in look_at(offers, "description", ["code=said"]).fields}
    assert kinds["code"] == "said"
    with pytest.raises(ConfigError, match="'code' is not of the form FIELD=KIND"):
        textsplice.fit(offers, tmp_path / "out", text_column="description", kinds=["code"])
    assert not (tmp_path / "out").exists()


def test_a_row_without_text_and_one_that_repeats_the_header(tmp_path: Path) -> None:
    rows = [f"N{n},{n},N{n} is {n}." for n in range(60)]
    path = tmp_path / "x.csv"
    path.write_text("\n".join(["name,n,text", *(f"E{n},{n}," for n in range(20)), *rows]))
    said: list[str] = []
    config = textsplice.Config().with_values([f"corpus.source={path}"])
    made = textsplice.prepare(config, folder=tmp_path / "prepared", quiet=True, report=said.append)
    assert all(made.split("train").texts)
    assert any("training rows have no text and are left out; the first is" in line for line in said)
    path.write_text("\n".join(["name,n,text", *rows[:30], "name,n,text", *rows[30:]]))
    with pytest.raises(CorpusError, match=r"x\.csv:32: the row repeats the header\. Delete it\."):
        textsplice.fit(str(path), tmp_path / "out")


def test_texts_that_say_nothing_are_sentences(tmp_path: Path) -> None:
    rows = [f"N{n},{n},good" for n in range(80)]
    path = tmp_path / "x.csv"
    path.write_text("\n".join(["name,n,text", *rows]))
    with pytest.raises(CorpusError, match=r"all \d+ texts to learn from are the same: 'good'"):
        textsplice.fit(str(path), tmp_path / "out")
    path.write_text("\n".join(["name,n,text", *(f"{row} {'very ' * (n % 7)}" for n, row in enumerate(rows))]))
    with pytest.raises(CorpusError, match="no text says a value of its record"):
        textsplice.fit(str(path), tmp_path / "out")
    path.write_text("name,text\nA,A is good.\n")
    with pytest.raises(CorpusError, match="1 row has a text, "):
        textsplice.fit(str(path), tmp_path / "out")


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl"])
def test_a_part_of_a_large_file_has_whole_records(ending: str, tmp_path: Path) -> None:
    offers = [(f"N{n // 3}", f"text {n}, N{n // 3}\nis here") for n in range(3000)]
    path = tmp_path / f"many{ending}"
    if ending == ".jsonl":
        path.write_text("".join(json.dumps({"name": name, "text": text}) + "\n" for name, text in offers))
    else:
        mark = "," if ending == ".csv" else "\t"
        path.write_text(f"name{mark}text\n" + "".join(f'{name}{mark}"{text}"\n' for name, text in offers))
    rows, count, total = sampled(str(path), None, 300)
    assert total == 3000
    assert 200 < count < 420
    assert sampled(str(path), None, 300)[0] == rows
    part = tmp_path / f"part{ending}"
    part.write_text(rows)
    found = [(e.table.to_record()["name"], e.text) for e in read_corpus(part)]
    assert len(found) == count
    assert set(found) <= set(offers)
    assert {sum(name == other for other, _ in found) for name, _ in found} == {3}
    assert sampled(str(path), None, 10_000)[1] == 3000
    with pytest.raises(InputError, match=r"for a \.csv, \.tsv or \.jsonl file"):
        sampled("bundled", None, 10)


def test_a_part_is_read_and_refused_as_the_whole(tmp_path: Path) -> None:
    rows = [f"N{n};{n};caf\u00e9 N{n} costs {n}." for n in range(200)]
    path = tmp_path / "x.csv"
    path.write_text("\n".join(["name;n;text", *rows]), encoding="utf-8-sig")
    part = tmp_path / "part.csv"
    part.write_text(sampled(str(path), None, 50)[0], encoding="utf-8")
    assert {e.table.to_record()["name"] for e in read_corpus(part)} < {
        e.table.to_record()["name"] for e in read_corpus(path)
    }
    path.write_bytes("\n".join(["name;n;text", *rows[:90]]).encode() + "\ncaf\u00e9;1;x\n".encode("cp1252"))
    told: list[str] = []
    for limit in (None, 50):
        with pytest.raises(CorpusError) as caught:
            textsplice.fit(str(path), tmp_path / "out", limit=limit)
        told.append(str(caught.value))
    assert told[0] == told[1]
    assert "x.csv:92: byte 0xe9" in told[0]
    assert "Save the file as UTF-8." in told[0]
    path.with_suffix(".jsonl").write_text('{"name": "a", "text": "b"}\n{"name": }\n')
    with pytest.raises(CorpusError, match=r"x\.jsonl:2: is not JSON"):
        sampled(str(path.with_suffix(".jsonl")), None, 50)
    assert not (tmp_path / "out").exists()


def test_a_missing_text_column_names_the_columns(offers: Path, tmp_path: Path) -> None:
    for column in (None, "words"):
        with pytest.raises(CorpusError, match="maker"):
            textsplice.fit(str(offers), tmp_path / "out", text_column=column)
    with pytest.raises(InputError, match="can't be planned"):
        textsplice.fit(str(offers), tmp_path / "out", minutes=0)


def test_the_best_is_close_to_people_and_right() -> None:
    swap, drafts = result("swap", 60.0, 0.0), result("drafts", 62.0, 4.0)
    assert best_of([swap, drafts]) is swap
    assert "untrained swap is better" in verdict([swap, drafts], swap)
    assert best_of([swap, replace(swap, name="drafts", bleu=swap.bleu + 0.01)]) is swap  # shown alike
    assert best_of([swap, replace(drafts, slot_errors=1.5)]).name == "drafts"
    assert "chance" in verdict([swap, drafts], replace(drafts, slot_errors=1.5))
    assert best_of([swap, result("drafts", 60.0, None)]) is swap


def test_settings_suit_the_size(offers: Path) -> None:
    look = look_at(str(offers), "description")
    large = replace(look, rows={"train": 40_000, "dev": 400}, records={"train": 5000, "dev": 300})
    assert [words_count(rows) for rows in (30, 300, 5000, 40_000, 10**6)] == [2, 2, 7, 20, 50]
    assert not plan_for(look, 60).full_minutes
    assert not plan_for(large, 5).full_minutes
    assert plan_for(large, 60).full_minutes > 0
    config = writer_config(textsplice.Config(), large)
    for seconds, minutes in ((0.5, 10.0), (100.0, 0.1), (1e-6, 60.0)):
        steps = with_steps(config, 40_000, seconds, minutes).training
        assert steps.total_steps > steps.warmup_steps
        assert steps.total_steps // steps.validate_every >= 10


def test_dev_records_are_not_picked(offers: Path) -> None:
    corpus = (
        textsplice.Config().with_values([f"corpus.source={offers}", "corpus.text_column=description"]).corpus
    )
    tables = unpicked(corpus, "dev", 5)
    assert tables == unpicked(corpus, "dev", 100)[:5]


def test_only_our_own_file_names_a_default(tmp_path: Path) -> None:
    assert default_system(tmp_path) == tmp_path
    path = tmp_path / "fit.json"
    for content in ("{}", "[", '{"format": "textsplice.fit/1", "best": "../elsewhere"}', '{"best": "swap"}'):
        path.write_text(content)
        assert default_system(tmp_path) == tmp_path
    path.write_text(fitted("drafts"))
    assert default_system(tmp_path) == tmp_path / "drafts"


def test_what_was_looked_at_is_counted(offers: Path) -> None:
    look = look_at(str(offers), "description")
    assert isinstance(look, Look)
    assert sum(look.rows.values()) == 140
    assert look.whole_sentences
    assert look.verbatim > 0.8


def test_rows_of_one_record_alone_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("name,text\n" + "".join(f"A,Text {n} of it.\n" for n in range(60)))
    with pytest.raises(CorpusError) as caught:
        textsplice.fit(str(path), tmp_path / "out")
    assert "all 60 texts are about the same record. Are the columns of the records there" in str(caught.value)
    assert not (tmp_path / "out").exists()
