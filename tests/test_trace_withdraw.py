"""Withdrawing sources: every use is found, and what is made anew has none."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import textsplice
from textsplice.cli import app
from textsplice.errors import ConfigError, InputError, StorageError, TextspliceError
from textsplice.runs import Run
from textsplice.search.generation import Generation
from textsplice.splicer import Splicer
from textsplice.trace import uses
from textsplice.trace.withdraw import concerned, require_known, run_without

OLD = Path(__file__).parent / "data" / "version-0.1"
Characters = set[tuple[str, str, int]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("withdraw") / "full"
    shutil.copytree(OLD / "runs" / "full", folder)
    return folder


@pytest.fixture(scope="module")
def made(run: Path) -> list[Generation]:
    tables = [example.table for example in textsplice.read_corpus(str(OLD / "corpus"), "dev")]
    assert tables
    trained = list(Splicer.load(run).generate_many(tables, beam=2, progress=False))
    return [*trained, *Splicer.untrained(run).generate_many(tables, progress=False)]


def written(path: Path, rows: Iterable[Generation]) -> Path:
    path.write_text("".join(json.dumps(row.to_dict()) + "\n" for row in rows), encoding="utf-8")
    return path


def by_brute_force(rows: Iterable[Generation], sources: set[str]) -> Characters:
    """Every character whose token came from one of the sources, from the JSON alone."""
    found: Characters = set()
    for row in rows:
        value = json.loads(json.dumps(row.to_dict()))
        for place in value["provenance"]:
            rank = place["source"] - 1
            if 0 <= rank < len(value["sources"]["neighbors"]):
                name = value["sources"]["neighbors"][rank]["id"]
                if name in sources:
                    found |= {(row.id, name, at) for at in range(place["start"], place["stop"])}
    return found


def characters(rows: Iterable[Generation], sources: set[str]) -> Characters:
    """The same by `uses`, without the spaces between words."""
    return {
        (row.id, use.source, at)
        for row in rows
        for use in uses(row, sources)
        if use.start is not None and use.stop is not None
        for at in range(use.start, use.stop)
        if row.text[at] != " "
    }


def test_uses_are_those_of_a_search_by_brute_force(made: list[Generation]) -> None:
    ids = sorted({neighbor.id for row in made for neighbor in row.sources.neighbors})
    for seed in range(50):
        chosen = set(random.Random(seed).sample(ids, 5))
        assert characters(made, chosen) == by_brute_force(made, chosen)


def by_replay(row: Generation) -> dict[str, set[int]]:
    """For each source that a row splices from, the places of its characters; splice by splice, from JSON."""
    value = json.loads(json.dumps(row.to_dict()))
    neighbors = value["sources"]["neighbors"]
    canvas: list[tuple[int, str]] = []
    found: dict[str, set[int]] = {}
    for start, stop, number, begin, end in value["splices"]:
        if number == 0:
            tokens = value["sources"]["table"]["tokens"]
        elif number <= len(neighbors):
            tokens = neighbors[number - 1]["tokens"]
            found.setdefault(neighbors[number - 1]["id"], set())
        else:
            tokens = [value["sources"]["words"][str(number - 1 - len(neighbors))]]
        canvas[start:stop] = [(number, token) for token in tokens[begin:end]]
    place = 0
    for number, character in ((number, each) for number, token in canvas for each in token):
        if character not in "\x02\x03 ":
            place += value["text"][place] == " "
            assert value["text"][place] == character
            if 1 <= number <= len(neighbors):
                found[neighbors[number - 1]["id"]].add(place)
            place += 1
    return found


def test_uses_are_those_of_a_literal_replay(made: list[Generation]) -> None:
    tracer = Splicer.untrained(OLD / "runs" / "full").tracer
    traces = [tracer.trace(f"{row.text} {made[0].text}") for row in made[:20]]
    for row in (*made, *traces):
        replayed = by_replay(row)
        sources = set(replayed)
        assert {(name, at) for _, name, at in characters([row], sources)} == {
            (name, at) for name, places in replayed.items() for at in places
        }
        replaced = {use.source for use in uses(row, sources) if use.start is None}
        assert replaced == {name for name, places in replayed.items() if not places}


def test_a_use_quotes_what_it_covers(made: list[Generation]) -> None:
    row = next(row for row in made if row.policy == "swap")
    source = row.sources.neighbors[row.splices[0].neighbor - 1].id
    first, *_ = uses(row, {source})
    value = first.to_dict()
    position, quote = value["selector"]  # type: ignore[misc]
    assert row.text[position["start"] : position["end"]] == quote["exact"] == first.quote
    assert value["utf16"] == [first.start, first.stop]


def test_a_source_that_was_replaced_again_is_a_use_without_characters(made: list[Generation]) -> None:
    row = next(row for row in made if row.policy == "swap")
    source = row.splices[0].neighbor
    gone = Generation.from_dict({**row.to_dict(), "provenance": []})
    (use,) = uses(gone, {row.sources.neighbors[source - 1].id})
    assert (use.start, use.stop, use.quote) == (None, None, "")


def test_a_run_without_sources_offers_none_of_them_and_keeps_the_rest(
    run: Path, made: list[Generation], tmp_path: Path
) -> None:
    store = Run.open(run).store
    withdrawn = {row.sources.neighbors[0].id for row in made}
    other = run_without(Run.open(run), withdrawn, tmp_path / "other")
    assert not withdrawn & set(other.store.ids)
    assert other.store.ids == [name for name in store.ids if name not in withdrawn]
    assert other.id != Run.open(run).id
    assert other.check() > 0
    remade = list(Splicer.load(tmp_path / "other").generate_again(made[: len(made) // 2], progress=False))
    assert len(remade) == len(made) // 2
    for row, before in zip(remade, made[: len(made) // 2], strict=True):
        assert row.table == before.table
        assert not uses(row, withdrawn)
        assert not withdrawn & {neighbor.id for neighbor in row.sources.neighbors}
    assert textsplice.verify(remade, tmp_path / "other") == len(remade)


def test_texts_that_were_not_offered_a_source_stay_as_they_are(
    run: Path, made: list[Generation], tmp_path: Path
) -> None:
    offered = {neighbor.id for row in made for neighbor in row.sources.neighbors}
    unused = [name for name in Run.open(run).store.ids if name not in offered]
    run_without(Run.open(run), unused[:20], tmp_path / "other")
    again = Splicer.load(tmp_path / "other").generate_again(made[: len(made) // 2], progress=False)
    assert [row.text for row in again] == [row.text for row in made[: len(made) // 2]]


def test_the_command_lists_uses_and_makes_the_texts_anew(
    run: Path, made: list[Generation], tmp_path: Path
) -> None:
    file = written(tmp_path / "texts.jsonl", made)
    source = made[-1].sources.neighbors[made[-1].splices[0].neighbor - 1].id
    result = CliRunner().invoke(
        app,
        [
            *("withdraw", str(run), source, "--texts", str(file), "--uses", str(tmp_path / "uses.jsonl")),
            *("--out", str(tmp_path / "run"), "--remade", str(tmp_path / "new.jsonl")),
        ],
    )
    assert result.exception is None, result.output
    concerned = [row for row in made if uses(row, {source})]
    assert f"{len(concerned)} text" in result.output
    lines = (tmp_path / "uses.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["source"] for line in lines} == {source}
    assert textsplice.verify(tmp_path / "new.jsonl", tmp_path / "run") == len(concerned)


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ([], ConfigError, "no source is named. Give ids, or a file of ids with --ids-from."),
        (["ww1"], InputError, "has no text with the id 'ww1'. Did you mean 'w"),
        (["???"], InputError, "has no text with the id '???'. Ids are those of its texts."),
        (["--ids-from", "missing.txt"], ConfigError, "missing.txt"),
        (["w1", "--remade", "x.jsonl"], ConfigError, "--remade: needs --texts and --out."),
    ],
)
def test_bad_input_is_a_sentence(
    run: Path, arguments: list[str], error: type[TextspliceError], said: str
) -> None:
    result = CliRunner().invoke(app, ["withdraw", str(run), *arguments])
    assert isinstance(result.exception, error)
    assert said in result.exception.sentence()


def test_neither_every_text_nor_into_a_run_that_is_there(run: Path, tmp_path: Path) -> None:
    opened = Run.open(run)
    with pytest.raises(InputError, match="no text would be left"):
        run_without(opened, opened.store.ids, tmp_path / "empty")
    assert not (tmp_path / "empty").exists()
    run_without(opened, opened.store.ids[:1], tmp_path / "one")
    with pytest.raises(StorageError, match="is a run already"):
        run_without(opened, opened.store.ids[:1], tmp_path / "one")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("mine")
    with pytest.raises(StorageError):
        run_without(opened, opened.store.ids[:1], tmp_path / "mine")
    assert (tmp_path / "mine" / "letter.txt").read_text() == "mine"


def test_the_nearest_ids_are_named_in_a_large_store_too() -> None:
    known = {f"train-{number:06}" for number in range(20_000)}
    with pytest.raises(InputError) as raised:
        require_known(known, ["train-001234", "trian-01234"], "here")
    assert "has no text with the id 'trian-01234'. Did you mean 'train-" in raised.value.sentence()
    with pytest.raises(InputError, match="Ids are those of its texts"):
        require_known(known, ["é" * 100_000], "here")


@pytest.mark.parametrize("content", ["w1\r\nw2\r\n", "\ufeffw1\nw2", "w1\n\n  w2  \nw1\n"])
def test_a_file_of_ids_may_come_from_any_editor(run: Path, tmp_path: Path, content: str) -> None:
    ids = Run.open(run).store.ids
    text = content.replace("w1", ids[0]).replace("w2", ids[1])
    (tmp_path / "ids.txt").write_bytes(text.encode("utf-8"))
    result = CliRunner().invoke(
        app, ["withdraw", str(run), "--ids-from", str(tmp_path / "ids.txt"), "--out", str(tmp_path / "new")]
    )
    assert result.exception is None, result.output
    assert result.stdout.endswith("the run without 2 texts.\n")


@pytest.mark.parametrize("content", [b"w\0\n", b"\xff\xfe\n", b" \n\r\n", "\ufeff".encode()])
def test_a_file_without_ids_is_a_sentence(run: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ids.txt").write_bytes(content)
    result = CliRunner().invoke(app, ["withdraw", str(run), "--ids-from", str(tmp_path / "ids.txt")])
    assert isinstance(result.exception, TextspliceError)
    assert "\n" not in result.exception.sentence()
    assert "\0" not in result.exception.sentence()


def test_rows_are_read_one_by_one_and_what_is_kept_of_them_is_small(
    run: Path, made: list[Generation], tmp_path: Path
) -> None:
    file = written(tmp_path / "texts.jsonl", made)
    source = next(row for row in made if row.splices).sources.neighbors[0].id
    with file.open("a", encoding="utf-8") as more:
        more.write("not a row\n")
    rows = concerned([file], set(Run.open(run).store.ids))
    first = next(rows)  # nothing after the first row has been read
    assert first.where.endswith(":1")
    assert len(first.order.to_dict()["provenance"]) == 0  # type: ignore[arg-type]
    again = next(Splicer.load(run).generate_again([first.order], progress=False))
    assert again.text == next(Splicer.load(run).generate_again([first.generation], progress=False)).text
    uses_file = tmp_path / "uses.jsonl"
    result = CliRunner().invoke(
        app, ["withdraw", str(run), source, "--texts", str(file), "--uses", str(uses_file)]
    )
    assert isinstance(result.exception, TextspliceError)
    assert not uses_file.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["texts.jsonl"]


def test_changed_rows_are_refused_since_they_could_hide_a_use(
    run: Path, made: list[Generation], tmp_path: Path
) -> None:
    row = next(row for row in made if row.splices)
    source = row.sources.neighbors[0].id
    value = json.loads(json.dumps(row.to_dict()))
    for change in ({"splices": []}, {"text": "x"}, {"provenance": []}):
        file = tmp_path / "changed.jsonl"
        file.write_text(json.dumps({**value, **change}) + "\n", encoding="utf-8")
        result = CliRunner().invoke(app, ["withdraw", str(run), source, "--texts", str(file)])
        assert isinstance(result.exception, TextspliceError)
    file.write_text("", encoding="utf-8")
    result = CliRunner().invoke(app, ["withdraw", str(run), source, "--texts", str(file)])
    assert isinstance(result.exception, TextspliceError)


def test_what_is_refused_is_refused_before_anything_is_written(
    run: Path, made: list[Generation], tmp_path: Path
) -> None:
    file = written(tmp_path / "texts.jsonl", made)
    source = next(row for row in made if row.splices).sources.neighbors[0].id
    there = tmp_path / "there.jsonl"
    there.write_text("mine")
    start = ["withdraw", str(run), source, "--texts", str(file), "--out", str(tmp_path / "new")]
    for more in (["--remade", str(there)], ["--uses", str(there)]):
        result = CliRunner().invoke(app, [*start, *more])
        assert isinstance(result.exception, TextspliceError)
        assert not (tmp_path / "new").exists()
        assert there.read_text() == "mine"


def test_an_id_with_a_line_feed_is_one_line(run: Path, made: list[Generation], tmp_path: Path) -> None:
    row = next(row for row in made if row.policy == "swap")
    source = row.sources.neighbors[row.splices[0].neighbor - 1].id
    forged = Generation.from_dict({**row.to_dict(), "id": "x\n0 texts use this source.\ny"})
    file = written(tmp_path / "texts.jsonl", [forged])
    result = CliRunner().invoke(app, ["withdraw", str(run), source, "--texts", str(file)])
    assert result.exception is None
    assert "\n0 texts" not in result.output


def test_a_use_under_another_id_is_found_by_its_text(
    run: Path, made: list[Generation], tmp_path: Path
) -> None:
    row = next(row for row in made if uses(row, {row.sources.neighbors[0].id}))
    name, text = row.sources.neighbors[0].id, row.sources.neighbors[0].text
    value = json.loads(json.dumps(row.to_dict()))
    value["sources"]["neighbors"][0]["id"] = "train-other"
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(value) + "\n")
    assert not list(concerned([file], {name}))
    (found,) = concerned([file], {name}, {text: name})
    assert {use.source for use in found.uses} == {name}
    result = CliRunner().invoke(app, ["withdraw", str(run), name, "--texts", str(file)])
    assert "1 text uses this source." in result.output


def test_another_id_with_the_same_text_is_named(tmp_path: Path) -> None:
    corpus = tmp_path / "c.jsonl"
    rows = [
        {"id": i, "table": {"f": "v"}, "text": t} for i, t in (("a", "One."), ("b", "One."), ("c", "Two."))
    ]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = CliRunner().invoke(app, ["withdraw", str(corpus), "a"])
    assert "b has the same text as a and stays: withdraw it too?" in result.output
    assert "c has" not in result.output


@pytest.mark.parametrize(
    "options", [["--uses", "{rows}", "--force"], ["--uses", "{new}", "--remade", "{new}"]]
)
def test_what_is_written_is_no_other_file_of_the_command(
    run: Path, made: list[Generation], tmp_path: Path, options: list[str]
) -> None:
    file = written(tmp_path / "rows.jsonl", made[:1])
    before = file.read_bytes()
    named = [each.format(rows=file, new=tmp_path / "new.jsonl") for each in options]
    name = made[0].sources.neighbors[0].id
    out = ["--out", str(tmp_path / "without")]
    result = CliRunner().invoke(app, ["withdraw", str(run), name, "--texts", str(file), *out, *named])
    assert isinstance(result.exception, ConfigError)
    assert "is named twice, or is one of the texts." in result.exception.sentence()
    assert file.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.jsonl"]
