"""Tables for terminals, for Markdown and for spreadsheets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from textsplice.search.spreadsheet import row_of_cells
from textsplice.slots.check import ERRORS, SlotSummary
from textsplice.slots.evidence import Measured
from textsplice.slots.lexicon import VALUES
from textsplice.visible import visible

if TYPE_CHECKING:
    from rich.table import Table as Grid

    from textsplice.evaluate.evaluation import Evaluation
    from textsplice.evaluate.significance import Comparison


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]], *, texts: Sequence[str] = ()) -> str:
    """A Markdown table; numbers are aligned right, the first column and those named in `texts` left."""
    rules = ["---" if n == 0 or name in texts else "---:" for n, name in enumerate(header)]
    cells = [[_cell(cell) for cell in row] for row in (header, *rows)]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    lines.insert(1, f"|{'|'.join(rules)}|")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "&#124;").replace("\n", "<br>")


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    """Rows as CSV. A cell that a spreadsheet would take for a formula gets a `'` before it."""
    return "".join(map(row_of_cells, rows))


def evaluation_grid(evaluations: Sequence[Evaluation]) -> Grid:
    """Systems as rows, metrics as columns."""
    from rich.table import Table as Grid

    grid = Grid(title=f"{evaluations[0].items:,} items")
    grid.add_column("")
    for measurement in evaluations[0].measurements:
        grid.add_column(measurement.score.metric, justify="right")
    for each in evaluations:
        grid.add_row(each.name, *(f"{m.score.value:.4f}" for m in each.measurements))
    return grid


def wording(lexicon: str) -> str:
    """What slots were checked with, in words."""
    return "values as written" if lexicon == VALUES else f"lexicon {lexicon}"


def slot_grid(name: str, slots: SlotSummary, lexicon: str) -> Grid:
    """Fields as rows, statuses of their values as columns."""
    from rich.table import Table as Grid

    grid = Grid(
        title=f"Slots of {name}, {wording(lexicon)}",
        caption=f"{slots.rate()} of {slots.slots:,} slots have an error"
        f" ({slots.missing_or_wrong_rate:.2%} missing or wrong);"
        f" {slots.texts_with_errors:,} of {slots.texts:,} texts"
        + (f"; {slots.told_unchecked()}" if slots.unchecked else ""),
    )
    grid.add_column("field")
    statuses = ("ok", *ERRORS, *(("unchecked",) if slots.unchecked else ()))
    for status in statuses:
        grid.add_column(status, justify="right")
    for field, counts in slots.by_field.items():
        grid.add_row(field, *(_count(counts, status) for status in statuses))
    grid.add_section()
    grid.add_row("all", *(_count(slots.by_status, status) for status in statuses))
    return grid


def _count(counts: Mapping[str, int], status: str) -> str:
    """How often a status was found; where nothing was checked, there are not 0 errors, but none known."""
    looked = any(count for name, count in counts.items() if name != "unchecked")
    return f"{counts.get(status, 0):,}" if looked or status == "unchecked" else "–"


def wordings_grid(name: str, measured: Measured) -> Grid:
    """The wordings of a lexicon as rows: how often each stands in a text, and is right."""
    from rich.markup import escape
    from rich.table import Table as Grid

    grid = Grid(
        title=f"Wordings in {name}",
        caption="texts: of tables that have the field; right: those that have the value; at least: the share "
        "of right ones, with 95 % confidence",
    )
    for column in ("field", "value", "wording", "texts", "right", "share", "at least"):
        grid.add_column(
            column, justify="right" if column in ("texts", "right", "share", "at least") else "left"
        )
    for (field, value, wording), each in measured.wordings.items():
        share = (f"{each.precision:.0%}", f"{each.least:.0%}") if each.texts else ("–", "–")
        row = (field, value, _short(wording), f"{each.texts:,}", f"{each.right:,}", *share)
        grid.add_row(*map(escape, row))
    return grid


def _short(wording: str) -> str:
    """A wording without most of its alternatives: `not|… friendly`."""
    return " ".join(
        f"{part.split('|')[0]}|…" if part.count("|") > 2 else part for part in map(visible, wording.split())
    )


def comparison_grid(first: str, second: str, comparisons: Sequence[Comparison]) -> Grid:
    """Is the second system better than the first?"""
    from rich.table import Table as Grid

    how = comparisons[0]
    grid = Grid(
        title=f"{second} compared with {first}",
        caption=f"paired bootstrap, {how.samples:,} samples, seed {how.seed}"
        + ("; METEOR: means of items" if any(each.metric == "METEOR" for each in comparisons) else ""),
    )
    for column in ("", first, second, "difference", "95 %", "p"):
        grid.add_column(column, justify="right" if column else "left")
    for each in comparisons:
        grid.add_row(
            each.metric,
            f"{each.first:.4f}",
            f"{each.second:.4f}",
            f"{each.difference:+.4f}",
            f"{each.low:+.4f} … {each.high:+.4f}",
            f"{each.p:.4f}",
        )
    return grid
