"""The loop: updates, validations, checkpoints, and all the ways in which it ends."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import torch

from textsplice.config import Config, TrainingConfig
from textsplice.errors import DivergedError, TrainingError
from textsplice.memory import is_out_of_memory
from textsplice.policy.checkpoint import save_policy
from textsplice.policy.device import to_device
from textsplice.policy.policy import Policy
from textsplice.runs.prepared import Prepared
from textsplice.runs.run import Run
from textsplice.training.checkpoint import (
    State,
    broadcast_checkpoint,
    load_checkpoint,
    read_state,
    save_checkpoint,
)
from textsplice.training.determinism import deterministic, seed_step
from textsplice.training.examples import Examples
from textsplice.training.feed import prefetch
from textsplice.training.interrupt import stop_requested
from textsplice.training.monitor import Monitor
from textsplice.training.optimizer import clip_, flat_gradients, new_optimizer
from textsplice.training.order import FIRST, Place, Rows
from textsplice.training.precision import multiplies_in_bfloat16
from textsplice.training.processes import Processes
from textsplice.training.schedule import last_step, learning_rate
from textsplice.training.tally import Tally

Ending = Literal["steps", "epochs", "minutes", "patience", "interrupted"]

# However long an update takes, a killed run loses no more than this.
CHECKPOINT_SECONDS = 600.0
VALIDATIONS = 10  # at least so many in a run whose steps are known, unless another interval is asked for


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """How a training ended."""

    run: str
    ending: Ending
    step: int
    epoch: int
    best_loss: float | None
    best_step: int
    elapsed: float


class Update(NamedTuple):
    """The references of one step, made into tensors ahead of time."""

    examples: Examples
    following: Place
    rows: Rows
    micro_sequences: int
    batches: list[Any]


class Trainer:
    """One process's part of a training: the policy, its optimizer, and its `state`."""

    def __init__(
        self,
        config: Config,
        prepared: Prepared,
        policy: Policy,
        run: Run,
        processes: Processes,
    ) -> None:
        self.training = config.training
        self.policy = policy
        policy.mixed_precision = multiplies_in_bfloat16(config.training)
        policy.recompute_layers(config.training.recompute)
        self.folder = run
        self.processes = processes
        self.train = Examples.of(prepared, "train", policy, processes)
        self.order = self.train.order(self.training)
        self.validation = self._validation(prepared)
        self.gradients = flat_gradients(policy)
        self.optimizer = new_optimizer(policy, self.training)
        self.state = self._first_state()
        self.saved_at = self.state.elapsed
        self.begun = time.perf_counter() - self.state.elapsed

    def run(self, *, quiet: bool = False, note: str | None = None) -> TrainingResult:
        """Trains until an end is reached and leaves a checkpoint; `note` goes into the journal."""
        epoch_updates = len(self.order.epoch(0))
        with (
            deterministic(self.training.threads, self.policy.device),
            stop_requested() as asked,
            prefetch(self._updates()) as updates,
            Monitor(self.training, self.folder, self.processes, epoch_updates).shown(
                self.state, quiet=quiet
            ) as self.monitor,
        ):
            ending = self._ending()
            if note and self.state.step and ending is None:
                self.monitor.note(self.state.step, note)
            while ending is None:
                interrupted = self._update(next(updates), asked)
                if self.validation and self._validation_is_due():
                    self._validate(self.validation)
                ending = "interrupted" if interrupted else self._ending()
                if ending or self._checkpoint_is_due():
                    self._save_last()
            if self.validation and ending != "interrupted":
                self._validate_at_end(self.validation)
        return self._result(ending)

    def _result(self, ending: Ending) -> TrainingResult:
        best = self.folder.best.find() if self.processes.writes else None
        best_state = read_state(best) if best else self.state
        return TrainingResult(
            run=str(self.folder.path),
            ending=ending,
            step=self.state.step,
            epoch=self.state.place.epoch,
            best_loss=best_state.best_loss,
            best_step=best_state.best_step,
            elapsed=self.state.elapsed,
        )

    def _validation(self, prepared: Prepared) -> Update | None:
        """The references to validate on, batched when needed; None if there are none."""
        if "dev" not in prepared.splits:
            return None
        dev = Examples.of(prepared, "dev", self.policy, self.processes)
        rows = dev.sample(self.training.validate_sequences, verbatim=self.training.verbatim)
        return Update(dev, FIRST, rows, sys.maxsize, []) if len(rows) else None

    def _first_state(self) -> State:
        state = State(micro_sequences=self.training.micro_sequences)
        checkpoint = self.folder.last.find() if self.processes.writes else None
        if checkpoint:
            state = load_checkpoint(checkpoint, self.policy, self.optimizer)
        return broadcast_checkpoint(state, self.policy, self.optimizer, self.processes)

    def _ending(self) -> Ending | None:
        training, state = self.training, self.state
        if (stop := last_step(training)) and state.step >= stop:
            return "steps"
        if training.epochs and state.place.epoch >= training.epochs:
            return "epochs"
        if training.max_minutes and state.elapsed >= 60.0 * training.max_minutes:
            return "minutes"
        if training.patience and state.stale_validations >= training.patience:
            return "patience"
        return None

    # One step

    def _updates(self) -> Iterator[Update]:
        """All updates from the current place on, as tensors; runs in the prefetching thread."""
        for following, rows in self.order.updates(self.state.place):
            micro = self.state.micro_sequences
            yield Update(self.train, following, rows, micro, list(self.train.batches(rows, micro)))

    def _update(self, update: Update, asked: Callable[[], bool]) -> bool:
        """Takes one step; returns whether a process was asked to stop."""
        begun = time.perf_counter()
        step = self.state.step + 1
        part = self._in_memory(update, self._add_gradients)
        # All processes must agree on the time, which is the first one's, and on whether to stop.
        clock = time.perf_counter() - self.begun if self.processes.writes else 0.0
        sums = torch.cat([part.tensor(), torch.tensor([clock, asked()], dtype=torch.float64)])
        self.processes.all_reduce(sums)
        self.processes.all_reduce(self.gradients)
        tally = Tally.from_tensor(sums[:-2])
        norm = clip_(self.gradients, self.training.clip)
        if not math.isfinite(tally.loss + norm):
            raise self._end(DivergedError, f"the loss is not a number at step {step}.")
        rate = learning_rate(self.training, step)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.state = replace(
            self.state,
            step=step,
            place=update.following,
            elapsed=float(sums[-2]),
            seconds=self.state.seconds + time.perf_counter() - begun,
            tally=self.state.tally + tally,
        )
        self.monitor.show(self.state, tally)
        if step % self.training.log_every == 0:
            self.monitor.log(self.state, rate, norm)
            self.state = replace(self.state, seconds=0.0, tally=Tally())
        return bool(sums[-1])

    def _add_gradients(self, update: Update, batches: Iterable[Any]) -> Tally:
        """Adds the gradient of the mean loss over the update; `batches` are this process's share."""
        seed_step(self.training.seed, self.state.step + 1, self.processes.rank)
        self.policy.train()
        self.gradients.zero_()
        tally = Tally()
        for batch in batches:
            output = self.policy(to_device(batch, self.policy.device))
            ((output.first_loss + output.second_loss) / len(update.rows)).backward()
            tally += Tally.of(output)
        return tally

    def _in_memory(self, update: Update, work: Callable[[Update, Iterable[Any]], Tally]) -> Tally:
        """Does the work; if memory runs out, starts again with half as many references at a time."""
        while True:
            micro = self.state.micro_sequences
            made_before = update.micro_sequences > micro
            batches = update.examples.batches(update.rows, micro) if made_before else update.batches
            try:
                return work(update, batches)
            except (MemoryError, RuntimeError) as error:
                if not is_out_of_memory(error):
                    raise
                if micro == 1:
                    raise self._end(TrainingError, "out of memory with one reference at a time.") from error
            self.state = replace(self.state, micro_sequences=micro // 2)
            self.monitor.note(
                self.state.step,
                f"out of memory at step {self.state.step + 1}: from here on {micro // 2} references "
                f"at a time instead of {micro}; updates are of the same references as before",
            )

    def _end(self, kind: type[TrainingError], what: str) -> TrainingError:
        """What went wrong, and which checkpoint is left."""
        checkpoint = self.folder.last.find()
        good = (
            f"The last good checkpoint is {checkpoint.path} (step {read_state(checkpoint).step})."
            if checkpoint
            else "There is no checkpoint yet."
        )
        return kind(what, where=str(self.folder.path), remedy=good)

    # Validations and checkpoints

    def _validation_is_due(self) -> bool:
        every = self.training.validate_every
        if every == TrainingConfig().validate_every and self.monitor.planned_steps:
            every = min(every, max(1, self.monitor.planned_steps // VALIDATIONS))
        return self.state.step % every == 0 if every else self.state.place.done == 0

    def _validate(self, validation: Update) -> None:
        """Validates; the best weights are kept, and too many validations without progress end the run."""
        loss = self._validation_loss(validation)
        state = replace(self.state, validated_step=self.state.step)
        if state.best_loss is None or loss < state.best_loss:
            self.state = replace(state, best_loss=loss, best_step=state.step, stale_validations=0)
            self._save_best(self.state)
        else:
            self.state = replace(state, stale_validations=state.stale_validations + 1)

    def _validate_at_end(self, validation: Update) -> None:
        """Keeps the last weights if they are the best, without a trace in the state that is resumed
        from: a resumed run must not differ from one that never stopped."""
        if self.state.validated_step == self.state.step:
            return
        loss = self._validation_loss(validation)
        self.state = replace(self.state, validated_step=self.state.step)
        if self.state.best_loss is None or loss < self.state.best_loss:
            self._save_best(replace(self.state, best_loss=loss, best_step=self.state.step))
        if self.processes.writes:
            self.folder.last.write_state(self.state.to_dict())

    def _validation_loss(self, validation: Update) -> float:
        """Mean negative log-likelihood of a validation reference."""
        begun = time.perf_counter()
        sums = self._in_memory(validation, self._evaluate).tensor()
        self.processes.all_reduce(sums)
        tally = Tally.from_tensor(sums)
        if not math.isfinite(tally.loss):
            what = f"the validation loss is not a number at step {self.state.step}."
            raise self._end(DivergedError, what)
        self.monitor.log_validation(self.state, tally, time.perf_counter() - begun)
        return tally.loss

    def _evaluate(self, update: Update, batches: Iterable[Any]) -> Tally:
        del update
        self.policy.eval()
        with torch.no_grad():
            losses = (self.policy(to_device(batch, self.policy.device)) for batch in batches)
            return sum(map(Tally.of, losses), Tally())

    def _checkpoint_is_due(self) -> bool:
        every = self.training.checkpoint_every
        late = self.state.elapsed - self.saved_at > CHECKPOINT_SECONDS
        return late or bool(every and self.state.step % every == 0)

    def _save_last(self) -> None:
        self.saved_at = self.state.elapsed
        if self.processes.writes:
            save_checkpoint(self.folder.last, self.policy, self.optimizer, self.state)
            if self.state.best_loss is None:  # so that a run can be used before its first validation
                save_policy(self.policy, self.folder)

    def _save_best(self, state: State) -> None:
        if self.processes.writes:
            save_checkpoint(self.folder.best, self.policy, self.optimizer, state)
            save_policy(self.policy, self.folder)
