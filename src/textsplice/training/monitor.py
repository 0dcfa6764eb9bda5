"""What a person sees of a training: the live bar, the journal, notes."""

from __future__ import annotations

import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from textsplice.config import TrainingConfig
from textsplice.progress import bar
from textsplice.runs.journal import Journal
from textsplice.runs.run import Run
from textsplice.training.checkpoint import State
from textsplice.training.processes import Processes
from textsplice.training.schedule import last_step
from textsplice.training.tally import Tally
from textsplice.visible import visible_lines


class Monitor:
    """Reports progress; only the first process's monitor does, the others are silent."""

    def __init__(
        self,
        training: TrainingConfig,
        run: Run,
        processes: Processes,
        epoch_updates: int,
    ) -> None:
        self.training = training
        self.run = run
        self.writes = processes.writes
        steps = [last_step(training) or 0, training.epochs * epoch_updates]
        self.planned_steps = min((count for count in steps if count), default=None)

    @contextmanager
    def shown(self, state: State, *, quiet: bool) -> Generator[Monitor]:
        """Opens the progress bar and the journal."""
        tensorboard = self.run.tensorboard if self.training.tensorboard else None
        self.quiet = quiet
        self.journal = (
            Journal(self.run.journal, step=state.step, tensorboard=tensorboard) if self.writes else None
        )
        try:
            with bar(self._total(), "training", quiet=quiet or not self.writes) as self.bar:
                self.position = 0
                self._advance(state)
                yield self
        finally:
            if self.journal:
                self.journal.close()
                if tensorboard:
                    self.run.record_tensorboard()

    def show(self, state: State, tally: Tally) -> None:
        """Moves the bar; the loss and accuracies beside it are the last update's."""
        self._advance(state)
        rates = tally.rates()
        best = f" · best {state.best_loss:.2f}" if state.best_loss is not None else ""
        self.bar.describe(
            f"step {state.step} · loss {tally.loss:.2f} · right "
            f"{rates['first_accuracy']:.0%} {rates['second_accuracy']:.0%}{best}"
        )

    def log(self, state: State, rate: float, norm: float) -> None:
        """A line about the updates since the last one."""
        seconds = max(state.seconds, 1e-9)
        self._write(
            "train",
            state.step,
            {
                "epoch": state.place.epoch,
                **state.tally.rates(),
                "learning_rate": rate,
                "gradient_norm": norm,
                "actions_per_second": state.tally.first_decisions / seconds,
                "tokens_per_second": state.tally.canvas_tokens / seconds,
                "elapsed": state.elapsed,
                **({} if (eta := self._eta(state)) is None else {"eta": eta}),
            },
        )

    def log_validation(self, state: State, tally: Tally, seconds: float) -> None:
        """A line about a validation."""
        values = {
            "epoch": state.place.epoch,
            **tally.rates(),
            "elapsed": state.elapsed,
            "seconds": seconds,
        }
        self._write("validation", state.step, values)

    def note(self, step: int, message: str) -> None:
        """Something a person should know, in the journal and on standard error."""
        self._write("note", step, {"message": message})
        if not self.quiet:
            print(visible_lines(message), file=sys.stderr)

    def _write(self, kind: str, step: int, values: Mapping[str, float | int | str]) -> None:
        if self.journal:
            self.journal.write(kind, step, values)

    def _eta(self, state: State) -> float | None:
        """Seconds until the nearest end that is known; early stopping may come first."""
        ends: list[float] = []
        if self.planned_steps is not None:
            ends.append((self.planned_steps - state.step) * state.elapsed / state.step)
        if self.training.max_minutes:
            ends.append(60.0 * self.training.max_minutes - state.elapsed)
        return max(min(ends), 0.0) if ends else None

    def _total(self) -> int | None:
        # A run with a time limit counts seconds, any other run counts steps.
        return round(60 * self.training.max_minutes) or self.planned_steps

    def _advance(self, state: State) -> None:
        position = int(state.elapsed) if self.training.max_minutes else state.step
        self.bar.advance(position - self.position)
        self.position = position
