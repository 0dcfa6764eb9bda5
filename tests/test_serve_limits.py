"""What the server refuses, how it bounds what it does, and how it begins and ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from search_world import prepared, tables
from serving import PATIENCE, Served, command, serving
from test_serve_api import JSON, problem, result
from textsplice.cli import app
from textsplice.corpus import read_corpus
from textsplice.errors import StorageError, TextspliceError
from textsplice.serve.approved import ApprovedFile
from textsplice.serve.batching import Batches, Job
from textsplice.serve.guard import Access
from textsplice.serve.limits import Limits
from textsplice.splicer import Splicer
from textsplice.stopping import StoppedError, stop_if_unwanted
from textsplice.trace.add import Addition

TOKEN = "a-token-of-24-characters"
RECORD = dict(tables()[0].to_record())
SMALL = Limits(body_bytes=4096, rows=3, fields=5, characters=200, seconds=PATIENCE, queue=4, batch=2)


@pytest.fixture(scope="module")
def splicer() -> Splicer:
    return Splicer.untrained(prepared())


@pytest.fixture(scope="module")
def served(splicer: Splicer, tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    with serving(splicer, tmp_path_factory.mktemp("serve"), limits=SMALL) as found:
        yield found


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def listens(url: str) -> bool:
    host, port = url.removeprefix("http://").split(":")
    try:
        socket.create_connection((host, int(port))).close()
    except OSError:
        return False
    return True


# -- who may ask -------------------------------------------------------------------------------------


def test_other_names_of_this_machine_and_other_pages_are_refused(served: Served) -> None:
    for host in ("evil.example", "evil.example:8000", "127.0.0.1.evil.example", "", "[::1", "localhost@evil"):
        problem(served.client.get("/v1/schema", headers={"Host": host}), 403, "host")
    for host in ("127.0.0.1", "localhost:1234", "[::1]:80", "LOCALHOST"):
        assert served.client.get("/v1/schema", headers={"Host": host}).status_code == 200
    for origin in ("http://evil.example", "null", "https://127.0.0.1:1", "http://[", "http://[::1", ""):
        problem(served.client.get("/v1/schema", headers={"Origin": origin}), 403, "origin")
    own = served.client.get("/v1/schema", headers={"Origin": served.url})
    assert own.status_code == 200
    assert "access-control-allow-origin" not in own.headers


def test_a_token_is_needed_for_everything_but_the_page_and_health(splicer: Splicer, tmp_path: Path) -> None:
    with serving(splicer, tmp_path, access=Access(TOKEN)) as served:
        for path in (
            "/v1/schema",
            "/v1/metrics",
            "/openapi.json",
            "/v1/sources/x",
            "/v1/approved",
            "/nothing",
        ):
            answer = served.client.get(path)
            problem(answer, 401, "token")
            assert answer.headers["www-authenticate"] == "Bearer"
        for wrong in (TOKEN[:-1], f"{TOKEN}x", "x", "ü", f"Bearer {TOKEN}"):
            header = f"Bearer {wrong}".encode()
            problem(served.client.get("/v1/schema", headers={"Authorization": header}), 401, "token")
        basic = {"Authorization": f"Basic {TOKEN}"}
        problem(served.client.get("/v1/schema", headers=basic), 401, "token")
        right = {"Authorization": f"Bearer {TOKEN}", "Host": "texts.example"}
        assert served.client.get("/v1/schema", headers=right).status_code == 200
        assert served.client.get("/v1/health").status_code == 200
        assert served.client.get("/page/nothing.js").status_code == 404
        found = served.client.get("/openapi.json", headers=right).json()
        assert found["paths"]["/v1/schema"]["get"]["security"] == [{"token": []}]
        assert "401" in found["paths"]["/v1/schema"]["get"]["responses"]
        assert TOKEN not in json.dumps(served.log)


def test_pages_of_an_origin_that_is_named_may_ask(splicer: Splicer, tmp_path: Path) -> None:
    origin = "https://texts.example"
    with serving(splicer, tmp_path, access=Access(None, (origin,))) as served:
        answer = served.client.get("/v1/schema", headers={"Origin": origin})
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, origin)
        asked = {
            "Origin": origin,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type,authorization",
        }
        assert served.client.options("/v1/generate", headers=asked).status_code == 200
        other = served.client.get("/v1/schema", headers={"Origin": "https://evil.example"})
        problem(other, 403, "origin")
        assert "access-control-allow-origin" not in other.headers


def test_every_answer_has_the_security_headers(served: Served) -> None:
    for answer in (
        served.client.get("/v1/schema"),
        served.client.get("/nothing"),
        served.client.post("/v1/generate", content=b"{", headers=JSON),
        served.client.get("/v1/schema", headers={"Host": "evil.example"}),
    ):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert "server" not in answer.headers


# -- what is refused ---------------------------------------------------------------------------------

HOSTILE: list[tuple[bytes, int, str]] = [
    (b"", 422, "input"),
    (b"{", 400, "input"),
    (b"\xff\xfe{}", 400, "input"),
    (b"\xef\xbb\xbf{}", 400, "input"),
    (b"[" * 2000, 400, "limit"),
    (b'{"table":' * 300, 400, "limit"),
    (b'{"table": {"a": NaN}}', 400, "input"),
    (b'{"table": {"a": Infinity}}', 400, "input"),
    (b'{"table": {"a": ' + b"9" * 4000 + b"}}", 413, "limit"),
    (b'{"table": {"a": "\\ud800"}}', 400, "input"),
    (b'{"table": {"a": "b", "a": "c"}}', 400, "input"),
    (b'{"table": {"a": "b"}, "table": {"a": "c"}}', 400, "input"),
    (b'{"table": {}}', 422, "input"),
    (b'{"table": {" ": "b"}}', 422, "input"),
    (b'{"table": {"a": [["b"]]}}', 422, "input"),
    (b'{"table": {"a": [{"b": "c"}]}}', 422, "input"),
    (b'{"table": "a"}', 422, "input"),
    (b'{"tables": []}', 422, "input"),
    (b'{"tables": [{"a": "b"}], "table": {"a": "b"}}', 422, "input"),
    (b'{"table": {"a": "b"}, "more": 1}', 422, "input"),
    (b'{"table": {"a": "b"}, "alternatives": "3"}', 422, "input"),
    (b'{"table": {"a": "b"}, "alternatives": 11}', 422, "input"),
    (b'{"table": {"a": "b"}, "alternatives": 1e400}', 422, "input"),
    (b'{"table": {"a": "b"}, "rules": [{"rule": "be-nice"}]}', 422, "input"),
    (b'{"table": {"a": "b"}, "rules": [{"rule": "copy-only", "x": 1}]}', 422, "input"),
    (b'{"table": {"a": "b"}, "rules": [{"rule": "forbid-words", "words": ["!"]}]}', 422, "input"),
    (b'{"table": {"a": "b"}, "rules": [{"rule": "no-contradictions", "lexicon": "/x.toml"}]}', 422, "input"),
    (b'{"table": {"a": "b"}, "rules": [{"rule": "neighbors-where", "label": "x"}]}', 422, "input"),
    (b'{"table": {"a": "b"}, "start": "no such text"}', 404, "missing"),
    (b'{"tables": [{"a": "b"}, {"a": "b"}, {"a": "b"}, {"a": "b"}]}', 413, "limit"),
    (b'{"table": {"a": "1", "b": "1", "c": "1", "d": "1", "e": "1", "f": "1"}}', 413, "limit"),
    (b'{"table": {"a": "' + b"x" * 300 + b'"}}', 413, "limit"),
    (b'{"table": {"a": {"b": "' + b"x" * 300 + b'"}}}', 413, "limit"),
    (b'{"table": {"a": "' + b"x" * 5000 + b'"}}', 413, "limit"),
]


@pytest.mark.parametrize(("body", "status", "code"), HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_body_is_a_problem(served: Served, body: bytes, status: int, code: str) -> None:
    found = problem(served.client.post("/v1/generate", content=body, headers=JSON), status, code)
    assert str(found["detail"]).isprintable()
    assert served.service.admitted == 0


def test_hostile_values_are_texts_like_others(served: Served) -> None:
    for value in (
        "\x1b]0;owned\x07",
        "<script>alert(1)</script>",
        "\u202e\u2066",
        "\x00",
        "🥾" * 20,
        "' OR 1=1",
    ):
        answer = served.client.post("/v1/generate", json={"table": {**RECORD, "name": value}})
        assert answer.status_code == 200, answer.text
        answer = served.client.post("/v1/trace", json={"text": f"a {value}"})
        assert answer.status_code == 200, answer.text
    problem(served.client.post("/v1/trace", json={"text": "\u200b"}), 422, "input")


def test_a_path_a_method_or_a_kind_of_content_that_is_not_there(served: Served) -> None:
    problem(served.client.get("/v1/nothing"), 404, "missing")
    problem(served.client.get("/v1/sources/%00%ff"), 404, "missing")
    answer = served.client.get("/v1/generate")
    problem(answer, 405, "method")
    assert answer.headers["allow"] == "POST"
    for kind in ("text/plain", "application/x-www-form-urlencoded", "", "multipart/form-data"):
        sent = served.client.post("/v1/generate", content=b"{}", headers={"Content-Type": kind})
        problem(sent, 415, "content")
    problem(
        served.client.post("/v1/read", content=b"a", headers={"Content-Type": "text/plain"}), 415, "content"
    )
    problem(served.client.post("/v1/read", content=b"", headers={"Content-Type": "text/csv"}), 422, "corpus")
    problem(
        served.client.post("/v1/read", content=b"PK\3\4", headers={"Content-Type": "text/csv"}), 422, "corpus"
    )
    rows = b"name\n" + b"x\n" * 9
    problem(served.client.post("/v1/read", content=rows, headers={"Content-Type": "text/csv"}), 413, "limit")


def test_a_body_without_a_length_is_cut_off_where_it_is_too_long(served: Served) -> None:
    def endless() -> Generator[bytes]:
        for _ in range(20):
            yield b" " * 1024

    problem(served.client.post("/v1/generate", content=endless(), headers=JSON), 413, "limit")


def test_a_row_that_names_a_file_of_this_machine_does_not_open_it(served: Served, tmp_path: Path) -> None:
    small = {key: RECORD[key] for key in list(RECORD)[:3]}
    row = Splicer.untrained(prepared()).generate(small).to_dict()
    (tmp_path / "mine.toml").write_text("not toml")
    row["rules"] = [{"rule": "no-contradictions", "lexicon": str(tmp_path / "mine.toml")}]
    limits = Limits()
    with serving(served.service.splicer, tmp_path, limits=limits) as wide:
        found = wide.client.post("/v1/verify", json={"row": row}).json()
        assert found == {"true": False, "why": "row: it names a lexicon that does not come with textsplice."}


def test_logs_hold_nothing_of_records(served: Served) -> None:
    secret = "zweihundertsieben"
    del served.log[:]
    served.client.post("/v1/generate", json={"table": {secret: secret}})
    served.client.post("/v1/generate", json={"table": {secret: [[secret]]}})
    served.client.post("/v1/trace", json={"text": secret})
    served.client.get(f"/v1/sources/{secret}")
    served.client.get(f"/{secret}")
    until(lambda: len(served.log) == 5)
    assert {entry["route"] for entry in served.log} == {
        "/v1/generate",
        "/v1/trace",
        "/v1/sources/{id:path}",
        "other",
    }
    assert secret not in json.dumps(served.log)


def test_a_mistake_of_ours_is_a_problem_without_a_traceback(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The splicer is taken away, so something must go wrong that nobody thought of."""
    monkeypatch.setattr(served.service, "splicer", None)
    found = problem(served.client.get("/v1/sources/x"), 500, "mistake")
    assert str(found["detail"]).startswith("unexpected AttributeError at service.py:")
    assert "Traceback" not in json.dumps(found)


# -- places ------------------------------------------------------------------------------------------


def test_beyond_the_bound_requests_are_refused_at_once_and_the_others_answered(served: Served) -> None:
    with served.busy() as go, ThreadPoolExecutor(SMALL.queue) as pool:
        waiting = [pool.submit(result, served, {"name": f"Walk {number}"}) for number in range(SMALL.queue)]
        until(lambda: served.service.admitted == SMALL.queue)
        for _ in range(3):
            answer = served.client.post("/v1/generate", json={"table": {"name": "x"}})
            problem(answer, 429, "busy")
            assert answer.headers["retry-after"] == "1"
        problem(served.client.post("/v1/trace", json={"text": "x"}), 429, "busy")
        # Nothing is parsed of what is refused; what needs no place is not refused.
        problem(served.client.post("/v1/generate", content=b"{", headers=JSON), 429, "busy")
        until(lambda: (served.log[-1]["route"], served.log[-1]["status"]) == ("/v1/generate", 429))
        problem(served.client.get("/v1/generate"), 405, "method")
        assert served.client.get("/v1/health").status_code == 200
        go.set()
        assert all(each.result()["id"] == "0" for each in waiting)
    assert served.service.admitted == 0


def test_more_requests_than_are_held_at_once_are_refused_as_others_are(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("textsplice.serve.guard.MOST_REQUESTS", 1)
    with served.busy() as go, ThreadPoolExecutor(1) as pool:
        first = pool.submit(result, served, {"name": "Walk"})
        until(lambda: served.service.admitted == 1)
        problem(served.client.get("/v1/health"), 503, "busy")
        go.set()
        assert first.result()["id"] == "0"
    until(lambda: served.client.get("/v1/health").status_code == 200)


@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson"])
def test_a_client_that_goes_away_frees_its_place(served: Served, accept: str) -> None:
    body = json.dumps({"tables": [{"name": "x"}] * 3}).encode()
    host, port = served.url.removeprefix("http://").split(":")
    searched: list[int] = []
    served.service.told = searched.append
    with served.busy() as go:
        with socket.create_connection((host, int(port))) as client:
            head = f"POST /v1/generate HTTP/1.1\r\nHost: {host}\r\nAccept: {accept}\r\n"
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            client.sendall(head.encode() + body)
            until(lambda: served.service.admitted == 1)
        until(lambda: served.service.admitted == 0)
        del searched[:]
        go.set()
        result(served, {"name": "y"})
    assert searched == [1]  # only that of the client who stayed


def test_what_takes_too_long_is_given_up(splicer: Splicer, tmp_path: Path) -> None:
    with serving(splicer, tmp_path, limits=Limits(seconds=0.2)) as served:
        with served.busy():
            answer = served.client.post("/v1/generate", json={"table": RECORD})
            problem(answer, 503, "busy")
            assert answer.headers["retry-after"] == "1"
            headers = {"Accept": "application/x-ndjson"}
            lines = served.client.post("/v1/generate", json={"table": RECORD}, headers=headers)
            assert [json.loads(line)["status"] for line in lines.text.splitlines()] == [503]
            assert served.service.admitted == 0
        until(lambda: not served.service._batches._waiting)


@pytest.mark.parametrize("goes", [False, True], ids=["late", "gone"])
def test_a_search_that_nobody_waits_for_is_stopped(splicer: Splicer, tmp_path: Path, goes: bool) -> None:
    stopped = []
    with serving(splicer, tmp_path, limits=Limits(seconds=PATIENCE if goes else 0.2)) as served:
        service = served.service
        service.stopped = lambda: stopped.append(True)
        begun = threading.Event()
        # The search begins, and before it does anything, the request is over.
        service.told = lambda _: (begun.set(), until(lambda: service.admitted == 0))
        if goes:
            with socket.create_connection(served.url.removeprefix("http://").split(":")) as client:
                body = json.dumps({"table": RECORD}).encode()
                head = "POST /v1/generate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                client.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
                assert begun.wait(PATIENCE)
        while not begun.is_set():
            problem(served.client.post("/v1/generate", json={"table": RECORD}), 503, "busy")
        until(lambda: bool(stopped))
        assert not service._used  # nothing was written
        service.told = None
        assert stopped == [True]


def test_a_batch_goes_on_for_those_who_wait() -> None:
    begun, asked = threading.Event(), threading.Event()

    def work(items: object) -> list[object]:
        begun.set()
        asked.wait(PATIENCE)
        stop_if_unwanted()
        return list(items)  # type: ignore[call-overload]

    batches = Batches(4)
    gate = batches.submit(Job("gate", (0,), lambda items: (asked.wait(PATIENCE), items)[1]))
    jobs = [Job("work", (number,), work) for number in (1, 2)]
    for job in jobs:
        batches.submit(job)
    asked.set()
    gate.result(PATIENCE)
    asked.clear()
    assert begun.wait(PATIENCE)
    jobs[0].given_up = True
    asked.set()
    assert list(jobs[1].future.result(PATIENCE)) == [2]
    asked.clear()
    begun.clear()
    last = Job("work", (3,), work)
    batches.submit(last)
    assert begun.wait(PATIENCE)
    last.given_up = True
    asked.set()
    with pytest.raises(StoppedError):
        last.future.result(PATIENCE)
    batches.close()


def test_who_would_wait_too_long_is_refused_and_told_for_how_long(served: Served) -> None:
    batches = served.service._batches
    with served.busy() as go, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(result, served, {"name": "Walk"})
        until(lambda: len(batches._waiting) == 1)
        batches.pace = 2 * PATIENCE
        answer = served.client.post("/v1/generate", json={"table": {"name": "x"}})
        problem(answer, 429, "busy")
        assert answer.headers["retry-after"] == "60"
        batches.pace = 2.2
        go.set()
        assert waiting.result()["id"] == "0"


def test_at_its_end_it_finishes_what_runs(splicer: Splicer, tmp_path: Path) -> None:
    with serving(splicer, tmp_path) as served, ThreadPoolExecutor(3) as pool:
        with served.busy() as go:
            waiting = [pool.submit(result, served, RECORD) for _ in range(3)]
            until(lambda: served.service.admitted == 3)
            served.server.should_exit = True
            until(lambda: not listens(served.url))
            go.set()
        assert len({each.result()["text"] for each in waiting}) == 1
        served.stop()


# -- batches -----------------------------------------------------------------------------------------


def test_jobs_that_wait_together_run_together_and_a_bad_one_alone() -> None:
    batches, sizes = Batches(4, told=lambda count: sizes.append(count)), list[int]()
    go = threading.Event()

    def double(items: object) -> list[int]:
        numbers = list(items)  # type: ignore[call-overload]
        if 13 in numbers:
            raise ValueError("unlucky")
        return [2 * number for number in numbers]

    first = batches.submit(Job("wait", (0,), lambda items: (go.wait(PATIENCE), items)[1]))
    until(lambda: bool(sizes))
    jobs = [batches.submit(Job("double", items, double)) for items in ((1,), (2, 3), (13,), (4,), (5, 6))]
    other = batches.submit(Job("other", (7,), lambda items: items))
    gone = batches.submit(Job("double", (99,), double))
    assert gone.cancel()
    late = batches.submit(Job("double", (98,), double, deadline=time.monotonic() - 1))
    go.set()
    assert list(first.result()) == [0]
    assert [list(job.result()) for job in (jobs[0], jobs[1], jobs[3], jobs[4])] == [
        [2],
        [4, 6],
        [8],
        [10, 12],
    ]
    with pytest.raises(ValueError, match="unlucky"):
        jobs[2].result()
    assert list(other.result()) == [7]
    with pytest.raises(StoppedError):
        late.result()
    batches.close()
    assert sizes[:2] == [1, 4]  # 1, 2, 3 and 13 were one batch; then each of its jobs was tried alone
    with pytest.raises(RuntimeError):
        batches.submit(Job("double", (1,), double))


# -- approved texts ----------------------------------------------------------------------------------


def test_approved_texts_are_what_add_takes(served: Served) -> None:
    record = {"name": "Quill Path", "length": "7 km"}
    before = served.client.get("/v1/approved").json()["approved"]
    texts = ["Quill Path is 7 km long.", "The Quill Path\u2028 takes “seven” km 🥾."]
    for number, text in enumerate(texts):
        answer = served.client.post("/v1/approve", json={"text": text, "table": record, "id": "r1"})
        assert answer.status_code == 201
        assert answer.json() == {"approved": before + number + 1, "file": "approved.jsonl"}
    rows = served.client.get("/v1/approved").json()["rows"][-2:]
    assert [(row["text"], row["table"], row["record"]) for row in rows] == [
        (text, record, "r1") for text in texts
    ]
    path = served.service.approved.path
    assert [example.text for example in read_corpus(path)][-2:] == texts
    addition = Addition.open(prepared().folder, path)
    assert (len(addition.added.ids), addition.added.left_out) == (len(set(texts)), 0)


def lines_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=4), st.data())
def test_wherever_a_write_was_cut_off_the_rows_before_it_stay(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("approved") / "a.jsonl"
    file = ApprovedFile(path)
    ends = [0]
    for text in texts:
        file.add({"table": {"a": text}, "text": text})
        ends.append(path.stat().st_size)
    cut = data.draw(st.integers(0, ends[-1]))
    os.truncate(path, cut)
    whole = sum(end <= cut + 1 for end in ends[1:])  # a row without its line feed is whole
    assert file.check() == whole
    assert file.add({"table": {"b": "c"}, "text": "new"}) == whole + 1
    assert [row["text"] for row in lines_of(path)] == [*texts[:whole], "new"]
    assert file.last()[0] == whole + 1


def test_an_approved_text_is_taken_back_alone(served: Served) -> None:
    path = served.service.approved.path
    for text in ("Keep.", "Take back.", "Take back."):
        served.client.post("/v1/approve", json={"text": text, "table": {"a": "b"}})
    with path.open("ab") as file:
        file.write(b'\n{"text":   "Mine.", "table": {}}\r\n')
    before = path.read_bytes()
    listed = served.client.get("/v1/approved").json()
    at = next(at for at, row in enumerate(listed["rows"]) if row["text"] == "Take back.")
    asked = {"key": listed["keys"][at]}
    answer = served.client.post("/v1/unapprove", json=asked)
    assert (answer.status_code, answer.json()["approved"]) == (200, listed["approved"] - 1)
    start = before.rindex(b"\n", 0, before.rindex(b"Take back.")) + 1
    stop = before.index(b"\n", start) + 1
    same = {before[:start] + before[stop:]}
    first = before.rindex(b"\n", 0, start - 1) + 1
    same.add(before[:first] + before[start:])  # unless both were approved in the same second
    assert path.read_bytes() in same
    assert [each.name for each in path.parent.glob(f".{path.name}.*")] == []
    problem(served.client.post("/v1/unapprove", json={"key": "0" * 64}), 404, "missing")
    problem(served.client.post("/v1/unapprove", json={}), 422, "input")


def test_texts_that_are_added_while_others_are_taken_back_are_all_there(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    (tmp_path / "link").symlink_to(path)
    for number in range(20):
        ApprovedFile(path).add({"table": {}, "text": f"old {number}"})
    keys = ApprovedFile(path).last()[2]

    def add(number: int) -> None:
        ApprovedFile(path).add({"table": {}, "text": f"new {number}"})

    def remove(key: str) -> None:
        assert ApprovedFile(tmp_path / "link").remove(key) is not None

    with ThreadPoolExecutor(8) as pool:
        done = [
            pool.submit(job, each)
            for pair in zip(range(20), keys, strict=True)
            for job, each in ((add, pair[0]), (remove, pair[1]))
        ]
        for each in done:
            each.result()
    assert sorted(row["text"] for row in lines_of(path)) == sorted(f"new {number}" for number in range(20))
    assert (tmp_path / "link").is_symlink()


@pytest.mark.parametrize(
    "content",
    [b"name,text\n", b"[1]\n", b'{"name": "x"}\n', b"notes", b'{"table": {}, "text": 5}\n', b"\xff\n"],
)
def test_a_file_that_is_not_ours_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_bytes(content)
    for use in (
        lambda: ApprovedFile(path).check(),
        lambda: ApprovedFile(path).add({"table": {}, "text": "x"}),
    ):
        with pytest.raises(StorageError, match="this one was not changed"):
            use()
    assert path.read_bytes() == content


def test_a_place_where_nothing_can_be_written_is_a_problem(splicer: Splicer, tmp_path: Path) -> None:
    with serving(splicer, tmp_path) as served:
        (tmp_path / "approved.jsonl").mkdir()
        asked = {"text": "x", "table": {"a": "b"}}
        found = problem(served.client.post("/v1/approve", json=asked), 503, "storage")
        assert found["remedy"]


def test_after_kill_9_all_approved_texts_are_there(tmp_path: Path) -> None:
    path = tmp_path / "approved.jsonl"
    told: list[str] = []

    def approve(url: str, name: str) -> None:
        with httpx.Client(base_url=url, timeout=PATIENCE) as client:
            for number in range(10_000):
                text = f"{name} {number}"
                asked = {"text": text, "table": {"name": text, "long": "x" * 2000}}
                try:
                    answer = client.post("/v1/approve", json=asked)
                except httpx.TransportError:
                    return
                assert answer.status_code == 201
                told.append(text)

    with command(prepared().folder, "--approved", path) as (process, url), ThreadPoolExecutor(4) as pool:
        clients = [pool.submit(approve, url, f"client {number}") for number in range(4)]
        until(lambda: len(told) >= 60)
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE)
        for each in clients:
            each.result()
    with path.open("ab") as file:  # and as if it had been killed in the middle of a row
        file.write(b'{"table": {"name": "half')
    with command(prepared().folder, "--approved", path) as (process, url):
        found = httpx.get(f"{url}/v1/approved").json()["approved"]
        rows = [row["text"] for row in lines_of(path)]
        assert set(told) <= set(rows)
        assert len(rows) == len(set(rows)) == found
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


# -- the command -------------------------------------------------------------------------------------


def refused(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["serve", *map(str, arguments)])
    assert isinstance(done.exception, TextspliceError)
    return f"{done.exception.code}: {done.exception}"


def test_what_can_not_be_served_is_a_sentence(tmp_path: Path) -> None:
    world = prepared().folder
    assert refused(world, "--host", "0.0.0.0") == (
        "config: --host 0.0.0.0: others could reach this address, so a token is needed. "
        "Name a file that holds one: --token-file FILE."
    )
    short = tmp_path / "token"
    short.write_text("short")
    assert "is no token: it must be one word of at least 16" in refused(world, "--token-file", short)
    assert "there is no such file" in refused(world, "--token-file", tmp_path / "nothing")
    assert "'evil' is no origin" in refused(world, "--allow-origin", "evil")
    assert "is no origin" in refused(world, "--allow-origin", "https://a.example/path")
    assert refused(world, "--host", "192.0.2.1", "--token-file", _token(tmp_path)).startswith(
        "config: --host"
    )
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refused(world, "--port", port)
        assert said == f"config: --port {port}: another program uses this port. Name another one."
    (tmp_path / "foreign.csv").write_text("a,b\n")
    said = refused(world, "--port", 0, "--approved", tmp_path / "foreign.csv")
    assert "is not a row of approved texts" in said
    assert "storage: " in refused(tmp_path / "nowhere", "--port", 0)


def _token(folder: Path) -> Path:
    path = folder / "long-token"
    path.write_text(f"{TOKEN}\n")
    return path


@pytest.mark.parametrize("name", ["fastapi", "uvicorn", "prometheus_client"])
def test_without_the_extra_a_sentence_names_it(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    assert refused(prepared().folder) == (
        f"extra: a server needs {name}, which is not installed. Install it: pip install 'textsplice[serve]'."
    )
