"""The random search."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from textsplice.config import load_config
from textsplice.errors import ConfigError, MissingExtraError, TrainingError
from textsplice.runs import Run
from textsplice.training import tune
from textsplice.training.tuning import BOUNDS
from training_corpus import prepare_tiny, tiny_config


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("optuna")
    return prepare_tiny(tmp_path_factory.mktemp("tuning"))


def test_a_search_that_was_stopped_draws_what_one_straight_through_draws(
    folder: Path, tmp_path: Path
) -> None:
    config = tiny_config(folder, "training.max_steps=2")
    lines: dict[str, list[str]] = {"straight": [], "stopped": []}
    for name, counts in (("straight", [3]), ("stopped", [1, 3, 3])):
        there = config.with_values([f"output.run={tmp_path / name}"])
        for trials in counts:
            result = tune(there, trials=trials, quiet=True, report=lines[name].append)
        assert result.trials == 3
        assert all(result.best_values[key] in choices for key, choices in BOUNDS.items())
        best = load_config(result.best_config)
        assert best.training.learning_rate == result.best_values["learning_rate"]
        assert best.training.betas == (result.best_values["beta_1"], result.best_values["beta_2"])
        assert best.output == there.output
    assert [line.replace("of 1", "of 3") for line in lines["stopped"]] == lines["straight"]
    assert len(set(lines["straight"])) == 3
    assert [path.name for path in sorted((tmp_path / "straight-tune").iterdir())] == [
        "best.toml",
        "study.jsonl",
        "textsplice.json",
        "trial-0000.jsonl",
        "trial-0001.jsonl",
        "trial-0002.jsonl",
    ]


def test_a_trial_that_diverges_does_not_end_the_search(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two rates, of which one can't work; the seed draws both in four trials.
    bounds = {**BOUNDS, "learning_rate": (1e-3, 1e38)}
    monkeypatch.setattr("textsplice.training.tuning.BOUNDS", bounds)
    config = tiny_config(folder, f"output.run={tmp_path / 'run'}", "training.warmup_steps=0")
    lines: list[str] = []
    result = tune(config, trials=4, quiet=True, report=lines.append)
    assert result.best_values["learning_rate"] == 1e-3
    assert any("no result" in line for line in lines)
    assert result.trials == len(lines) == 4
    assert not [path for path in (tmp_path / "run-tune").iterdir() if path.is_dir()]


def test_another_configuration_does_not_go_on_with_the_search(folder: Path, tmp_path: Path) -> None:
    config = tiny_config(folder, f"output.run={tmp_path / 'run'}", "training.max_steps=1")
    tune(config, trials=1, quiet=True)
    with pytest.raises(TrainingError) as caught:
        tune(config.with_values(["policy.ffn=32"]), trials=2, quiet=True)
    assert str(caught.value) == (
        f"{tmp_path / 'run-tune'}: the search in this folder was begun with another configuration. "
        "Delete the folder, or set output.run to another one."
    )


def test_trials_of_another_length_are_not_mixed(folder: Path, tmp_path: Path) -> None:
    config = tiny_config(folder, f"output.run={tmp_path / 'run'}", "training.max_steps=1")
    tune(config, trials=1, quiet=True)
    with pytest.raises(TrainingError) as caught:
        tune(config, trials=2, minutes=5, quiet=True)
    assert str(caught.value) == (
        f"{tmp_path / 'run-tune'}: the search in this folder was begun with trials of another length. "
        "Delete the folder, or set output.run to another one."
    )


def test_a_trial_that_could_not_be_tried_ends_the_search_and_stays_open(folder: Path, tmp_path: Path) -> None:
    config = tiny_config(folder, f"output.run={tmp_path / 'run'}", "training.max_steps=1")
    lines: list[str] = []
    tune(config, trials=1, quiet=True)
    with (
        Run.claimed(tmp_path / "run-tune/trial-0001"),
        pytest.raises(TrainingError, match="another process is training in this folder"),
    ):
        tune(config, trials=2, quiet=True, report=lines.append)
    assert lines == []
    assert tune(config, trials=2, quiet=True, report=lines.append).trials == 2
    assert lines[0].startswith("trial 2 of 2: loss ")


def test_a_corpus_with_nothing_to_train_on_is_no_divergence(folder: Path, tmp_path: Path) -> None:
    config = tiny_config(folder, f"output.run={tmp_path / 'run'}", "training.max_cost=1")
    with pytest.raises(TrainingError, match="there are no references of at most max_cost = 1"):
        tune(config, trials=3, quiet=True)


def test_a_trial_that_was_stopped_while_it_was_drawn_counts_for_nothing(folder: Path, tmp_path: Path) -> None:
    import optuna
    from optuna.storages.journal import JournalFileBackend, JournalStorage

    config = tiny_config(folder, "training.max_steps=1")
    lines: dict[str, list[str]] = {"straight": [], "stopped": []}
    for name in lines:
        there = config.with_values([f"output.run={tmp_path / name}"])
        tune(there, trials=1, quiet=True, report=lines[name].append)
        if name == "stopped":
            file = JournalFileBackend(str(tmp_path / "stopped-tune/study.jsonl"))
            optuna.load_study(study_name="textsplice", storage=JournalStorage(file)).ask()
        assert tune(there, trials=3, quiet=True, report=lines[name].append).trials == 3
        assert tune(there, trials=2, quiet=True, report=lines[name].append).trials == 3
    assert lines["stopped"] == lines["straight"]


def test_no_trials_are_refused(folder: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        tune(tiny_config(folder), trials=0)
    assert str(caught.value) == "tune: trials is 0, but at least 1 is needed."


def test_optuna_that_is_not_installed_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError) as caught:
        tune(tiny_config(folder, f"output.run={tmp_path / 'run'}"), trials=1)
    assert str(caught.value) == (
        'tuning needs Optuna, which is not installed. Install it with `pip install "textsplice[tune]"`.'
    )
