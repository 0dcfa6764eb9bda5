"""The gate: honest drafts pass, and every draft with something of its own is refused with its place."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

import textsplice
from textsplice import Table, rules
from textsplice.cli import app
from textsplice.corpus.table import Example
from textsplice.errors import TextspliceError
from textsplice.slots.lexicon import Lexicon
from textsplice.trace.gate import Gate, Verdict
from textsplice.trace.reading import Draft
from textsplice.trace.texts import SourceTexts
from textsplice.trace.tracing import Tracer


@cache
def examples() -> list[Example]:
    return list(textsplice.read_corpus("bundled", "train"))[:400]


@cache
def tracer() -> Tracer:
    return Tracer(SourceTexts.of_examples(examples(), "words"))


@cache
def lexicon() -> Lexicon:
    return Lexicon.named("bundled", ())


def judged(text: str, table: Table | None = None, **settings: object) -> Verdict:
    return Gate(tracer(), **settings).judge(Draft("a", text, table, "here"))  # type: ignore[arg-type]


def whys(verdict: Verdict) -> list[str]:
    return [reason.why for reason in verdict.reasons]


def test_a_text_of_the_store_passes_and_is_given() -> None:
    example = examples()[3]
    assert example.text is not None
    verdict = judged(example.text, example.table, lexicon=lexicon())
    assert verdict.accepted
    assert verdict.given is verdict.trace
    assert verdict.to_dict()["text"] == example.text


def test_a_word_without_a_source_is_refused_with_its_characters_unless_it_is_allowed() -> None:
    text = f"Honestly {examples()[3].text}"
    (reason,) = judged(text).reasons
    assert (reason.why, reason.start, reason.stop, reason.utf16) == ("gap", 0, 8, (0, 8))
    assert reason.what == "'Honestly' stands in no source"
    assert judged(text, allowed=frozenset(["honestly"])).accepted


def test_rules_splices_and_seams_are_reasons() -> None:
    text = str(examples()[3].text)
    table = examples()[3].table
    assert whys(judged(text, table, rules=(rules.ForbidWords(["the"]),))) == ["rule"]
    mixed = f"{text} {examples()[9].text}"
    assert "splices" in whys(judged(mixed, most_splices=1))
    assert "seams" in whys(judged(mixed, most_seams=0))


def test_no_draft_with_one_wrong_value_passes() -> None:
    generator = random.Random(3)
    others: dict[str, list[str]] = {}
    for example in examples():
        for name, values in example.table:
            others.setdefault(name, []).extend(values)
    planted, passed = 0, list[str]()
    for example in examples():
        own = {each.casefold() for _, values in example.table for each in values}
        possible = [
            (value, wrong)
            for name, values in example.table
            for value in values
            if value in str(example.text)
            for wrong in sorted({each for each in others[name] if each.casefold() not in own})
        ]
        if possible:
            value, wrong = generator.choice(possible)
            text = str(example.text).replace(value, wrong)
            planted += 1
            if judged(text, example.table, lexicon=lexicon(), exact=False).accepted:
                passed.append(f"{example.table.to_record()}: {text}")
    assert planted > 300
    assert passed == []


def invoke(*arguments: object) -> tuple[int, list[dict[str, object]], str]:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, [json.loads(line) for line in result.stdout.splitlines()], result.stderr


def test_the_command_says_all_in_json_and_by_its_exit_code(tmp_path: Path) -> None:
    corpus, drafts = tmp_path / "corpus.jsonl", tmp_path / "drafts.jsonl"
    rows = [{"table": e.table.to_record(), "text": e.text} for e in examples()[:40]]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    honest = {"id": "good", "text": rows[0]["text"], "table": rows[0]["table"]}
    drafts.write_text(json.dumps(honest) + "\n", encoding="utf-8")
    code, found, said = invoke("gate", corpus, drafts)
    assert (code, found[0]["accepted"], found[0]["format"]) == (0, True, "textsplice.verdict/1")
    assert said.endswith("1 accepted, 0 refused.\n")
    bad = {"id": "bad", "text": f"Wow {rows[1]['text']}", "table": rows[1]["table"]}
    drafts.write_text("".join(json.dumps(row) + "\n" for row in (honest, bad)), encoding="utf-8")
    code, found, said = invoke("gate", corpus, drafts)
    assert code == 3
    assert [row["accepted"] for row in found] == [True, False]
    assert found[1]["text"] is None
    (tmp_path / "words.txt").write_text("wow\n", encoding="utf-8")
    assert invoke("gate", corpus, drafts, "--allow", tmp_path / "words.txt")[0] == 0


def test_the_command_refuses_values_of_other_records_unless_any_will_do(tmp_path: Path) -> None:
    corpus, drafts = tmp_path / "corpus.jsonl", tmp_path / "drafts.jsonl"
    rows = [
        {"table": {"name": name, "food": food}, "text": f"{name} has {said}."}
        for name, food, said in (("A", "Thai", "Thai"), ("B", "Greek", "Greek"), ("C", "Greek", "Thai"))
    ]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    draft = {"id": "bad", "text": "B has Thai.", "table": rows[1]["table"]}
    drafts.write_text(json.dumps(draft) + "\n", encoding="utf-8")
    code, (found,), _ = invoke(
        "gate", corpus, drafts
    )  # the slip of C's text makes `Thai` a word with a source
    assert code == 3
    what = "'Thai' is a value of food that the record does not have; it has 'Greek'"
    assert found["reasons"] == [{"why": "value", "what": what, "start": 6, "stop": 10, "utf16": [6, 10]}]
    assert invoke("gate", corpus, drafts, "--any-values")[0] == 0
    drafts.write_text(json.dumps({"text": "B has Thai."}) + "\n", encoding="utf-8")
    assert invoke("gate", corpus, drafts)[0] == 0  # without a record there is nothing to compare with


def test_a_refused_draft_falls_back_to_our_own_text(tmp_path: Path) -> None:
    old = Path(__file__).parent / "data" / "version-0.1"
    corpus = textsplice.read_corpus(str(old / "corpus"), "train")
    first = next(iter(corpus))
    draft = {"id": "a", "text": "Something else entirely.", "table": first.table.to_record()}
    (tmp_path / "drafts.jsonl").write_text(json.dumps(draft) + "\n", encoding="utf-8")
    folder = old / "prepared"
    code, found, _ = invoke("gate", folder, tmp_path / "drafts.jsonl", "--fall-back", folder)
    assert code == 3
    assert found[0]["text"]
    assert textsplice.verify(textsplice.Generation.from_dict(found[0]["fall_back"])) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize("option", ["--allow", "--lexicon"])
def test_a_missing_file_is_a_sentence(tmp_path: Path, option: str) -> None:
    (tmp_path / "drafts.txt").write_text("It is old.\n", encoding="utf-8")
    result = CliRunner().invoke(
        app, ["gate", "bundled", str(tmp_path / "drafts.txt"), option, str(tmp_path / "missing")]
    )
    assert isinstance(result.exception, TextspliceError)
