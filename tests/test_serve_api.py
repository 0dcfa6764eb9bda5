"""The API gives what the command line gives, alone and together, as its OpenAPI document says."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import cast

import httpx
import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from conftest import ROOT
from search_world import beginner, prepared
from search_world import tables as world_tables
from serving import Json, Served, environment, serving
from test_models import prepared_for
from textsplice.cli import app
from textsplice.corpus import Table, read_corpus
from textsplice.errors import InputError
from textsplice.runs import Export
from textsplice.serve.limits import Limits
from textsplice.serve.reading import read_records
from textsplice.splicer import Splicer, verify

RECORDS = 200
AT_ONCE = 32
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    folder = tmp_path_factory.mktemp("serve")
    with serving(Splicer.untrained(prepared()), folder, run=str(prepared().folder)) as found:
        yield found


@pytest.fixture(scope="module")
def records() -> list[Json]:
    tables = dict.fromkeys([*prepared().store.tables, *world_tables()])
    return [dict(table.to_record()) for table in tables][:RECORDS]


def result(served: Served, record: Json, **more: object) -> Json:
    answer = served.client.post("/v1/generate", json={"table": record, **more})
    assert answer.status_code == 200, answer.text
    (found,) = answer.json()["results"]
    return found


def without_id(row: Json) -> Json:
    return {key: value for key, value in row.items() if key != "id"}


def problem(answer: httpx.Response, status: int, code: str) -> Json:
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    found = answer.json()
    assert (found["status"], found["code"]) == (status, code)
    return found


def document(served: Served) -> Json:
    return served.document


def require_form(served: Served, name: str, value: object) -> None:
    """The value is as the OpenAPI document says."""
    jsonschema.Draft202012Validator(
        {"$ref": f"#/components/schemas/{name}", "components": document(served)["components"]}
    ).validate(value)


# -- the same texts ----------------------------------------------------------------------------------


def test_rows_equal_those_of_the_command_line_alone_and_many_at_once(
    served: Served, records: list[Json], tmp_path: Path
) -> None:
    tables, out = tmp_path / "records.jsonl", tmp_path / "rows.jsonl"
    tables.write_text("".join(json.dumps({"table": record}) + "\n" for record in records), encoding="utf-8")
    given = ["generate", str(prepared().folder), str(tables), "--out", str(out), "-q"]
    assert CliRunner().invoke(app, given, catch_exceptions=False).exit_code == 0
    lines = out.read_text(encoding="utf-8").splitlines()
    expected = [without_id(json.loads(line)) for line in lines]
    assert len(expected) == len(records) == RECORDS

    alone = [without_id(result(served, record)["row"]) for record in records]
    assert alone == expected
    with ThreadPoolExecutor(AT_ONCE) as pool:
        together = list(pool.map(lambda record: without_id(result(served, record)["row"]), records))
    assert together == expected
    answer = served.client.post("/v1/generate", json={"tables": records}).json()
    assert [without_id(each["row"]) for each in answer["results"]] == expected


def test_a_policy_that_searches_batches_gives_the_same_texts_alone_and_together(tmp_path: Path) -> None:
    drafts = beginner(0.0, 0, 'search.proposers=["drafts"]', kind="copy")
    records = [table.to_record() for table in world_tables()[:AT_ONCE]]
    expected = [row.to_dict() for row in drafts.generate_many([Table.of(r) for r in records], progress=False)]
    with serving(drafts, tmp_path) as served:
        assert [result(served, record)["row"]["text"] for record in records[:6]] == [
            row["text"] for row in expected[:6]
        ]
        rows = [0]
        served.service.told = lambda count: rows.append(count)
        with served.busy() as go, ThreadPoolExecutor(AT_ONCE) as pool:
            waiting = [pool.submit(result, served, record) for record in records]
            while served.service.admitted < len(records):
                time.sleep(0.01)
            go.set()
            found = [each.result()["row"] for each in waiting]
        assert [without_id(row) for row in found] == [without_id(row) for row in expected]
        assert max(rows) > 1  # they were searched together
        assert served.client.get("/v1/schema").json()["policy"] == "drafts"


@pytest.mark.slow
@pytest.mark.data
def test_texts_of_a_trained_run_equal_those_of_the_command_line_alone_and_many_at_once(
    e2e_folder: Path, tmp_path: Path
) -> None:
    """`models/e2e-drafts` over E2E, which is prepared here, or the run that `TEXTSPLICE_DRAFTS` names."""
    run = os.environ.get("TEXTSPLICE_DRAFTS")
    model = ROOT / "models" / "e2e-drafts"
    store = None if run else prepared_for(Export.open(model), e2e_folder, tmp_path).folder
    named = [run or str(model), *(["--store", str(store)] if store else [])]
    tables = dict.fromkeys(example.table for example in read_corpus(f"e2e:{e2e_folder}", "test"))
    records = [dict(table.to_record()) for table in tables][:RECORDS]
    given = tmp_path / "row.csv"
    with given.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(name for record in records for name in record)))
        writer.writeheader()
        writer.writerows(records)
    # Three alternatives are what a request gets that does not say how many it wants.
    asked = [*named, str(given), "--alternatives", "3", "--out", str(tmp_path / "rows.jsonl"), "-q"]
    assert CliRunner().invoke(app, ["generate", *asked], catch_exceptions=False).exit_code == 0
    lines = (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    expected = list(map(json.loads, lines))
    assert len(expected) == RECORDS
    splicer = Splicer.load(named[0], store=store)
    with serving(splicer, tmp_path, limits=Limits(seconds=3600)) as served:
        served.client.timeout = None
        sent = {"content": given.read_bytes(), "headers": {"Content-Type": "text/csv"}}
        read = served.client.post("/v1/read", **sent).json()
        assert read["ids"] == [row["id"] for row in expected]
        assert read["tables"] == [row["table"] for row in expected]
        alone = [result(served, table)["row"] for table in read["tables"]]
        assert [without_id(row) for row in alone] == [without_id(row) for row in expected]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            together = list(pool.map(lambda table: result(served, table)["row"], read["tables"]))
        assert [without_id(row) for row in together] == [without_id(row) for row in expected]


def test_requests_with_different_rules_do_not_share_a_batch(served: Served, records: list[Json]) -> None:
    record = records[0]
    free = result(served, record)
    name = next(cited["id"] for block in free["content"] for cited in block["citations"] if "id" in cited)
    asked = [{"rules": []}, {"rules": [{"rule": "never-neighbors", "ids": [name]}]}] * 4
    with served.busy() as go, ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(result, served, record, **each) for each in asked]
        while served.service.admitted < len(asked):
            pass
        go.set()
        texts = [each.result()["text"] for each in waiting]
    assert set(texts[0::2]) == {free["text"]}
    assert len(set(texts[1::2])) == 1
    assert texts[1] != free["text"]


def test_lines_are_streamed_in_order(served: Served, records: list[Json]) -> None:
    tables = [{"id": f"row {number}", "table": record} for number, record in enumerate(records[:70])]
    headers = {"Accept": "application/x-ndjson"}
    with served.client.stream("POST", "/v1/generate", json={"tables": tables}, headers=headers) as answer:
        assert answer.headers["content-type"] == "application/x-ndjson"
        found = [json.loads(line) for line in answer.iter_lines()]
    assert [each["id"] for each in found] == [each["id"] for each in tables]
    assert found[-1]["text"] == result(served, records[69])["text"]
    assert served.service.admitted == 0


def test_the_command_that_is_told_gives_the_same_row(served: Served, records: list[Json]) -> None:
    record = {**records[0], "text": "no text but a field", "odd 'name'": "it's $HOME `x`\nRECORD"}
    start = result(served, record)["row"]["sources"]["neighbors"][1]["id"]
    rules = [{"rule": "never-neighbors", "ids": ["train-0000"]}]
    expected = result(served, record, rules=rules, start=start)["row"]
    asked = {"table": record, "rules": rules, "start": start}
    told = served.client.post("/v1/command", json=asked).json()["command"]
    assert told.startswith(f"textsplice generate {prepared().folder} - --never train-0000 --start {start} <<")
    script = told.replace("textsplice", f"{sys.executable} -m textsplice", 1)
    done = subprocess.run(["bash", "-c", script], capture_output=True, env=environment(), check=True)
    assert without_id(json.loads(done.stdout)) == without_id(expected)


# -- what is given -----------------------------------------------------------------------------------


def test_blocks_are_the_text_and_each_cites_what_it_was_copied_from(
    served: Served, records: list[Json]
) -> None:
    for record in [*records[:20], {**records[0], "name": "Ünïcode 🥾 Path"}]:
        found = result(served, record)
        require_form(served, "Result", found)
        text, units = found["text"], found["text"].encode("utf-16-le")
        assert "".join(block["text"] for block in found["content"]) == text
        for block in found["content"]:
            assert text[block["start"] : block["stop"]] == block["text"]
            first, last = block["utf16"]
            assert units[2 * first : 2 * last].decode("utf-16-le") == block["text"]
            for cited in block["citations"]:
                if cited["source"] == "text":
                    source = served.client.get(f"/v1/sources/{cited['id']}").json()
                    assert source["text"][cited["start"] : cited["stop"]] == cited["cited_text"]
                    assert cited["cited_text"] == block["text"]
                    assert source["used"] > 0
                else:
                    assert cited["source"] == "table"
                    assert cited["cited_text"] in str(record[cited["field"]])
        assert all(block["citations"] for block in found["content"] if block["text"].strip())
        assert {slot["status"] for slot in found["slots"]} <= {"said", "missing", "wrong", "unchecked"}


def test_alternatives_are_as_many_as_asked_for(served: Served, records: list[Json]) -> None:
    for count in (0, 1, 2):
        found = result(served, records[0], alternatives=count)
        assert len(found["alternatives"]) == count
        assert len(found["row"]["alternatives"]) == count
        assert served.client.post("/v1/verify", json={"row": found["row"]}).json()["true"]


def test_a_traced_text_shows_its_gaps(served: Served, records: list[Json]) -> None:
    text = result(served, records[0])["text"]
    asked = {"text": f"{text} It is zorblish 🥾 there.", "table": records[0]}
    for exact in (True, False):
        found = served.client.post("/v1/trace", json={**asked, "exact": exact}).json()
        require_form(served, "Result", found)
        assert [found["text"][gap["start"] : gap["stop"]] for gap in found["gaps"]] == ["zorblish 🥾"]
        (gap,) = (block for block in found["content"] if block["text"] == "zorblish 🥾")
        assert (gap["citations"], gap["utf16"][1] - gap["utf16"][0]) == ([], len("zorblish 🥾") + 1)
    without = served.client.post("/v1/trace", json={"text": text}).json()
    assert (without["gaps"], without["slots"]) == ([], [])


def test_the_gate_accepts_and_refuses_with_reasons(served: Served, records: list[Json]) -> None:
    text = result(served, records[0])["text"]
    good = served.client.post("/v1/gate", json={"text": text, "table": records[0]}).json()
    require_form(served, "Judged", good)
    assert (good["accepted"], good["reasons"]) == (True, [])
    rules = [{"rule": "forbid-words", "words": ["zorblish"]}]
    bad = {"text": f"{text} It is zorblish.", "table": records[0], "rules": rules, "most_splices": 1}
    found = served.client.post("/v1/gate", json=bad).json()
    require_form(served, "Judged", found)
    assert not found["accepted"]
    assert {reason["why"] for reason in found["reasons"]} == {"gap", "rule", "splices"}


def test_true_rows_are_verified_and_changed_ones_are_not(served: Served, records: list[Json]) -> None:
    row = result(served, records[1])["row"]
    assert served.client.post("/v1/verify", json={"row": row}).json() == {"true": True, "why": None}
    for change in ({"text": "Another text."}, {"run": "other"}, {"format": "x"}, {"more": 1}):
        found = served.client.post("/v1/verify", json={"row": {**row, **change}}).json()
        assert not found["true"]
        assert found["why"]
    trace = served.client.post("/v1/trace", json={"text": row["text"], "table": records[1]}).json()["row"]
    assert served.client.post("/v1/verify", json={"row": trace}).json()["true"]


def test_a_row_is_played_and_a_changed_one_is_not(served: Served, records: list[Json]) -> None:
    row = result(served, records[1])["row"]
    answer = served.client.post("/v1/player", json={"row": row})
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "<script>" in answer.text
    problem(served.client.post("/v1/player", json={"row": {**row, "text": "x"}}), 422, "input")


def test_the_schema_describes_what_is_served(served: Served) -> None:
    found = served.client.get("/v1/schema").json()
    require_form(served, "Schema", found)
    store = prepared().store
    assert (found["policy"], found["texts"], found["run"]) == ("swap", len(store), prepared().key[:12])
    fields = {each["name"]: each for each in found["fields"]}
    assert list(fields) == store.fields
    assert (fields["name"]["share"], fields["name"]["list"]) == (1.0, False)
    assert fields["sights"]["kind"] == "list"
    assert fields["dogs"]["kind"] == "yes-no"
    assert fields["length"]["kind"] == "number"
    assert result(served, found["example"])["status"] == "ok"


def test_a_file_of_records_is_read_as_the_command_line_reads_it(served: Served) -> None:
    def read(content: str, kind: str) -> Json:
        answer = served.client.post("/v1/read", content=content.encode(), headers={"Content-Type": kind})
        assert answer.status_code == 200, answer.text
        require_form(served, "Read", answer.json())
        return answer.json()

    two = [{"name": "A", "length": "5 km"}, {"name": "B", "length": "6 km"}]
    assert read("name,length\nA,5 km\nB,6 km\n", "text/csv; charset=utf-8")["tables"] == two
    assert read("name\tlength\nA\t5 km\nB\t6 km\n", "text/tab-separated-values")["tables"] == two
    lines = "".join(json.dumps(record) + "\n" for record in two)
    assert read(lines, "application/x-ndjson")["tables"] == two
    assert read(json.dumps(two), "application/json")["tables"] == two
    found = read(lines + "{\n" + lines, "application/jsonl")
    assert (found["tables"], [bad["row"] for bad in found["bad"]]) == ([*two, *two], [3])
    assert "/" not in found["bad"][0]["what"]  # no folder of this machine


def test_lists_and_ids_of_a_file_are_those_of_the_command_line(served: Served, tmp_path: Path) -> None:
    cells = [",Heron Round,weir", *(f"w{number},Fox Way,mill | chapel" for number in (2, 3, 4))]
    rows = "\n".join(["id,name,sights", *cells, ""])
    (tmp_path / "row.csv").write_text(rows, encoding="utf-8")
    out = tmp_path / "rows.jsonl"
    given = ["generate", str(prepared().folder), str(tmp_path / "row.csv"), "--out", str(out), "-q"]
    assert CliRunner().invoke(app, given, catch_exceptions=False).exit_code == 0
    lines = out.read_text(encoding="utf-8").splitlines()
    expected = [(row["id"], row["table"]) for row in map(json.loads, lines)]
    found = served.client.post("/v1/read", content=rows.encode(), headers={"Content-Type": "text/csv"}).json()
    assert list(zip(found["ids"], found["tables"], strict=True)) == expected
    assert [name for name, _ in expected] == ["row:1", "w2", "w3", "w4"]
    tables = [{"id": name, "table": table} for name, table in expected]
    answer = served.client.post("/v1/generate", json={"tables": tables}).json()
    assert [each["row"] for each in answer["results"]] == list(map(json.loads, lines))


def test_lists_are_split_where_the_corpus_of_the_run_has_them() -> None:
    rows = b"name,sights\nOtter Trail,weir | mill\nHeron Round,weir\n"
    for columns, sights in ((("sights |",), ["weir", "mill"]), ((), "weir | mill")):
        like = replace(prepared().config.corpus, list_columns=columns)
        found = read_records(rows, "csv", like, Limits())
        assert cast("list[Json]", found["tables"])[0]["sights"] == sights


def test_health_and_metrics(served: Served, records: list[Json]) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    assert served.client.get("/v1/health").json()["status"] == "ok"
    result(served, records[0])
    families = {
        each.name: each for each in text_string_to_metric_families(served.client.get("/v1/metrics").text)
    }
    requests = {
        (sample.labels.get("route"), sample.labels.get("status")): sample.value
        for sample in families["textsplice_requests"].samples
    }
    assert requests["/v1/generate", "200"] >= 1
    assert families["textsplice_waiting"].samples[0].value == 0
    assert not any("km" in str(sample.labels) for each in families.values() for sample in each.samples)


def test_the_page_is_served_with_its_policy(served: Served) -> None:
    answer = served.client.get("/page/nothing.js")
    problem(answer, 404, "missing")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self' 'sha256-")
    assert "unsafe" not in policy
    for path in ("/page/", "/page/../app.py", "/page/%2e%2e/app.py", "/page/..%2fapp.py", "/page/app.py"):
        assert served.client.get(path).status_code == 404


# -- what the document says of tables ------------------------------------------------------------------

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
scalars = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6) | names
values = st.recursive(
    scalars | st.lists(scalars, max_size=3),
    lambda inner: st.dictionaries(names, inner, min_size=1, max_size=3),
    max_leaves=4,
)


@settings(max_examples=60)
@given(record=st.dictionaries(names, values, min_size=1, max_size=4))
def test_any_record_that_python_takes_is_taken_and_gives_the_same_text(served: Served, record: Json) -> None:
    answer = served.client.post("/v1/generate", json={"table": record})
    try:
        table = Table.of(record)
    except InputError:
        problem(answer, 422, "input")
        return
    (found,) = answer.json()["results"]
    require_form(served, "Result", found)
    expected = served.service.splicer.generate(table)
    assert (found["text"], found["status"]) == (expected.text, expected.status)
    assert verify(expected, served.service.splicer) == 1


def test_the_document_names_every_route_and_how_it_refuses(served: Served) -> None:
    found = document(served)
    routes = {(method, path) for path, methods in found["paths"].items() for method in methods}
    posts = ("generate", "trace", "gate", "verify", "player", "command", "read", "approve", "unapprove")
    gets = ("schema", "sources/{id}", "approved", "health", "metrics")
    assert routes == {
        *(("post", f"/v1/{name}") for name in posts),
        *(("get", f"/v1/{name}") for name in gets),
    }
    for methods in found["paths"].values():
        for route in methods.values():
            for status, answer in route["responses"].items():
                if not status.startswith("2"):
                    assert list(answer["content"]) == ["application/problem+json"]
    assert "HTTPValidationError" not in found["components"]["schemas"]
