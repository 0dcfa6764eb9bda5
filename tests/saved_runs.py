"""Runs on disk for tests, without training."""

from __future__ import annotations

import json
from pathlib import Path

from textsplice.config import Config
from textsplice.policy.checkpoint import save_policy
from textsplice.policy.policy import Policy
from textsplice.runs import Prepared, Run

ID = "0123456789ab"


def save_run(folder: Path, config: Config, prepared: Prepared, policy: Policy | None) -> Path:
    """The folder of a run with this policy."""
    about = {"id": ID, "version": "test", "prepared": prepared.key, "command": [], "hardware": {}}
    run = Run.create(folder, config, prepared, about)
    if policy is not None:
        save_policy(policy, run)
    return folder


def bare_run(folder: Path, policy: Policy | None = None) -> Run:
    """A run with nothing but a policy, whose files have no hashes, as those of version 0.1."""
    folder.mkdir(parents=True, exist_ok=True)
    about = {"id": ID, "version": "0.1.0", "prepared": "", "command": [], "hardware": {}}
    (folder / "run.json").write_text(json.dumps(about), encoding="utf-8")
    if policy is not None:
        save_policy(policy, Run.open(folder))
        forget_hashes(folder)
    return Run.open(folder)


def forget_hashes(folder: Path) -> None:
    """As if the run had been made before files had hashes: only other checks can find what is wrong."""
    path = folder / "run.json"
    about = json.loads(path.read_text(encoding="utf-8"))
    for later in ("format", "files", "journal", "digest"):
        about.pop(later, None)
    path.write_text(json.dumps(about), encoding="utf-8")
