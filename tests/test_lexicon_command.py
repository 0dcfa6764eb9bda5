"""`textsplice lexicon induce` writes a file, and replaces one only if told to."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from textsplice.cli import lexicon
from textsplice.errors import ConfigError


def induce(*arguments: str | Path) -> str:
    app = typer.Typer()
    lexicon.register(app)
    result = CliRunner().invoke(app, ["lexicon", "induce", "bundled", "--limit", "50", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout


def test_a_file_is_replaced_only_if_told_to(tmp_path: Path):
    path = tmp_path / "lexicon.toml"
    path.write_text("# my own\n")
    with pytest.raises(ConfigError) as caught:
        induce("--out", path)
    assert str(caught.value) == (
        f"{path}: already exists and was left as it is. Name another file, or overwrite it with --force."
    )
    assert path.read_text() == "# my own\n"
    assert induce("--out", path, "--force") == f"{path}: a proposal; read and correct it.\n"
    assert "# my own" not in path.read_text()
