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
        if not isinstance(row, dict):
            raise StorageError("is not a JSON object.", where=f"{path}:{number}")
        lines.append(cast("dict[str, float | int | str | bool]", row))
    return lines


def _whole_lines(path: Path) -> list[str]:
    text = read_text(path, StorageError, limit=MAX_JOURNAL_BYTES)
    return [line for line in text.split("\n")[:-1] if line]


def _lines_until(path: Path, step: int) -> list[str]:
    rows = zip(_whole_lines(path), read_journal(path), strict=True)
    return [f"{line}\n" for line, row in rows if _step(row, path) <= step]


def _step(row: Mapping[str, object], path: Path) -> int:
    step = row.get("step")
    if not isinstance(step, int):
        raise StorageError("has a line that does not say its step.", where=str(path))
    return step


def _tensorboard_writer(folder: Path, step: int) -> _Writer:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise MissingExtraError(
            "training.tensorboard = true needs TensorBoard, which is not installed.",
            remedy='Install it with `pip install "textsplice[tensorboard]"`, or set it to false.',
        ) from error
    return SummaryWriter(str(folder), purge_step=step + 1)
