"""The documentation is true: its Python runs, its commands exist, its site asks no other host."""

from __future__ import annotations

import csv
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache, partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import typer
from playwright.sync_api import Error, sync_playwright

from conftest import ROOT
from textsplice.cli import app
from textsplice.config import config_from_dict, load_config

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
FENCE = re.compile(r"^( *)```(\w+)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"]
RUNNABLE = [*sorted((DOCS / "python").glob("*.md")), DOCS / "schemas.md", DOCS / "provenance.md"]


def blocks(page: Path, language: str) -> list[str]:
    """The fenced code of a page in one language."""
    return [code for _, name, code in FENCE.findall(page.read_text(encoding="utf-8")) if name == language]


def python_path(*folders: Path) -> str:
    """Where another process finds what this one can import."""
    return os.pathsep.join([*map(str, folders), *(path for path in sys.path if path)])


def names(paths: list[Path]) -> list[str]:
    return [path.relative_to(ROOT).as_posix() for path in paths]


@pytest.mark.parametrize("page", names(RUNNABLE))
def test_the_python_of_a_page_runs_from_top_to_bottom(page: str, tmp_path: Path) -> None:
    script = tmp_path / "page.py"
    script.write_text("\n".join(blocks(ROOT / page, "python")), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": python_path()},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout or page == "docs/schemas.md"


@pytest.fixture
def bicycles(tmp_path: Path) -> Path:
    """The files that the page on extensions speaks of, and its plugins."""
    with (ROOT / "examples" / "bicycles.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    records = [{name: value for name, value in row.items() if name != "id" and value} for row in rows]
    blocks_of = ["\n".join(f"{name}: {value}" for name, value in record.items()) for record in records]
    (tmp_path / "bikes.blocks").write_text("\n\n".join(blocks_of) + "\n", encoding="utf-8")
    shutil.copyfile(ROOT / "examples" / "bicycles.csv", tmp_path / "bikes.csv")
    new = "make,model,type,color,gears,condition,extra,price"
    bike = "Tarn,Fjord,touring bike,white,27,well kept,a rear rack,380 euros"
    (tmp_path / "new.csv").write_text(f"{new}\n{bike}\n", encoding="utf-8")
    small = "[policy]\nd_model = 16\nheads = 2\nffn = 16\nencoder_layers = 1\ndecoder_layers = 1\n"
    quick = "[training]\nprocesses = 1\nbatch_sequences = 2\n"
    toml = blocks(DOCS / "own-records.md", "toml")[0]
    (tmp_path / "bikes.toml").write_text(f"{toml}\n{small}\n{quick}", encoding="utf-8")
    for code in blocks(DOCS / "extending.md", "python"):
        name = code.splitlines()[0].removeprefix("# ")
        (tmp_path / name).write_text(code, encoding="utf-8")
    return tmp_path


RUN_COMMANDS = """
import shlex, sys
from textsplice.cli import app
for line in sys.stdin.read().splitlines():
    print("$", line, flush=True)
    app(shlex.split(line), standalone_mode=False)
"""


def test_the_page_on_extensions_runs_from_top_to_bottom(bicycles: Path) -> None:
    page = (DOCS / "extending.md").read_text(encoding="utf-8")
    lines = re.findall(r"^    TEXTSPLICE_PLUGINS=(\w+) textsplice (.*)$", page, re.MULTILINE)
    assert len(lines) >= 9
    # One process for all of them: each would import torch again.
    plugins = ",".join(dict.fromkeys(plugin for plugin, _ in lines))
    done = subprocess.run(
        [sys.executable, "-c", RUN_COMMANDS],
        input="\n".join(["prepare bikes.toml", *(line for _, line in lines)]),
        cwd=bicycles,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": python_path(bicycles), "TEXTSPLICE_PLUGINS": plugins},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "VARIETY" in done.stdout
    assert "table: " in done.stdout


def commands(page: Path) -> list[str]:
    """The command lines of a page: indented or fenced, with continued lines joined."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [
        line.strip() for line in text.splitlines() if line.startswith("    ") or not line.startswith(" ")
    ]
    starts = re.compile(r"^(?:TEXTSPLICE_PLUGINS=\w+ |\S*/bin/)?(textsplice [a-z-].*)")
    found = [match[1] for line in lines if (match := starts.match(line))]
    inline = re.findall(r"`(textsplice [a-z-][^`]*)`", page.read_text(encoding="utf-8"))
    return [*found, *(command for command in inline if "\n" not in command)]


@cache
def options_of(command: tuple[str, ...]) -> frozenset[str] | None:
    """The options of a command; None if there is no such command."""
    found = typer.main.get_command(app)
    for word in command:
        found = getattr(found, "commands", {}).get(word)
        if found is None:
            return None
    return frozenset(
        option for parameter in found.params for option in (*parameter.opts, *parameter.secondary_opts)
    )


def unknown_in(line: str) -> str | None:
    """What a command line has that the program doesn't know."""
    words = shlex.split(
        line.split("  ")[0].replace("…", "").replace("[--resume]", "--resume"), comments=True
    )[1:]
    if words[0] in ("--install-completion", "--show-completion", "--version", "--help"):
        return None
    groups = {"data", "experiment", "lexicon"}
    depth = (
        1
        + (words[0] in groups and len(words) > 1)
        + (words[:2] == ["experiment", "ratings"] and len(words) > 2)
    )
    known = options_of(tuple(words[:depth]))
    if known is None:
        return f"the command {' '.join(words[:depth])}"
    return next((w for w in words[depth:] if re.match(r"--?[a-z]", w) and w.split("=")[0] not in known), None)


@pytest.mark.parametrize("page", names(PAGES))
def test_every_command_on_a_page_exists_with_its_options(page: str) -> None:
    unknown = {line: unknown_in(line) for line in commands(ROOT / page)}
    assert {line: what for line, what in unknown.items() if what} == {}


def test_commands_are_found_and_wrong_ones_are_noticed() -> None:
    assert len(commands(DOCS / "own-records.md")) >= 10
    assert unknown_in("textsplice generate a b --distinct --no-such") == "--no-such"
    assert unknown_in("textsplice generat a b") == "the command generat"


@pytest.mark.parametrize("page", names(PAGES))
def test_every_configuration_on_a_page_loads(page: str) -> None:
    for code in blocks(ROOT / page, "toml"):
        if "--8<--" not in code:
            config_from_dict(tomllib.loads(code), page)


@pytest.mark.parametrize("path", names(sorted((ROOT / "configs").glob("*.toml"))))
def test_every_configuration_file_loads(path: str) -> None:
    load_config(ROOT / path)


class _Loads(HTMLParser):
    """Collects what a page loads or runs by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("script", "img", "iframe", "source"):
            self.found.append(given.get("src") or "")
        if tag == "link" and given.get("rel") in (
            "stylesheet",
            "icon",
            "preload",
            "preconnect",
            "dns-prefetch",
        ):
            self.found.append(given.get("href") or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; warnings are errors."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_no_page_of_the_site_names_another_host_to_load_from(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        parser = _Loads()
        parser.feed(page.read_text(encoding="utf-8"))
        assert [url for url in parser.found if re.match(r"(?:[a-z]+:)?//", url)] == [], page


@pytest.fixture
def served(site: Path) -> Iterator[str]:
    """The site on a server of its own; gives its address."""
    handler = partial(QuietHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without logging each request."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name it has in the base class
        pass


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_the_site_makes_no_request_to_another_host(served: str) -> None:
    requests: list[str] = []
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        except Error as error:
            pytest.skip(f"Chromium does not start here: {error}")
        page = browser.new_page()
        page.on("request", lambda request: requests.append(request.url))
        for name in ("index", "results", "schemas", "python/train"):
            page.goto(f"{served}/{name}.html", wait_until="networkidle")
        page.locator("input[name=query]").click()
        page.keyboard.type("splice")
        page.locator(".md-search-result__item").first.wait_for(timeout=20_000)
        browser.close()
    assert any(url.endswith("search_index.json") for url in requests)
    assert [url for url in requests if not url.startswith((served, "data:", f"blob:{served}"))] == []


def test_the_readme_has_the_two_commands_and_ci_runs_the_second() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first = "python3 -m venv .venv && .venv/bin/pip install -q . && .venv/bin/textsplice quickstart"
    second = (
        "python3 -m venv .venv && .venv/bin/pip install -q -e '.[dev]' && .venv/bin/python -m pytest -n 2"
    )
    assert f"\n    {first}\n" in readme
    assert f"\n    {second}\n" in readme
    assert f"\n{second}\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_no_page_names_a_path_of_a_machine() -> None:
    for page in [*PAGES, *sorted((ROOT / "configs").glob("*.toml")), *sorted((ROOT / "examples").iterdir())]:
        if page.is_file():
            assert not re.search(r"/(?:work|home|root|Users)/", page.read_text(encoding="utf-8")), page
