"""What is known of a run, read from its folder: settings, journal, generations, scores."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, cast

from textsplice.errors import InputError
from textsplice.files import file_hash
from textsplice.report.curve import Point
from textsplice.search.generation import FORMAT as GENERATION_FORMAT

JSON = Mapping[str, object]


class Score(NamedTuple):
    """A number and how it was made."""

    metric: str
    value: float
    signature: str


class Habits(NamedTuple):
    """The paper's three figures of interpretability, over all outputs of a file."""

    outputs: int
    abstained: int
    splices: float
    neighbors: float
    copied: float


@dataclass(frozen=True, slots=True)
class Errors:
    """The slot errors of one output."""

    id: str
    count: int
    told: str


@dataclass(frozen=True, slots=True)
class Run:
    """Everything a report shows; a part that is not there is empty."""

    title: str
    about: JSON
    settings: Mapping[str, JSON]
    train: Sequence[Point]
    validation: Sequence[Point]
    outputs: Path | None
    outputs_hash: str
    habits: Habits | None
    scores: Sequence[Score]
    errors: Sequence[Errors]


def read_run(path: Path) -> Run:
    """Reads a run's folder, or a file of generations with the run that it lies in."""
    if not path.exists():
        raise InputError(
            "there is no such run or file.",
            where=str(path),
            remedy="Give a run's folder, or a file that `textsplice generate` wrote.",
        )
    folder = path if path.is_dir() else path.parent
    outputs = outputs_in(path) if path.is_dir() else path
    if outputs is None and not (folder / "run.json").exists():
        raise InputError(
            "this folder is not a run and holds no generations.",
            where=str(path),
            remedy="Give a run's folder, or a file that `textsplice generate` wrote.",
        )
    train, validation = _journal(folder / "train.jsonl")
    evaluation = _evaluation(folder, outputs)
    return Run(
        title=folder.resolve().name if path.is_dir() else path.name,
        about=_json(folder / "run.json"),
        settings=_settings(folder / "config.toml"),
        train=train,
        validation=validation,
        outputs=outputs,
        outputs_hash=file_hash(outputs) if outputs else "",
        habits=_habits(outputs) if outputs else None,
        scores=_scores(evaluation),
        errors=_errors(evaluation),
    )


def outputs_in(folder: Path) -> Path | None:
    """The first file of generations in a folder, by name."""
    return next((p for p in sorted(folder.glob("*.jsonl")) if _is_generations(p)), None)


def read_rows(path: Path) -> Iterator[JSON]:
    """The rows of a JSONL file, one at a time."""
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise InputError(f"is not JSON: {error}.", where=f"{path}, line {number}") from error
            if not isinstance(row, dict):
                raise InputError("is not a JSON object.", where=f"{path}, line {number}")
            yield cast("JSON", row)


def _is_generations(path: Path) -> bool:
    with path.open(encoding="utf-8") as file:
        return GENERATION_FORMAT in file.readline()


def _settings(path: Path) -> Mapping[str, JSON]:
    if not path.is_file():
        return {}
    try:
        sections = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"is not TOML: {error}.", where=str(path)) from error
    return {name: values for name, values in sections.items() if isinstance(values, dict)}


def _journal(path: Path) -> tuple[list[Point], list[Point]]:
    """The losses of training and of validation; a last line that a killed run left unfinished is skipped."""
    points: dict[str, list[Point]] = {"train": [], "validation": []}
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
            if not line.endswith("\n"):
                continue
            row = json.loads(line)
            if row.get("kind") in points and isinstance(row.get("loss"), (int, float)):
                points[row["kind"]].append(Point(int(row["step"]), float(row["loss"])))
    return points["train"], points["validation"]


def _habits(path: Path) -> Habits:
    outputs = abstained = splices = neighbors = tokens = copied = 0
    for row in read_rows(path):
        outputs += 1
        sources = cast("Mapping[str, Sequence[object]]", row.get("sources", {}))
        first_word = 1 + len(sources.get("neighbors", ()))
        if row.get("status") == "abstained":
            abstained += 1
            continue
        laid = cast("Sequence[Sequence[int]]", row.get("splices", ()))
        places = cast("Sequence[Mapping[str, int]]", row.get("provenance", ()))
        splices += len(laid)
        neighbors += len({splice[2] for splice in laid if 0 < splice[2] < first_word})
        tokens += len(places)
        copied += sum(place["source"] < first_word for place in places)
    told = max(outputs - abstained, 1)
    return Habits(outputs, abstained, splices / told, neighbors / told, copied / max(tokens, 1))


def _evaluation(folder: Path, outputs: Path | None) -> JSON:
    """`OUTPUTS.scores.json` beside the outputs, else `scores.json` of the folder."""
    candidates = [folder / "scores.json"]
    if outputs:
        candidates.insert(0, outputs.with_name(f"{outputs.stem}.scores.json"))
    return next((_json(path) for path in candidates if path.is_file()), {})


def _scores(evaluation: JSON) -> list[Score]:
    rows = cast("Sequence[Mapping[str, object]]", evaluation.get("scores", ()))
    return [
        Score(str(row["metric"]), float(cast(float, row["value"])), str(row.get("signature", "")))
        for row in rows
    ]


def _errors(evaluation: JSON) -> list[Errors]:
    """The outputs with slot errors, worst first; ties in the order of their ids."""
    rows = cast("Sequence[Mapping[str, object]]", evaluation.get("slots", ()))
    errors = [_error(row) for row in rows]
    return sorted((e for e in errors if e.count), key=lambda e: (-e.count, e.id))


def _error(row: Mapping[str, object]) -> Errors:
    kinds = ("missing", "wrong", "repeated")
    named = {kind: cast("Sequence[str]", row.get(kind, ())) for kind in kinds}
    told = "; ".join(f"{kind}: {', '.join(fields)}" for kind, fields in named.items() if fields)
    return Errors(str(row["id"]), sum(map(len, named.values())), told)


def _json(path: Path) -> JSON:
    if not path.is_file():
        return {}
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"is not JSON: {error}.", where=str(path)) from error
    return cast("JSON", value) if isinstance(value, dict) else {}
