"""The report of a run: settings, data, learning curve, scores, and derivations to look at."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from textsplice import __version__
from textsplice.files import sealed, write_new
from textsplice.report.curve import learning_curve
from textsplice.report.document import Document, document
from textsplice.report.escape import markup
from textsplice.report.joins import SEAM_SIGN, UNATTESTED, parts
from textsplice.report.page import page, template
from textsplice.report.run import Faults, Habits, RunFacts, read_run
from textsplice.search.rows import read_generations

DERIVATIONS = 20
WORST = 10
DOUBTFUL = 20
NO_SCORES = "<p>No scores yet: <code>textsplice evaluate</code> keeps them beside the texts.</p>"
DEEPEST = 10  # level of a setting that is shown


def write_report(
    run_or_file: Path,
    out: Path | None = None,
    *,
    derivations: int = DERIVATIONS,
    lexicon: str | None = None,
    force: bool = False,
) -> Path:
    """Writes the report to `out`, by default `report.html` in the run or next to the file; returns its path.

    An earlier report that nobody changed is replaced; any other file only with `force`.
    """
    if out is None:
        folder = run_or_file if run_or_file.is_dir() else run_or_file.parent
        out = folder / "report.html"
    content = sealed(report_html(run_or_file, derivations=derivations, lexicon=lexicon))
    write_new(out, content, force=force, replace_sealed=True)
    return out


def report_html(run_or_file: Path, *, derivations: int = DERIVATIONS, lexicon: str | None = None) -> str:
    """The report as one self-contained page; `lexicon` as for `read_run`."""
    run = read_run(run_or_file, lexicon=lexicon)
    worst = run.faithfulness.faults[:WORST] if run.faithfulness else []
    doubtful = run.doubtful[:DOUBTFUL]
    found = _documents(run, derivations, [fault.id for fault in doubtful], [fault.id for fault in worst])
    checked = run.faithfulness.slots if run.faithfulness else {}
    documents = [replace(each, slots=checked.get(each.generation.id)) for each in found]
    shown = {document.generation.id: document for document in documents}
    return page(
        documents,
        title=f"{run.title} · textsplice",
        notes={fault.id: fault.told for fault in worst},
        before=_summary(run)
        + _contents(run, documents)
        + _doubtful(run, doubtful, shown)
        + _derivations_heading(run, len(documents), bool(doubtful), bool(worst)),
        after="".join(
            [
                _curve(run),
                _scores(run),
                _worst(worst, shown, {fault.id for fault in doubtful}),
                _seams(documents),
                _data(run),
                _settings(run),
                _foot(),
            ]
        ),
        style=template("report.css"),
    )


def _documents(run: RunFacts, count: int, doubtful: Sequence[str], worst: Sequence[str]) -> list[Document]:
    """The doubtful ones, evenly spaced examples, which nobody picked, and the worst ones; each text once."""
    if run.outputs is None or run.habits is None or not run.habits.outputs:
        return []
    spaced = {n * run.habits.outputs // count for n in range(count)} if count else set[int]()
    wanted = {*doubtful, *worst}
    found: dict[str, Document] = {}
    unpicked: list[str] = []
    for number, (where, row) in enumerate(read_generations(run.outputs)):
        if number in spaced or row.id in wanted:
            found.setdefault(row.id, document(row, where))
            unpicked += [row.id] if number in spaced else []
    texts: dict[str, Document] = {}
    for name in (*doubtful, *unpicked, *worst):
        texts.setdefault(found[name].generation.text or name, found[name])
    return list(texts.values())


def _summary(run: RunFacts) -> str:
    numbers = [(f"{score.points:.2f}", score.metric) for score in islice(run.scores, 2)]
    if run.faithfulness:
        numbers.append((run.faithfulness.summary.rate(1), "slot errors"))
    if habits := run.habits:
        numbers += [
            (f"{habits.outputs:,}", "texts"),
            (f"{habits.splices:.1f}", "splices per text"),
            (f"{habits.neighbors:.1f}", "neighbors per text"),
            (f"{habits.copied:.1%}", _copied(habits)),
        ]
        if habits.traced:
            numbers += [(f"{habits.gaps:,}", "gaps: in no source"), (f"{habits.proved:,}", "proved least")]
        if habits.seams:
            numbers.append((f"{1 - habits.unattested / habits.seams:.1%}", "of seams attested"))
        if habits.doubtful:
            numbers.append((f"{habits.doubtful:,}", "doubtful"))
        if habits.abstained:
            numbers.append((f"{habits.abstained:,}", "abstained"))
    items = "".join(f"<li><b>{markup(n)}</b><span>{markup(what)}</span></li>" for n, what in numbers)
    return f'<ul class="summary" aria-label="In short">{items}</ul>\n' if items else ""


def _copied(habits: Habits) -> str:
    return "of words have a source" if habits.traced == habits.outputs else "of words copied, not generated"


def _contents(run: RunFacts, documents: Sequence[Document]) -> str:
    sections = [("doubtful", "Doubtful")] if run.doubtful else []
    sections += [("derivations", "Derivations")]
    sections += [("learning", "Learning curve")] if run.train or run.validation else []
    sections += [("scores", "Scores")] if run.scores or run.habits else []
    sections += [("worst", "Worst by slot errors")] if run.faithfulness and run.faithfulness.faults else []
    sections += [("seams", "Seams")] if any(document.generation.seams for document in documents) else []
    sections += [("data", "Data")]
    sections += [("settings", "Settings")] if run.settings else []
    links = "".join(f'<a href="#{name}">{markup(title)}</a>' for name, title in sections)
    return f'<nav class="sections" aria-label="Sections">{links}</nav>\n'


def _doubtful(run: RunFacts, listed: Sequence[Faults], shown: Mapping[str, Document]) -> str:
    """What to look at first."""
    if not listed:
        return ""
    more = len(run.doubtful) - len(listed)
    told = "Look at these before you publish: nothing forbids them, but something speaks against each."
    told += f" {len(listed)} are shown, {more:,} more are in the file." if more else ""
    return _part("doubtful", "Doubtful", f"<p>{markup(told)}</p>{_listed(listed, shown)}")


def _derivations_heading(run: RunFacts, count: int, doubtful: bool, worst: bool) -> str:
    outputs = run.habits.outputs if run.habits else 0
    if not count:
        told = "None yet: make some with `textsplice generate`, then write the report again."
    elif count < outputs:
        told = f"{count} of {outputs:,}, each text once: "
        told += "the doubtful ones, then others, " if doubtful else ""
        told += "evenly spaced through the file, so nobody picked them"
        told += ", and last those with the most slot errors." if worst else "."
    else:
        told = f"All {count}."
    return _part("derivations", "Derivations", f"<p>{markup(told)}</p>")


def _curve(run: RunFacts) -> str:
    figure = learning_curve(run.train, run.validation)
    if not figure:
        return ""
    key = (
        '<p class="key">Loss per text: <span class="train">training</span>, '
        '<span class="validation">validation</span>'
    )
    if run.validation:
        best = min(run.validation, key=lambda point: point.loss)
        key += f"; least validation loss {best.loss:.3f} at step {best.step:,}"
    return _part("learning", "Learning curve", f'<div class="card">{figure}{key}.</p></div>')


def _scores(run: RunFacts) -> str:
    rows = [_score_row(score.metric, f"{score.points:.2f}", str(score.signature)) for score in run.scores]
    if run.faithfulness:
        summary = run.faithfulness.summary
        made = f"missing, wrong, repeated or added, of {summary.slots:,} slots; {run.faithfulness.lexicon}"
        made += f"; {summary.told_unchecked()}" if summary.unchecked else ""
        rows.append(_score_row("slot errors", summary.rate(), made))
    if habits := run.habits:
        made = f"over {habits.outputs - habits.abstained} texts of {run.outputs and run.outputs.name}"
        rows += [
            _score_row("splices per text", f"{habits.splices:.2f}", made),
            _score_row("neighbors per text", f"{habits.neighbors:.2f}", made),
            _score_row("words copied", f"{habits.copied:.1%}", made),
        ]
        if habits.traced:
            rows.append(_score_row("gaps", f"{habits.gaps:,}", f"in {habits.traced:,} traced texts"))
        if habits.seams:
            told = f"{habits.unattested:,} of {habits.seams:,} are not"
            rows.append(_score_row("seams attested", f"{1 - habits.unattested / habits.seams:.1%}", told))
    if not rows:
        return ""
    table = f'<table class="rows"><tbody>{"".join(rows)}</tbody></table>'
    note = "" if run.scores else NO_SCORES
    return _part("scores", "Scores", f'{note}<div class="card scores">{table}</div>')


def _score_row(metric: str, value: str, signature: str) -> str:
    return (
        f'<tr><th scope="row">{markup(metric)}</th><td class="number">{markup(value)}</td>'
        f'<td class="signature">{markup(signature)}</td></tr>'
    )


def _worst(worst: Sequence[Faults], shown: Mapping[str, Document], listed: Collection[str]) -> str:
    if not worst:
        return ""
    return _part("worst", "Worst by slot errors", _listed(worst, shown, listed))


def _listed(faults: Sequence[Faults], shown: Mapping[str, Document], listed: Collection[str] = ()) -> str:
    """Texts with what is wrong with them; what the player shows under another id is not listed again.

    The text itself is left out where it is `listed` further up.
    """
    items = "".join(
        f'<li><a href="#player" data-open="{markup(fault.id)}">{markup(fault.id)}</a> '
        f'<span class="errors">{markup(fault.told)}</span>'
        f"{'' if fault.id in listed else f'<br>{markup(shown[fault.id].generation.text)}'}</li>"
        for fault in faults
        if fault.id in shown
    )
    return f'<div class="card"><ol class="worst">{items}</ol></div>'


def _seams(documents: Sequence[Document]) -> str:
    """How many seams each of the texts has; those that are not attested are marked in it."""
    mark = f'<b class="seam" role="img" aria-label="unattested seam">{SEAM_SIGN}</b>'
    items = [
        f'<li><a href="#player" data-open="{markup(row.id)}">{markup(row.id)}</a> '
        f'<span class="{"errors" if row.seams.unattested else "seams"}">{markup(str(row.seams))}</span><br>'
        f"{f' {mark} '.join(map(markup, parts(row)))}</li>"
        for row in (document.generation for document in documents)
        if row.seams is not None
    ]
    if not items:
        return ""
    told = f"A seam is where two spans meet. {SEAM_SIGN} marks one that is not attested: {UNATTESTED}."
    card = f'<div class="card"><ol class="worst">{"".join(items)}</ol></div>'
    return _part("seams", "Seams", f"<p>{markup(told)}</p>{card}")


def _data(run: RunFacts) -> str:
    corpus, neighbors = run.settings.get("corpus", {}), run.settings.get("neighbors", {})
    rows = {
        "corpus": corpus.get("source"),
        "decontaminated against": corpus.get("decontaminate") or None,
        "neighbors offered": neighbors.get("k"),
        "neighbors exclude": neighbors.get("exclude"),
        "prepared data": run.about.get("prepared"),
        "run": run.about.get("id"),
        "version": run.about.get("version"),
        "command": run.about.get("command"),
        "hardware": run.about.get("hardware"),
        "texts": run.outputs.name if run.outputs else None,
        "SHA-256 of the texts": run.outputs_hash or None,
    }
    return _part("data", "Data", f'<div class="card">{_rows(rows)}</div>')


def _settings(run: RunFacts) -> str:
    if not run.settings:
        return ""
    tables = "".join(_rows(values, name) for name, values in run.settings.items())
    return _part("settings", "Settings", f'<div class="card settings">{tables}</div>')


def _rows(values: Mapping[str, object], caption: str = "") -> str:
    body = "".join(
        f'<tr><th scope="row">{markup(name)}</th><td>{markup(_value(value))}</td></tr>'
        for name, value in values.items()
        if value is not None
    )
    head = f"<caption>{markup(caption)}</caption>" if caption else ""
    return f'<table class="rows">{head}<tbody>{body}</tbody></table>'


def _value(value: object, depth: int = 0) -> str:
    if depth > DEEPEST:
        return "…"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_value(item, depth + 1)}" for name, item in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(_value(item, depth + 1) for item in value) or "–"
    return str(value) if value != "" else "–"


def _part(name: str, title: str, content: str) -> str:
    return f'<section class="part" id="{name}"><h2>{markup(title)}</h2>{content}</section>\n'


def _foot() -> str:
    return f'<footer class="foot">textsplice {markup(__version__)}</footer>'
