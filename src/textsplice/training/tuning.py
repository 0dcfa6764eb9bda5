"""The paper's random search: trials of one epoch, compared by validation loss."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textsplice.config import Config, to_toml
from textsplice.errors import ConfigError, DivergedError, MissingExtraError, TrainingError
from textsplice.runs.outputs import OutputFolder
from textsplice.runs.ownership import require_ours
from textsplice.runs.run import Run
from textsplice.training.start import train

if TYPE_CHECKING:
    from optuna import Study
    from optuna.trial import FrozenTrial, TrialState

STUDY = "study.jsonl"
# Appendix "Hyperparameters and tuning" of the paper.
BOUNDS: Mapping[str, tuple[float, ...]] = {
    "learning_rate": (1e-4, 3e-4, 5e-4, 1e-3),
    "beta_1": (0.85, 0.9, 0.95),
    "beta_2": (0.9, 0.99, 0.999),
    "epsilon": (1e-6, 1e-7, 1e-8),
    "weight_decay": (0.0, 1e-3, 1e-2),
}


@dataclass(frozen=True, slots=True)
class TuningResult:
    """The number of finished trials, and the best of them."""

    trials: int
    best_loss: float
    best_values: Mapping[str, float]
    best_config: Path


def tune(
    config: Config,
    *,
    trials: int = 50,
    minutes: float = 0.0,
    quiet: bool = False,
    report: Callable[[str], None] = lambda _line: None,
) -> TuningResult:
    """Runs trials until `trials` have finished, and writes the best configuration.

    Trials take one epoch, or `minutes`. One that diverged is finished too, without a loss; anything else that
    goes wrong ends the search and leaves the trial open. All is kept beside the run, in `<output.run>-tune`:
    a search that was stopped goes on where it was, inside the trial, and makes the same draws as one
    straight through.
    """
    if trials < 1:
        raise ConfigError(f"trials is {trials}, but at least 1 is needed.", where="tune")
    folder = Path(f"{config.run_folder}-tune")
    study = _open_study(folder, config, minutes)
    while trial := _next_trial(study, trials, config.training.seed):
        run = folder / f"trial-{trial.number:04}"
        loss = _try(_trial_config(config, trial.params, run, minutes), quiet)
        study.tell(trial.number, loss, state=_failed() if loss is None else None)
        outcome = "no result" if loss is None else f"loss {loss:.3f}"
        report(f"trial {_finished(study)} of {trials}: {outcome} with {json.dumps(trial.params)}")
    best = _best(study, folder)
    path = OutputFolder(folder).write("best.toml", to_toml(with_values(config, best.params)))
    return TuningResult(_finished(study), cast(float, best.value), best.params, path)


def with_values(config: Config, values: Mapping[str, float]) -> Config:
    """The configuration with a trial's draw."""
    training = replace(
        config.training,
        learning_rate=values["learning_rate"],
        betas=(values["beta_1"], values["beta_2"]),
        epsilon=values["epsilon"],
        weight_decay=values["weight_decay"],
    )
    return replace(config, training=training)


def _try(config: Config, quiet: bool) -> float | None:
    """The trial's validation loss; None if it diverged. What it leaves is its journal."""
    folder = Path(config.run_folder)
    try:
        result = train(config, resume=True, quiet=quiet)
    except DivergedError:
        _leave_journal(folder)
        return None
    if result.ending == "interrupted":
        raise KeyboardInterrupt  # the trial stays open, and the next `tune` goes on with it
    if result.best_loss is None:
        raise TrainingError("tuning needs a split 'dev' with references.", where="tune")
    _leave_journal(folder)
    return result.best_loss


def _leave_journal(folder: Path) -> None:
    run = Run.open(folder)
    if run.journal.is_file():  # a trial that diverged at once has written none
        OutputFolder(folder.parent).write(f"{folder.name}.jsonl", run.journal.read_bytes())
    run.remove()
    if not any(folder.iterdir()):
        folder.rmdir()


def _trial_config(config: Config, values: Mapping[str, float], run: Path, minutes: float) -> Config:
    trial = with_values(config, values)
    ends = (
        replace(trial.training, max_minutes=minutes, epochs=0)
        if minutes
        else replace(trial.training, max_minutes=0.0, epochs=1)
    )
    return replace(trial, training=ends, output=replace(trial.output, run=str(run)))


def _open_study(folder: Path, config: Config, minutes: float) -> Study:
    try:
        import optuna
        from optuna.storages.journal import JournalFileBackend, JournalStorage
    except ImportError as error:
        raise MissingExtraError(
            "tuning needs Optuna, which is not installed.",
            remedy='Install it with `pip install "textsplice[tune]"`.',
        ) from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    require_ours(folder, ours=_is_search(folder), what="a search that `textsplice tune` began")
    folder.mkdir(parents=True, exist_ok=True)
    storage = JournalStorage(JournalFileBackend(str(folder / STUDY)))
    study = optuna.create_study(storage=storage, study_name="textsplice", load_if_exists=True)
    settings = json.dumps({**config.to_dict(), "output": None}, sort_keys=True)
    if not study.trials:
        study.set_user_attr("settings", settings)
        study.set_user_attr("minutes", minutes)
    another = (
        "another configuration"
        if study.user_attrs.get("settings") != settings
        else "trials of another length"
        if study.user_attrs.get("minutes") != minutes
        else None
    )
    if another:
        raise TrainingError(
            f"the search in this folder was begun with {another}.",
            where=str(folder),
            remedy="Delete the folder, or set output.run to another one.",
        )
    return study


def _is_search(folder: Path) -> bool:
    """Whether `tune` made a folder: its study, which is Optuna's journal, has our name."""
    try:
        with (folder / STUDY).open(encoding="utf-8") as file:
            return '"textsplice"' in file.readline()
    except (OSError, UnicodeDecodeError):
        return False


def _next_trial(study: Study, trials: int, seed: int) -> FrozenTrial | None:
    """The trial that an interrupted search left open, or a new one, or None if there are enough."""
    from optuna.samplers import RandomSampler

    for trial in study.trials:
        if not trial.state.is_finished():
            if _is_drawn(trial):
                return trial
            study.tell(trial.number, state=_failed())  # interrupted while it was drawn: it does not count
    finished = _finished(study)
    if finished >= trials:
        return None
    # The draw depends on the seed and the number of trials before it alone.
    study.sampler = RandomSampler(seed=seed * 1_000_003 + finished)
    drawn = study.ask()
    for name, choices in BOUNDS.items():
        drawn.suggest_categorical(name, choices)
    return study.trials[drawn.number]


def _is_drawn(trial: FrozenTrial) -> bool:
    return trial.params.keys() == BOUNDS.keys()


def _finished(study: Study) -> int:
    return sum(trial.state.is_finished() and _is_drawn(trial) for trial in study.trials)


def _failed() -> TrialState:
    from optuna.trial import TrialState

    return TrialState.FAIL


def _best(study: Study, folder: Path) -> FrozenTrial:
    try:
        return study.best_trial
    except ValueError:
        raise TrainingError(
            "no trial finished.",
            where=str(folder),
            remedy="See the journals of the trials there; the learning rate may be too high.",
        ) from None
