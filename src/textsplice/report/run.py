"""What a report shows of a run: settings, journal, generations, scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NamedTuple, cast

from textsplice.errors import InputError
from textsplice.evaluate.evaluation import NO_LEXICON, SCORES, default_lexicon, scores_path, unsaid_kinds
from textsplice.evaluate.experiments.derivations import sources_read
from textsplice.evaluate.metrics.metric import metric_named
from textsplice.evaluate.outputs import generation_outputs
from textsplice.evaluate.score import Score, Signature
from textsplice.evaluate.tables import wording
from textsplice.files import file_hash
from textsplice.oracle.numbering import Numbering
from textsplice.parsing import read_object, unreadable
from textsplice.report.curve import Point
from textsplice.runs.journal import read_journal
from textsplice.runs.run import Run
from textsplice.search.generation import FORMATS as GENERATION_FORMATS
from textsplice.search.generation import Generation
from textsplice.search.rows import read_generations
from textsplice.slots.check import Slot, SlotReport, SlotSummary, check_slots, summarize_slots
from textsplice.slots.lexicon import VALUES, Lexicon

JSON = Mapping[str, object]


MOST_STEPS, HIGHEST_LOSS = 10**12, 1e9  # of a learning curve
FIRST_BYTES = 4096  # of a line, in which it says its format


class Habits(NamedTuple):
    """The paper's three measures of interpretability, over all outputs of a file."""

    outputs: int
    abstained: int
    splices: float
    neighbors: float
    copied: float
    traced: int = 0  # texts of somebody else's
    gaps: int = 0
    proved: int = 0
    seams: int = 0
    unattested: int = 0
    doubtful: int = 0


class Faults(NamedTuple):
    """The slot errors of one output, or the doubts about it, and the same in words."""

    id: str
    errors: int
    told: str


class Faithfulness(NamedTuple):
    """Slot errors of all outputs, and the outputs that have some, worst first."""

    summary: SlotSummary
    lexicon: str
    faults: Sequence[Faults]
    slots: Mapping[str, tuple[Slot, ...]]  # what was found in each output, by its id


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
    doubtful: Sequence[Faults]  # those with most doubts first
    scores: Sequence[Score]
    faithfulness: Faithfulness | None


def read_run(path: Path, *, lexicon: str | None = None) -> RunFacts:
    """Reads a run's folder, or a file of generations with the run whose folder it is in.

    Slots are checked with the `lexicon` of that name or file; by default with that of the corpus, or with the
    values as written.
    """
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
        doubtful=_doubtful(outputs) if outputs else (),
        scores=_scores(folder / SCORES, outputs),
        faithfulness=_faithfulness(outputs, run, settings, lexicon) if outputs else None,
    )


def outputs_in(folder: Path) -> Path | None:
    """The first file of generations in a folder, by name."""
    return next((p for p in sorted(folder.glob("*.jsonl")) if _is_generations(p)), None)


def _is_generations(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            first = file.readline(FIRST_BYTES)
    except OSError as error:
        raise unreadable(error, path, InputError) from error
    return any(name.encode() in first for name in GENERATION_FORMATS)


def _losses(run: Run | None) -> tuple[list[Point], list[Point]]:
    """The losses of training and of validation."""
    points: dict[object, list[Point]] = {"train": [], "validation": []}
    for row in read_journal(run.journal) if run and run.journal.is_file() else ():
        kind, step, loss = row.get("kind"), row.get("step"), row.get("loss")
        drawable = _is_number(step, MOST_STEPS) and _is_number(loss, HIGHEST_LOSS)
        if isinstance(kind, str) and kind in points and drawable:
            points[kind].append(Point(int(cast(float, step)), float(cast(float, loss))))
    return points["train"], points["validation"]


def _is_number(value: object, largest: float) -> bool:
    """Whether a value can be drawn; a training that diverged has losses that can't."""
    return isinstance(value, (int, float)) and abs(value) <= largest


def _habits(path: Path) -> Habits:
    outputs = abstained = splices = neighbors = tokens = copied = traced = gaps = proved = 0
    seams = unattested = doubtful = 0
    for _, row in read_generations(path):
        outputs += 1
        traced += row.traced is not None
        gaps += len(row.gaps)
        proved += row.certificate is not None and row.certificate.proved
        if row.seams is not None:
            seams += row.seams.count
            unattested += len(row.seams.unattested)
        doubtful += row.status == "doubtful"
        if row.status == "abstained":
            abstained += 1
            continue
        numbering = Numbering(len(row.sources.neighbors))
        read = sources_read(row.splices, [place.source for place in row.provenance])
        splices += len(read)
        neighbors += len({source for source in read if numbering.is_neighbor(source)})
        tokens += len(row.provenance)
        copied += sum(not numbering.is_word(place.source) for place in row.provenance)
    told = max(outputs - abstained, 1)
    return Habits(
        *(outputs, abstained, splices / told, neighbors / told, copied / max(tokens, 1)),
        *(traced, gaps, proved, seams, unattested, doubtful),
    )


def _doubtful(path: Path) -> list[Faults]:
    """The doubtful outputs, those with most doubts first; each text once."""
    found: dict[str, Faults] = {}
    for _, row in read_generations(path):
        if row.doubts:
            found.setdefault(row.text, Faults(row.id, len(row.doubts), row.reason or ""))
    return sorted(found.values(), key=lambda fault: -fault.errors)


def _scores(of_run: Path, outputs: Path | None) -> list[Score]:
    """What `evaluate` wrote beside the outputs, or what it printed into the run's own file of scores."""
    candidates = [of_run]
    if outputs:
        candidates.insert(0, scores_path(outputs))
    path = next((path for path in candidates if path.is_file()), None)
    if path is None:
        return []
    try:
        systems = cast("list[JSON]", read_object(path, InputError)["systems"])
        rows = cast("list[JSON]", systems[0]["scores"])
        return [_score(row, str(path)) for row in rows]
    except (KeyError, IndexError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InputError(
            "these are not scores as `textsplice evaluate --json` prints them.", where=str(path)
        ) from error


def _score(row: JSON, where: str) -> Score:
    parts = {field.name: str(row[field.name]) for field in fields(Signature) if field.name != "metric"}
    signature = Signature(metric=metric_named(str(row["metric"]), where).name, **parts)
    value = float(cast(float, row["value"]))
    if not math.isfinite(value):
        raise ValueError(value)
    return Score(value, signature)


def _as_told(report: SlotReport, row: Generation, lexicon: str) -> SlotReport:
    """The report in which what the run could not check is not called missing for want of a lexicon."""
    unchecked = set(row.unchecked) if lexicon == VALUES else set()
    if not unchecked:
        return report
    return SlotReport(
        tuple(
            slot._replace(status="unchecked")
            if slot.status == "missing" and (slot.field, slot.value) in unchecked
            else slot
            for slot in report.slots
        )
    )


def _faithfulness(
    outputs: Path, run: Run | None, settings: Mapping[str, JSON], asked: str | None
) -> Faithfulness | None:
    """Checks every text against its table, with the values as written if there is no lexicon."""
    rows = [row for _, row in read_generations(outputs) if row.status != "abstained" and tuple(row.table)]
    if not rows or asked == NO_LEXICON:  # traces without records
        return None
    kinds = unsaid_kinds(generation_outputs(rows)) | (run.kinds if run and settings else {})
    source = str(settings.get("corpus", {}).get("source", ""))
    name = asked or default_lexicon(source)
    lexicon = Lexicon.named(name, (row.table for row in rows), kinds)
    reports = [_as_told(check_slots(row.text, row.table, lexicon), row, name) for row in rows]
    faults = [
        Faults(row.id, len(report.errors), str(report))
        for row, report in zip(rows, reports, strict=True)
        if report.errors
    ]
    return Faithfulness(
        summarize_slots(reports),
        wording(name),
        sorted(faults, key=lambda fault: (-fault.errors, fault.id)),
        {row.id: report.slots for row, report in zip(rows, reports, strict=True)},
    )
