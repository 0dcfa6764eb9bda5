"""A rule from outside the package, used from the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from search_world import prepared, tables

PLUGIN = """
from dataclasses import dataclass
from typing import ClassVar

from textsplice.extensions import RULES
from textsplice.rules import Draft, Rule


@dataclass(frozen=True)
class AtMost(Rule):
    words: int
    name: ClassVar[str] = "at-most"

    def violation(self, draft: Draft) -> str | None:
        return f"{len(draft.tokens)} words are too many" if len(draft.tokens) > self.words else None


RULES.add("at-most", AtMost)
"""


def textsplice(plugins: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(plugins), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "TEXTSPLICE_PLUGINS": "brevity"}
    command = [sys.executable, "-m", "textsplice", *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_rule_of_a_plugin_works_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "brevity.py").write_text(PLUGIN, encoding="utf-8")
    records = [{"id": f"w{i}", "table": table.to_record()} for i, table in enumerate(tables()[:12])]
    given = tmp_path / "tables.jsonl"
    given.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    out, rule = tmp_path / "out.jsonl", {"rule": "at-most", "words": 24}
    done = textsplice(
        tmp_path, "generate", prepared().folder, given, "--out", out, "--rule", json.dumps(rule), "--quiet"
    )
    assert (done.returncode, done.stderr) == (0, "")
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert all(row["rules"] == [rule] for row in rows)
    said = [row for row in rows if row["status"] == "ok"]
    assert said
    assert max(len(row["tokens"]) for row in said) <= 24
    assert textsplice(tmp_path, "verify", out).returncode == 0
    assert textsplice(tmp_path, "generate", prepared().folder, given, "--rule", "nice").stderr == (
        "error [config]: --rule 'nice': is not JSON: Expecting value at column 1 of line 1. "
        """Write it as '{"rule": NAME, …}'.\n"""
    )
