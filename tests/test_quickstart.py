"""`quickstart` over a folder that is there already, and with few steps."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from textsplice.cli import main
from textsplice.cli.quickstart import quickstart_config, train_run
from textsplice.config import load_config, to_toml
from textsplice.runs import Prepared
from textsplice.runs.integrity import signed
from textsplice.runs.journal import read_journal
from textsplice.training.schedule import check_training, learning_rate
from training_corpus import prepare_tiny, tiny_config


def quickstart(*arguments: object, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["textsplice", "quickstart", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


@pytest.mark.parametrize("steps", [1, 2, 20, 100, 600])
def test_any_number_of_steps_can_be_trained(steps: int, tmp_path: Path) -> None:
    training = quickstart_config(tmp_path, steps).training
    check_training(training)
    assert training.max_steps == training.total_steps == steps
    assert training.warmup_steps == steps // 10
    assert max(learning_rate(training, step) for step in range(1, steps + 1)) == training.learning_rate


def test_a_quickstart_of_other_steps_is_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(to_toml(quickstart_config(tmp_path, 100)), encoding="utf-8")
    before = path.read_bytes()
    assert quickstart("--out", tmp_path, monkeypatch=monkeypatch) == 2
    assert capsys.readouterr().err == (
        f"error [config]: {path}: has other settings: training.warmup_steps (10 there, 140 now), "
        "training.total_steps (100 there, 1400 now), training.max_steps (100 there, 1400 now). "
        "Use another --out.\n"
    )
    assert path.read_bytes() == before
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == [path]


def test_a_quickstart_of_an_older_version_is_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[training]\nmomentum = 0.9\n", encoding="utf-8")
    assert quickstart("--out", tmp_path, monkeypatch=monkeypatch) == 2
    assert capsys.readouterr().err == (
        f"error [config]: {path}: is not of this version: there is no setting 'training.momentum'. "
        "Use another --out.\n"
    )
    assert list(tmp_path.iterdir()) == [path]


def test_a_run_on_the_data_of_another_version_is_trained_afresh_and_said_to_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tiny_config(prepare_tiny(tmp_path), "training.max_steps=2")
    prepared = Prepared.open(config.output.prepared)
    run = tmp_path / "run"
    train_run(config, prepared)
    train_run(config, prepared)  # nothing to do, nothing to say
    assert capsys.readouterr().out == ""
    about = json.loads((run / "run.json").read_text(encoding="utf-8"))
    (run / "run.json").write_text(json.dumps(signed({**about, "prepared": "before"})), encoding="utf-8")
    train_run(config.with_values(["training.max_steps=4"]), prepared)
    assert capsys.readouterr().out == (
        f"{run} was trained on the data of another version: it is trained again.\n"
    )
    assert load_config(run / "config.toml").training.max_steps == 4
    assert [row["step"] for row in read_journal(run / "journal.jsonl")] == [2, 3, 4, 4]
    after = json.loads((run / "run.json").read_text(encoding="utf-8"))
    changing = {"files": None, "digest": None}
    assert {**after, **changing} == {**about, "command": sys.argv, **changing}
