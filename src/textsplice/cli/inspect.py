"""`textsplice inspect PREPARED`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table as Grid

    from textsplice.prepare.summary import SplitSummary
    from textsplice.runs import Prepared
    from textsplice.slots.kinds import Finding

EXAMPLES = """
Show a prepared folder in numbers: lengths, costs, sources of splices, leaks between splits.

With --kinds, show what kind of field each field is, and why: said word for word, a list, a number, yes/no,
worded otherwise, or unsaid (docs/kinds.md).

Examples:

    textsplice inspect prepared/bundled

    textsplice inspect prepared/e2e --split dev --example 12

    textsplice inspect prepared/e2e --json

    textsplice inspect prepared/e2e --kinds

    textsplice inspect runs/e2e --check
"""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("inspect", help=EXAMPLES)(run)


def run(
    prepared: Annotated[
        Path, typer.Argument(help="The folder that `prepare` made; with --check, also a run.")
    ],
    split: Annotated[
        str | None, typer.Option(help="Only this split; with --example, the default is train.")
    ] = None,
    example: Annotated[
        str | None,
        typer.Option(
            metavar="ROW|ID", help="Show the derivation of this row (the first is 1), canvas by canvas."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="The numbers as JSON.")] = False,
    kinds: Annotated[
        bool,
        typer.Option(
            "--kinds", help="The kinds of fields; those that corpus.kinds would find, if it is not set."
        ),
    ] = False,
    check: Annotated[
        bool,
        typer.Option("--check", help="Only read every listed file: are all as they were written?"),
    ] = False,
) -> None:
    """Shows the numbers of a prepared folder, or one example."""
    from textsplice.cli.output import console as new_console
    from textsplice.cli.output import say, say_json
    from textsplice.cli.systems import check_folder
    from textsplice.runs import Prepared

    if check:
        say(f"{prepared}: {check_folder(prepared)} listed files are what textsplice wrote.")
        return
    opened = Prepared.open(prepared)
    console = new_console()
    if kinds:
        show_kinds(console, opened, json=json)
    elif example is not None:
        show_example(console, opened, split or "train", example)
    elif json:
        say_json(_as_json(opened, split))
    else:
        show_numbers(console, opened, split)


def show_kinds(console: Console, prepared: Prepared, *, json: bool) -> None:
    """Shows the kinds of fields that the folder was prepared with, or those that would be found."""
    from json import dumps

    from textsplice.cli.output import say_json
    from textsplice.prepare.summary import would_find

    found = prepared.findings or would_find(prepared)
    if json:
        told = {"used": bool(prepared.findings), "fields": [each.to_dict() for each in found]}
        say_json(dumps(told, indent=2, ensure_ascii=False))
        return
    console.print(_kinds(prepared, found))
    if not prepared.findings:
        console.print('Not in use: prepare with corpus.kinds = ["auto"], or name some: ["id=unsaid"].')


def _kinds(prepared: Prepared, found: list[Finding]) -> Grid:
    from rich.table import Table as Grid

    from textsplice.prepare.summary import how_checked
    from textsplice.visible import visible

    grid = Grid(title=f"{prepared.folder}: kinds of fields")
    for column in ("field", "kind", "texts", "values", "said", "checked", "why"):
        grid.add_column(column, justify="right" if column in ("texts", "values", "said") else "left")
    for each in found:
        said = "–" if each.kind == "yes/no" else f"{each.said:.0%}"  # "no" is said for many reasons
        row = (f"{each.texts:,}", f"{each.values:,}", said, how_checked(each, prepared.lexicon))
        grid.add_row(visible(each.field), each.kind, *row, visible(each.reason))
    return grid


def _as_json(prepared: Prepared, split: str | None) -> str:
    import json
    from dataclasses import asdict

    from textsplice.prepare.summary import summarize

    names = [split] if split else list(prepared.splits)
    return json.dumps({name: asdict(summarize(prepared, name)) for name in names}, indent=2)


def show_numbers(console: Console, prepared: Prepared, split: str | None) -> None:
    """Shows a table of numbers, what they mean, and a histogram of costs."""
    from textsplice.prepare.summary import comments, summarize

    names = [split] if split else list(prepared.splits)
    summaries = [summarize(prepared, name) for name in names]
    console.print(_numbers(prepared, summaries))
    for line in comments(summaries, prepared.vocabulary):
        console.print(f"· {line}", highlight=False, markup=False)
    for summary in summaries:
        console.print(f"\nSplices per derivation, {summary.name}:")
        for line in _histogram(summary.costs):
            console.print(line, highlight=False)


def _numbers(prepared: Prepared, summaries: list[SplitSummary]) -> Grid:
    from rich.table import Table as Grid

    words = prepared.vocabulary
    grid = Grid(
        title=f"{prepared.folder}: {prepared.config.corpus.source}",
        caption=f"{len(words):,} words, {words.embedded:,} embedded, {len(words.generate):,} can be "
        f"generated; neighbors exclude {prepared.config.neighbors.exclude}; key {prepared.key}",
    )
    grid.add_column("")
    for summary in summaries:
        grid.add_column(summary.name, justify="right")

    def row(label: str, *cells: str) -> None:
        grid.add_row(label, *cells)

    row("examples", *(f"{s.examples:,}" for s in summaries))
    row("distinct tables", *(f"{s.tables:,}" for s in summaries))
    row("tokens per text (longest)", *(f"{s.text_tokens:.1f} ({s.longest_text})" for s in summaries))
    row("tokens per table", *(f"{s.table_tokens:.1f}" for s in summaries))
    row("neighbors", *(f"{s.neighbors:.1f}" for s in summaries))
    row("… of the same table", *(f"{s.same_table:.1%}" for s in summaries))
    row("splices (longest)", *(f"{s.mean_cost:.2f} ({s.longest_derivation})" for s in summaries))
    row("… from the table", *(f"{s.shares.table:.1%}" for s in summaries))
    row("… from neighbors", *(f"{s.shares.neighbors:.1%}" for s in summaries))
    row("… from the vocabulary", *(f"{s.shares.vocabulary:.1%}" for s in summaries))
    row("… of these, can be generated", *(f"{s.generable:.1%}" for s in summaries))
    row("replacements", *(f"{s.shares.replacements:.1%}" for s in summaries))
    row("neighbors used", *(f"{s.neighbors_used:.2f}" for s in summaries))
    row("first splice is a whole neighbor", *(f"{s.whole_neighbor_first:.1%}" for s in summaries))
    row(
        "delexicalized text appears in train",
        *("–" if s.leaked is None else f"{s.leaked:.1%}" for s in summaries),
    )
    return grid


def _histogram(costs: dict[int, int], width: int = 50, longest: int = 24) -> list[str]:
    """One line per cost; costs of `longest` or more share the last line."""
    grouped: dict[int, int] = {}
    for cost, count in costs.items():
        grouped[min(cost, longest)] = grouped.get(min(cost, longest), 0) + count
    most = max(grouped.values())
    return [
        f"{cost:>4}{'+' if cost == longest else ' '} {'█' * round(width * count / most)} {count:,}"
        for cost, count in sorted(grouped.items())
    ]


def _row_of(ids: Sequence[str], wanted: str, where: str) -> int:
    """The place of a row by its id, or by its number, which most ids end with."""
    from textsplice.errors import InputError

    if wanted in ids:
        return ids.index(wanted)
    numbers = [int(found[0]) if (found := re.search(r"\d+$", name)) else 0 for name in ids]
    if wanted.isdecimal() and int(wanted) in numbers:
        return numbers.index(int(wanted))
    if wanted.isdecimal() and not any(numbers) and 0 < int(wanted) <= len(ids):
        return int(wanted) - 1
    raise InputError(
        f"there is no row {wanted!r}: this split has {len(ids):,}, from {ids[0]!r} to {ids[-1]!r}.",
        where=where,
        remedy="Name one of them, or another --split.",
    )


def show_example(console: Console, prepared: Prepared, split: str, wanted: str) -> None:
    """Shows one example with its neighbors and its derivation."""
    from textsplice.oracle.numbering import Numbering
    from textsplice.oracle.sources import OfferedNeighbor
    from textsplice.report.document import oracle_document
    from textsplice.report.terminal import terminal

    rows = prepared.split(split)
    number = _row_of(rows.ids, wanted, f"{prepared.folder}, {split}")
    store, words = prepared.store, prepared.vocabulary
    found = rows.neighbors_of(number)
    splices = rows.derivation(number)
    numbering = Numbering(len(found))
    used = [numbering.word_id(s.neighbor) for s in splices if numbering.is_word(s.neighbor)]
    document = oracle_document(
        id=rows.ids[number],
        table=rows.tables[rows.table_of[number]],
        neighbors=[
            OfferedNeighbor(store.ids[row], store.texts[row], tuple(words.decode(store.tokens[row])))
            for row in found
        ],
        splices=splices,
        words={number: words.words[number] for number in used},
        tokenizer=prepared.config.text.tokenizer,
        unsaid=store.unsaid,
    )
    console.print(terminal(document))
