"""What a report shows of a run: settings, journal, generations, scores."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NamedTuple, cast

from textsplice.corpus.table import Table
from textsplice.errors import InputError
from textsplice.evaluate.experiments.derivations import sources_read
from textsplice.evaluate.metrics.metric import metric_named
from textsplice.evaluate.score import Score, Signature
from textsplice.files import file_hash
from textsplice.oracle.numbering import Numbering
from textsplice.oracle.splice import Splice
from textsplice.report.curve import Point
from textsplice.runs.journal import read_journal
from textsplice.runs.run import Run
from textsplice.search.generation import FORMAT as GENERATION_FORMAT
from textsplice.slots.check import SlotSummary, check_slots, summarize_slots
from textsplice.slots.lexicon import BUNDLED, Lexicon

JSON = Mapping[str, object]


SCORES = "scores.json"  # what `evaluate --json` printed


class Habits(NamedTuple):
    """The paper's three measures of interpretability, over all outputs of a file."""

    outputs: int
    abstained: int
    splices: float
    neighbors: float
    copied: float


class Faults(NamedTuple):
    """The slot errors of one output, and the same in words."""

    id: str
    errors: int
    told: str


class Faithfulness(NamedTuple):
    """Slot errors of all outputs, and the outputs that have some, worst first."""

    summary: SlotSummary
    lexicon: str
    faults: Sequence[Faults]


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Everything a report shows; what a run does not have is empty."""

    title: str
    about: JSON
    settings: Mapping[str, JSON]
    train: Sequence[Point]
    validation: Sequence[Point]
    outputs: Path | None
    outputs_hash: str
    habits: Habits | None
    scores: Sequence[Score]
    faithfulness: Faithfulness | None


def read_run(path: Path) -> RunFacts:
    """Reads a run's folder, or a file of generations with the run whose folder it is in."""
    if not path.exists():
        raise InputError(
            "there is no such run or file.",
            where=str(path),
            remedy="Give a run's folder, or a file that `textsplice generate` wrote.",
        )
    folder = path if path.is_dir() else path.parent
    outputs = outputs_in(path) if path.is_dir() else path
    run = Run.open(folder) if Run.is_run(folder) else None
    if outputs is None and run is None:
        raise InputError(
            "this folder is not a run and has no generations.",
            where=str(path),
            remedy="Give a run's folder, or a file that `textsplice generate` wrote.",
        )
    train, validation = _losses(run)
    settings = cast("Mapping[str, JSON]", run.config.to_dict()) if run and run.is_complete() else {}
    return RunFacts(
        title=folder.resolve().name if path.is_dir() else path.name,
        about=run.about if run else {},
        settings=settings,
        train=train,
        validation=validation,
        outputs=outputs,
        outputs_hash=file_hash(outputs) if outputs else "",
        habits=_habits(outputs) if outputs else None,
        scores=_scores(folder / SCORES, outputs),
        faithfulness=_faithfulness(outputs, settings) if outputs else None,
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


def _losses(run: Run | None) -> tuple[list[Point], list[Point]]:
    """The losses of training and of validation."""
    points: dict[object, list[Point]] = {"train": [], "validation": []}
    for row in read_journal(run.journal) if run and run.journal.is_file() else ():
        if row.get("kind") in points and isinstance(row.get("loss"), (int, float)):
            points[row["kind"]].append(Point(int(row["step"]), float(row["loss"])))
    return points["train"], points["validation"]


def _habits(path: Path) -> Habits:
    outputs = abstained = splices = neighbors = tokens = copied = 0
    for row in read_rows(path):
        outputs += 1
        sources = cast("Mapping[str, Sequence[object]]", row.get("sources", {}))
        numbering = Numbering(len(sources.get("neighbors", ())))
        if row.get("status") == "abstained":
            abstained += 1
            continue
        laid = cast("Sequence[Sequence[int]]", row.get("splices", ()))
        places = cast("Sequence[Mapping[str, int]]", row.get("provenance", ()))
        read = sources_read([Splice(*splice) for splice in laid], [place["source"] for place in places])
        splices += len(read)
        neighbors += len({source for source in read if numbering.is_neighbor(source)})
        tokens += len(places)
        copied += sum(not numbering.is_word(place["source"]) for place in places)
    told = max(outputs - abstained, 1)
    return Habits(outputs, abstained, splices / told, neighbors / told, copied / max(tokens, 1))


def _scores(of_run: Path, outputs: Path | None) -> list[Score]:
    """What `evaluate --json` printed into `OUTPUTS.scores.json`, or into the run's own file of scores."""
    candidates = [of_run]
    if outputs:
        candidates.insert(0, outputs.with_name(f"{outputs.stem}.{of_run.name}"))
    path = next((path for path in candidates if path.is_file()), None)
    if path is None:
        return []
    try:
        systems = cast("list[JSON]", _json(path)["systems"])
        rows = cast("list[JSON]", systems[0]["scores"])
        return [_score(row, str(path)) for row in rows]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise InputError(
            "these are not scores as `textsplice evaluate --json` prints them.", where=str(path)
        ) from error


def _score(row: JSON, where: str) -> Score:
    parts = {field.name: str(row[field.name]) for field in fields(Signature) if field.name != "metric"}
    signature = Signature(metric=metric_named(str(row["metric"]), where).name, **parts)
    return Score(float(cast(float, row["value"])), signature)


def _faithfulness(outputs: Path, settings: Mapping[str, JSON]) -> Faithfulness:
    """Checks every text against its table with the corpus's lexicon, or with the values as written."""
    texts = [
        (str(row["id"]), str(row["text"]), Table.from_record(cast("Mapping[str, str]", row["table"])))
        for row in read_rows(outputs)
        if row.get("status") != "abstained"
    ]
    name = str(settings.get("corpus", {}).get("source", "")).split(":")[0]
    known = name in BUNDLED
    lexicon = Lexicon.load(name) if known else Lexicon.of_tables(table for _, _, table in texts)
    reports = [check_slots(text, table, lexicon) for _, text, table in texts]
    faults = [
        Faults(text[0], len(report.errors), str(report))
        for text, report in zip(texts, reports, strict=True)
        if report.errors
    ]
    return Faithfulness(
        summarize_slots(reports),
        f"lexicon {name}" if known else "values as written",
        sorted(faults, key=lambda fault: (-fault.errors, fault.id)),
    )


def _json(path: Path) -> JSON:
    if not path.is_file():
        return {}
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"is not JSON: {error}.", where=str(path)) from error
    return cast("JSON", value) if isinstance(value, dict) else {}
