"""Tracing: any text has its least derivation, and what stands nowhere is a gap at its exact place."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from functools import cache
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import textsplice
from textsplice import Table, schemas
from textsplice.cli import app
from textsplice.corpus.table import Example
from textsplice.errors import InputError, TextspliceError
from textsplice.oracle import derive
from textsplice.report.document import read_document
from textsplice.report.plain import plain
from textsplice.search.generation import Generation
from textsplice.search.traced import Certificate, Gap
from textsplice.search.verify import find_lie
from textsplice.text.tokens import BEGIN, END, tokenize
from textsplice.trace.texts import SourceTexts
from textsplice.trace.tracing import Tracer

TEXTS = [
    ("The Mill is a quiet pub near the river.", {"name": "The Mill", "near": "river"}),
    ("Heron Hall is a cheap restaurant, and it is near the old bridge.", {"name": "Heron Hall"}),
    ("It costs £20 and is open 24/7.", {"price": "£20"}),
]


@cache
def tracer() -> Tracer:
    examples = [Example(f"t{n}", Table.of(table), text) for n, (text, table) in enumerate(TEXTS)]
    return Tracer(SourceTexts.of_examples(examples, "words"))


def gaps(row: Generation) -> list[str]:
    return [row.text[gap.start : gap.stop] for gap in row.gaps]


def test_a_text_of_the_store_takes_one_splice() -> None:
    row = tracer().trace(TEXTS[0][0])
    assert len(row.splices) == 1
    assert row.gaps == ()
    assert str(row.certificate) == "least over 3 rows: proved"
    assert row.sources.neighbors[0].id == "t0"
    assert (row.policy, row.attribution) == ("trace", "least")


def test_what_stands_nowhere_is_a_gap_with_its_characters() -> None:
    row = tracer().trace("The Mill 😀 is a noisy smelly pub near the river.")
    assert gaps(row) == ["😀", "noisy smelly"]
    assert [gap.utf16 for gap in row.gaps] == [(9, 11), (17, 29)]
    assert row.traced is not None
    assert row.traced.covered == 1 - 3 / len(row.tokens)
    assert find_lie(row) is None


def test_the_text_keeps_its_own_spaces() -> None:
    text = "It costs £20 , and is open 24 / 7 ."
    row = tracer().trace(text)
    assert row.text == text
    assert find_lie(row) is None
    assert Generation.from_dict(json.loads(json.dumps(row.to_dict()))) == row


def test_with_a_record_values_come_from_it_and_not_from_the_texts() -> None:
    row = tracer().trace("The Swan is a quiet pub near the river.", {"name": "The Swan"})
    assert gaps(row) == ["river"]  # another record's value
    assert row.provenance[1].source == 0
    without = tracer().trace("The Swan is a quiet pub near the river.")
    assert gaps(without) == ["Swan"]


def test_a_value_of_the_record_is_no_gap() -> None:
    row = tracer().trace("The Swan is a quiet pub near the canal.", {"name": "The Swan", "near": "canal"})
    assert row.gaps == ()


WORDS = ["a", "b", "c", "d"]


@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), min_size=1, max_size=4),
    st.lists(st.sampled_from([*WORDS, "x", "y"]), min_size=1, max_size=7),
)
def test_the_cost_is_that_of_deriving_from_all_texts(rows: list[list[str]], text: list[str]) -> None:
    examples = [Example(str(n), Table.of({"f": "v"}), " ".join(row)) for n, row in enumerate(rows)]
    row = Tracer(SourceTexts.of_examples(examples, "words")).trace(" ".join(text))
    known = {word for words in rows for word in words}
    foreign = [word for word in text if word not in known]
    sources = [[BEGIN, *words, END] for words in rows] + [[word] for word in set(foreign)]
    assert len(row.splices) == len(derive([BEGIN, *text, END], sources))
    assert find_lie(row) is None
    fast = Tracer(SourceTexts.of_examples(examples, "words")).trace(" ".join(text), exact=False)
    assert gaps(fast) == gaps(row)
    assert len(fast.splices) >= len(row.splices)
    assert fast.certificate is not None
    if fast.certificate.proved:  # it has looked at all rows
        assert len(fast.splices) == len(row.splices)


def test_every_planted_word_is_a_gap_and_nothing_else_is() -> None:
    generator = random.Random(7)
    texts = [example.text or "" for example in textsplice.read_corpus("bundled", "train")][:60]
    examples = [Example(str(n), Table.of({"f": "v"}), text) for n, text in enumerate(texts)]
    traced = Tracer(SourceTexts.of_examples(examples, "words"))
    for number in range(40):
        words = tokenize(generator.choice(texts)).text.split(" ")
        place = generator.randrange(len(words) + 1)
        planted = f"zq{number}"
        text = " ".join([*words[:place], planted, *words[place:]])
        row = traced.trace(text, exact=number % 2 == 0)
        start = text.index(planted)
        assert [(gap.start, gap.stop) for gap in row.gaps] == [(start, start + len(planted))]


def test_a_trace_is_a_row_of_the_published_schema_and_has_views() -> None:
    row = tracer().trace("The Mill is a noisy pub.").to_dict()
    jsonschema.validate(row, schemas.load("generation"))
    document = read_document(row)
    jsonschema.validate(document.to_dict(), schemas.load("derivation"))
    shown = plain(document)
    assert "from no source" in shown
    assert "1 gap · least over 3 rows: proved" in shown


@pytest.mark.parametrize(
    ("forged", "lie"),
    [
        (lambda row: replace(row, traced=replace(row.traced, gaps=())), "its gaps are not the words"),
        (
            lambda row: replace(row, traced=replace(row.traced, gaps=(Gap(0, 3, (0, 3)),))),
            "its gaps are not the words",
        ),
        (lambda row: replace(row, traced=replace(row.traced, covered=1.0)), "the share that it says"),
        (lambda row: replace(row, text=row.text.replace("noisy", "quiet")), "its text is not made of"),
        (lambda row: replace(row, text=row.text.replace(" pub", "pub")), "its text is not made of"),
        (lambda row: replace(row, attribution="exact"), "its attribution is not 'exact'"),
        (lambda row: replace(row, policy="swap", attribution="exact"), "only a trace says"),
        (lambda row: replace(row, traced=None), "only a trace says"),
        (
            lambda row: replace(row, traced=replace(row.traced, certificate=Certificate(0, 0, True))),
            "its certificate can't be",
        ),
    ],
)
def test_a_forged_trace_is_found(forged: object, lie: str) -> None:
    row = tracer().trace("The Mill is a noisy pub.")
    assert find_lie(row) is None
    assert str(find_lie(forged(row))).startswith(lie)  # type: ignore[operator]


def invoke(*arguments: object, text: str | None = None) -> tuple[list[dict[str, object]], str]:
    result = CliRunner().invoke(app, list(map(str, arguments)), input=text)
    assert result.exception is None, result.exception
    return [json.loads(line) for line in result.stdout.splitlines()], result.stderr


def test_the_command_takes_lines_json_and_standard_input(tmp_path: Path) -> None:
    corpus, lines, rows = tmp_path / "corpus.jsonl", tmp_path / "drafts.txt", tmp_path / "drafts.jsonl"
    corpus.write_text("".join(json.dumps({"table": t, "text": x}) + "\n" for x, t in TEXTS), encoding="utf-8")
    lines.write_text("The Mill is noisy.\n\nIt is open.\n", encoding="utf-8")
    record = {"id": "one", "text": "The Swan is a pub.", "table": {"name": "The Swan"}}
    rows.write_text(json.dumps(record) + "\n", encoding="utf-8")
    found, said = invoke("trace", corpus, lines)
    assert [row["id"] for row in found] == ["1", "3"]
    assert said.endswith("2 traced; 88.9% of 9 words and marks have a source; 1 gaps.\n")
    found, _ = invoke("trace", corpus, rows, "--fast")
    assert [row["id"] for row in found] == ["one"]
    found, _ = invoke("trace", corpus, "-", "-q", text="The Mill is noisy.\n")
    assert found[0]["trace"] is not None
    out = tmp_path / "traces.jsonl"
    invoke("trace", corpus, lines, "--out", out)
    assert textsplice.verify(out) == 2
    said = CliRunner().invoke(app, ["verify", str(out)]).stdout
    assert "whether fewer splices would do, or a gap has a source, in 2 rows of traces" in said


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", "", "there is no text."),
        ("a.txt", "\n \n", "there is no text."),
        ("a.jsonl", "{}\n", "a.jsonl:1: there is no 'text', or it is empty."),
        ("a.jsonl", '{"text": " "}\n', "there is no 'text', or it is empty."),
        ("a.jsonl", '{"text": [7]}\n', "there is no 'text', or it is empty."),
        ("a.jsonl", '{"text": "a", "id": []}\n', "'id' is not a text."),
        ("a.jsonl", '{"text": "a", "table": "b"}\n', "'table' is not an object."),
        ("a.jsonl", '{"text": "a", "table": {}}\n', "the table has no field."),
        ("a.jsonl", "nonsense\n", "a.jsonl:1"),
        ("a.txt", "a " * 100_000, "a text of 100,000 tokens is too long to trace; 1,022 is the most."),
        ("a.txt", "\u200b\n", "there is nothing to read in this text."),
    ],
)
def test_bad_texts_are_a_sentence(tmp_path: Path, name: str, content: str, said: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    result = CliRunner().invoke(app, ["trace", "bundled", str(tmp_path / name)])
    assert isinstance(result.exception, TextspliceError), result.exception
    assert said in result.exception.sentence()


def test_a_text_in_another_script_is_one_gap() -> None:
    row = tracer().trace("患者 被给予")
    assert gaps(row) == ["患者 被给予"]
    assert row.traced is not None
    assert row.traced.covered == 0


def test_a_store_without_texts_is_a_sentence() -> None:
    with pytest.raises(InputError, match="there is no text to trace to"):
        SourceTexts.of_examples([Example("a", Table.of({"a": "b"}), None)], "words")
