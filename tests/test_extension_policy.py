"""A policy from outside the package: trained, generating and verified from the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from textsplice.config import to_toml
from training_corpus import prepare_tiny, tiny_config

PLUGIN = '''
from textsplice.extensions import POLICIES
from textsplice.oracle import Splice
from textsplice.policy.kind import PolicyKind
from textsplice.policy.lrt.policy import LrtPolicy
from textsplice.policy.problem import Candidate, Outcome


class Parrot(LrtPolicy):
    """Learns as LRT does, and repeats its neighbors word for word, the likeliest first."""

    def propose(self, problems, search, encodings=None):
        return [self.repeat(problem) for problem in problems]

    def repeat(self, problem):
        outcome, numbering = Outcome(), problem.sources.numbering
        for rank, text in enumerate(problem.case.neighbors):
            splice = Splice(0, 0, numbering.neighbor(rank), 0, len(text))
            outcome.finish(Candidate((splice,), tuple(text[1:-1].tolist()), -float(rank)))
        return outcome


POLICIES.add("parrot", PolicyKind("parrot", model="parrot:Parrot"))
'''


def textsplice(folder: Path, *arguments: object) -> str:
    path = os.pathsep.join([str(folder), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "TEXTSPLICE_PLUGINS": "parrot"}
    command = [sys.executable, "-m", "textsplice", *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_policy_of_a_plugin_is_trained_and_generates_and_obeys_rules(tmp_path: Path) -> None:
    (tmp_path / "parrot.py").write_text(PLUGIN, encoding="utf-8")
    changes = ("text.mask=false", "policy.kind=parrot", "training.max_steps=2")
    prepare_tiny(tmp_path, *changes)
    (tmp_path / "config.toml").write_text(to_toml(tiny_config(tmp_path, *changes)), encoding="utf-8")
    textsplice(tmp_path, "train", tmp_path / "config.toml", "--quiet")
    run, out = tmp_path / "run", tmp_path / "out.jsonl"
    assert json.loads((run / "config.json").read_text(encoding="utf-8"))["kind"] == "parrot"
    given = tmp_path / "corpus" / "dev.jsonl"
    # The policy knows nothing of rules, and yet they hold: texts that break them are not given.
    textsplice(tmp_path, "generate", run, given, "--out", out, "--forbid", "restaurant", "--quiet")
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert {row["status"] for row in rows} <= {"ok", "doubtful"}  # it says the values of others
    for row in rows:
        assert (row["policy"], row["attribution"], len(row["splices"])) == ("parrot", "exact", 1)
        assert row["text"] in [neighbor["text"] for neighbor in row["sources"]["neighbors"]]
    textsplice(tmp_path, "verify", out, "--run", run)
