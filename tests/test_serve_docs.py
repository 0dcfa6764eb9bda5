"""What the page "Serve" shows runs: clients, unit, Dockerfile; and the API is as its document says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import jsonschema
import pytest

from conftest import ROOT
from search_world import prepared
from serving import Served, environment, serving
from test_docs import blocks
from textsplice.serve.limits import Limits
from textsplice.serve.problems import CODES, TITLES
from textsplice.splicer import Splicer

PAGE = ROOT / "docs" / "serve.md"
HERE = "http://127.0.0.1:8000"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    with serving(Splicer.untrained(prepared()), tmp_path_factory.mktemp("serve")) as found:
        yield found


def shown(language: str, served: Served) -> str:
    (code,) = blocks(PAGE, language)
    assert HERE in code
    return code.replace(HERE, served.url)


def said(arguments: list[str], text: str) -> str:
    done = subprocess.run(
        arguments, input=text, capture_output=True, text=True, check=False, env=environment()
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_the_client_with_curl(served: Served) -> None:
    (result,) = json.loads(said(["bash", "-e"], shown("bash", served)))["results"]
    assert result["row"]["table"]["name"] == "Otter Trail"


def test_the_client_in_python(served: Served) -> None:
    lines = said([sys.executable, "-"], shown("python", served)).splitlines()
    assert re.match("(ok|abstained) ", lines[0])
    assert lines[-1] == "{'true': True, 'why': None}"


@pytest.mark.skipif(not shutil.which("node"), reason="Node is not installed")
def test_the_client_in_javascript(served: Served) -> None:
    lines = said(["node", "--input-type=module", "-"], shown("javascript", served)).splitlines()
    assert [line.split()[0] for line in lines] == ["a", "b"]


def test_the_result_on_the_page_is_of_the_form_that_is_given(served: Served) -> None:
    (code,) = blocks(PAGE, "json")
    schema = {"$ref": "#/components/schemas/Result", "components": served.document["components"]}
    jsonschema.Draft202012Validator(schema).validate(json.loads(code))


def test_the_page_names_every_route_limit_status_and_code(served: Served) -> None:
    page = PAGE.read_text(encoding="utf-8")
    for path, methods in served.document["paths"].items():
        for method in methods:
            assert f"{method.upper()} {path.replace('{id}', 'ID')}" in page
    assert set(re.findall(r"^\| `--(limit-\w+|batch-size)`", page, re.MULTILINE)) == {
        *(f"limit-{name}" for name in ("bytes", "rows", "fields", "characters", "seconds", "queue")),
        "batch-size",
    }
    assert f"{Limits().rows:,}" in page
    assert all(str(status) in page for status in TITLES)
    assert all(f"`{code}`" in page for code in CODES.values())


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_the_unit_is_one(tmp_path: Path) -> None:
    unit = (ROOT / "deploy" / "textsplice.service").read_text(encoding="utf-8")
    program = "/opt/textsplice/bin/textsplice"
    assert unit.count(f"ExecStart={program} serve ") == 1
    (tmp_path / "textsplice.service").write_text(unit.replace(program, sys.executable), encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", tmp_path / "textsplice.service"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_dockerfile_is_sound() -> None:
    hadolint = shutil.which(
        "hadolint", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    )
    assert hadolint, "hadolint comes with the extra dev"
    done = subprocess.run(
        [hadolint, ROOT / "deploy" / "Dockerfile"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def schemathesis(url: str, examples: int, *options: str) -> int:
    """How many requests were tried, all checks of which passed."""
    done = subprocess.run(
        [
            *(
                sys.executable,
                "-m",
                "schemathesis.cli",
                "--config-file",
                ROOT / "tests" / "schemathesis.toml",
            ),
            *("run", f"{url}/openapi.json", "--checks", "all", "--max-examples", str(examples)),
            *("--continue-on-failure", "--generation-database", "none", "--no-color", *options),
        ],
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    tried = re.search(r"([\d,]+) generated, ([\d,]+) passed", done.stdout)
    assert tried, done.stdout[-2000:]
    assert tried[1] == tried[2]
    return int(tried[1].replace(",", ""))


def test_the_api_is_as_its_document_says(served: Served) -> None:
    assert schemathesis(served.url, 24, "--phases", "examples,fuzzing") >= 200
    assert not [entry for entry in served.log if entry.get("event") == "mistake"]


@pytest.mark.slow
def test_the_api_is_as_its_document_says_in_five_thousand_requests(served: Served) -> None:
    assert schemathesis(served.url, 450) >= 5000
