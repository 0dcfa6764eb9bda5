"""Spans by selectors of W3C Web Annotation: in rows, in the schema, and as a page of annotations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import textsplice
from search_world import prepared, tables
from textsplice import Table, schemas
from textsplice.cli import app
from textsplice.corpus.table import Example
from textsplice.errors import ConfigError, VerificationError
from textsplice.report.annotations import annotation_page
from textsplice.report.document import read_document
from textsplice.search.generation import Generation
from textsplice.search.rows import read_generations, row_text
from textsplice.splicer import Splicer
from textsplice.trace import SourceTexts, Tracer

OLD = Path(__file__).parent / "data" / "version-0.1"


@cache
def made() -> list[Generation]:
    return list(Splicer.untrained(prepared()).generate_many(tables()[:6], progress=False))


@cache
def tracer() -> Tracer:
    texts = ["The Mill 😀 is a quiet pub.", "It  is\u00a0near the river.", "Cafe\u0301 24/7."]
    examples = [Example(f"t/{n}", Table.of({"x": "y"}), text) for n, text in enumerate(texts)]
    return Tracer(SourceTexts.of_examples(examples, "words"))


def check(row: Generation) -> None:
    """Every character but spaces is in just one span, and selectors quote what they select."""
    value: dict[str, Any] = json.loads(row_text(row.with_selectors()))
    jsonschema.validate(value, schemas.load("generation"))
    texts = {neighbor["id"]: neighbor["text"] for neighbor in value["sources"]["neighbors"]}
    seen: list[int] = []
    for span in value["spans"]:
        position, quote = span["selector"]
        selects(value["text"], position, quote)
        seen += range(position["start"], position["end"])
        source = span["source"]
        if source and "selector" in source:
            selects(texts[source["id"]], *source["selector"])
            assert source["selector"][1]["exact"] == quote["exact"]
    assert len(set(seen)) == len(seen)
    assert {at for at, c in enumerate(value["text"]) if c != " "} <= set(seen)
    gaps = [(gap["start"], gap["stop"]) for gap in value.get("trace", {}).get("gaps", [])]
    without = [span["selector"][0] for span in value["spans"] if span["source"] is None]
    assert [(place["start"], place["end"]) for place in without] == gaps
    assert Generation.from_dict(value).to_dict() == value


def selects(text: str, position: Mapping[str, Any], quote: Mapping[str, Any]) -> None:
    start, end = position["start"], position["end"]
    assert text[start:end] == quote["exact"]
    assert text[:start].endswith(quote["prefix"])
    assert text[end:].startswith(quote["suffix"])
    assert max(len(quote["prefix"]), len(quote["suffix"])) <= 32


def test_the_spans_of_generated_texts() -> None:
    for row in made():
        check(row)
    kinds = {key for row in made() for span in row.spans() for key in span["source"]}  # type: ignore[union-attr]
    assert {"id", "field", "selector"} <= kinds


words = st.sampled_from("The Mill 😀 is a quiet noisy pub near the river Café 24/7 🦆 .".split())


@given(st.lists(words, min_size=1, max_size=12))
def test_the_spans_of_traces(tokens: list[str]) -> None:
    check(tracer().trace(" ".join(tokens)))


def test_a_source_that_normalizing_changes_has_no_selector() -> None:
    row = tracer().trace("It is near the river.")
    assert [span["source"] for span in row.spans()] == [{"id": "t/1"}]


def test_rows_have_no_spans_unless_asked_for() -> None:
    assert "spans" not in made()[0].to_dict()


def test_a_forged_selector_is_found(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    value = json.loads(row_text(made()[0].with_selectors()))
    file.write_text(json.dumps(value) + "\n", encoding="utf-8")
    assert textsplice.verify(file) == 1
    for spans in (value["spans"][1:], [], [{**value["spans"][0], "source": None}, *value["spans"][1:]], 7):
        file.write_text(json.dumps({**value, "spans": spans}) + "\n", encoding="utf-8")
        with pytest.raises(VerificationError, match="spans"):
            textsplice.verify(file)


@pytest.mark.parametrize("kind", ["full", "lrt", "copy"])
def test_rows_of_version_0_1_have_annotations(kind: str) -> None:
    for _, row in read_generations(OLD / f"{kind}.jsonl"):
        page = json.loads(annotation_page(read_document(row.to_dict())))
        assert len(page["items"]) == len(row.spans())


def test_a_page_of_annotations() -> None:
    row = tracer().trace("The Mill 😀 is a noisy pub.")
    page = json.loads(annotation_page(read_document(row.to_dict())))
    assert (page["@context"], page["type"]) == ("http://www.w3.org/ns/anno.jsonld", "AnnotationPage")
    assert len({item["id"] for item in page["items"]}) == len(page["items"]) == 3
    assert {item["type"] for item in page["items"]} == {"Annotation"}
    gap = page["items"][1]
    assert gap["target"]["selector"][1]["exact"] == "noisy"
    assert gap["body"]["value"] == "stands in no source"
    first = page["items"][0]["body"]
    assert first["source"] == "urn:textsplice:source:t%2F0"
    # W3C counts code points: 😀 is one.
    assert first["selector"][0] == {"type": "TextPositionSelector", "start": 0, "end": 15}


def test_the_commands(tmp_path: Path) -> None:
    texts, out = tmp_path / "drafts.txt", tmp_path / "out.jsonl"
    texts.write_text("The walk is easy, zqx.\n", encoding="utf-8")
    run = CliRunner().invoke
    assert run(app, ["trace", "bundled", str(texts), "--selectors", "--out", str(out)]).exit_code == 0
    value = json.loads(out.read_text(encoding="utf-8"))
    assert value["spans"][-2]["selector"][1]["exact"] == "zqx"
    assert run(app, ["verify", str(out)]).exit_code == 0
    page = run(app, ["explain", str(out), "--as", "annotations"]).stdout
    assert json.loads(page)["items"]
    table = tmp_path / "tables.jsonl"
    table.write_text(json.dumps({"id": "w", "table": tables()[0].to_record()}) + "\n", encoding="utf-8")
    rows = tmp_path / "rows.jsonl"
    start = ["generate", str(prepared().folder), str(table), "--out", str(rows)]
    assert run(app, [*start, "--selectors"]).exit_code == 0
    assert json.loads(rows.read_text(encoding="utf-8"))["spans"]
    done = run(app, [*start, "--resume"])
    assert isinstance(done.exception, ConfigError)
    said = "has its spans by selectors. Go on with --selectors, or name another file."
    assert str(done.exception) == f"{rows}:1: {said}"
