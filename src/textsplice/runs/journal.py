"""The journal of a training: one JSON object per line, for people, plots and the next session."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, cast

from textsplice.errors import MissingExtraError, StorageError
from textsplice.files import atomic_write_text, storage_error
from textsplice.parsing import parse_json, read_text

MAX_JOURNAL_BYTES = 1 << 30


class _Writer(Protocol):
    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> None: ...
    def close(self) -> None: ...


class Journal:
    """Appends lines; `kind` is "train", "validation" or "note"."""

    def __init__(self, path: Path, *, step: int, tensorboard: Path | None = None) -> None:
        """Continues the journal at `path` for a run that is at `step`; later lines are dropped."""
        self._path = path
        self._writer = _tensorboard_writer(tensorboard, step) if tensorboard else None
        if path.exists():
            atomic_write_text(path, "".join(_lines_until(path, step)))

    def write(self, kind: str, step: int, values: Mapping[str, float | int | str | bool]) -> None:
        """Adds a line and, for numbers, points to TensorBoard."""
        line = json.dumps({"kind": kind, "step": step, **values})
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError as error:
            raise storage_error(error, self._path) from error
        if self._writer and kind != "note":
            for name, value in values.items():
                if isinstance(value, (int, float)):
                    self._writer.add_scalar(f"{kind}/{name}", float(value), step)

    def close(self) -> None:
        """Finishes the TensorBoard file, if there is one."""
        if self._writer:
            self._writer.close()


def read_journal(path: Path) -> list[dict[str, float | int | str | bool]]:
    """The lines of a journal; one that a killed run left unfinished is left out."""
    lines: list[dict[str, float | int | str | bool]] = []
    for number, line in enumerate(_whole_lines(path), start=1):
        row = parse_json(line, StorageError, f"{path}:{number}")
        if isinstance(row, dict):
            lines.append(cast("dict[str, float | int | str | bool]", row))
    return lines


def _whole_lines(path: Path) -> list[str]:
    lines = read_text(path, StorageError, limit=MAX_JOURNAL_BYTES).splitlines(keepends=True)
    return [line for line in lines if line.endswith("\n")]


def _lines_until(path: Path, step: int) -> list[str]:
    return [line for line in _whole_lines(path) if json.loads(line)["step"] <= step]


def _tensorboard_writer(folder: Path, step: int) -> _Writer:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise MissingExtraError(
            "training.tensorboard = true needs TensorBoard, which is not installed.",
            remedy='Install it with `pip install "textsplice[tensorboard]"`, or set it to false.',
        ) from error
    return SummaryWriter(str(folder), purge_step=step + 1)
