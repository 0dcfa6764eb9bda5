"""Outputs and references, matched by table or id, never by position."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from textsplice.config import CorpusConfig
from textsplice.corpus import Example, Table, read_corpus
from textsplice.corpus.asked import ASKED
from textsplice.corpus.forms import is_in_form
from textsplice.corpus.jsonl import parse_line
from textsplice.corpus.lines import read_lines
from textsplice.corpus.missing import missing_file
from textsplice.corpus.record import as_text, table_of
from textsplice.corpus.splits import ALL
from textsplice.errors import ConfigError, InputError
from textsplice.parsing import read_text
from textsplice.runs.prepared import Prepared, PreparedSplit
from textsplice.search.generation import Generation
from textsplice.search.spreadsheet import DELIMITERS, is_spreadsheet, unquoted


@dataclass(frozen=True, slots=True)
class Output:
    """A text that a system wrote, for a table, an id, or both."""

    id: str | None
    table: Table | None
    text: str
    where: str
    unsaid: frozenset[str] = frozenset()  # fields whose values it was not offered, as its row says


@dataclass(frozen=True, slots=True)
class Item:
    """What is scored once: all references of one table, or of one id if there are no tables."""

    ids: tuple[str, ...]
    table: Table | None
    references: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Matched:
    """Items with one output each, in the order of the references."""

    items: list[Item]
    outputs: list[Output]

    @property
    def texts(self) -> list[str]:
        """The outputs' texts."""
        return [output.text for output in self.outputs]

    @property
    def references(self) -> list[tuple[str, ...]]:
        """The references of each item."""
        return [item.references for item in self.items]

    @property
    def empty(self) -> list[Output]:
        """Outputs without a word, which are scored as empty texts."""
        return [output for output in self.outputs if not output.text.strip()]


def read_outputs(path: Path) -> list[Output]:
    """Reads JSON lines with `text` and `table` or `id`, as `textsplice generate` writes them, or its CSV."""
    outputs: list[Output] = []
    seen: dict[str, str] = {}
    for where, record in _cells(path) if is_spreadsheet(path) else _records(path):
        text = record.get("text")
        if not isinstance(text, str):
            raise InputError("this row has no 'text'.", where=where)
        table = record.get("table")
        if table is not None and not isinstance(table, dict):
            raise InputError("'table' is not an object.", where=where)
        name = None if record.get("id") is None else as_text(record["id"], "id", where=where)
        if name is None and table is None:
            raise InputError("a row needs 'table' or 'id' to be matched with its references.", where=where)
        if name is not None and name in seen:
            raise InputError(f"the id {name!r} appears twice, first at {seen[name]}.", where=where)
        if name is not None:
            seen[name] = where
        parsed = None if table is None else table_of(cast("dict[str, object]", table), where=where)
        outputs.append(Output(name, parsed, text, where, _unsaid(record, parsed)))
    if not outputs:
        raise InputError("this file has no outputs.", where=str(path))
    return outputs


def _cells(path: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """The ids and texts of a CSV that `generate` wrote; of its other cells no table is made."""
    delimiter = DELIMITERS[path.suffix.lower()]
    rows = csv.reader(io.StringIO(read_text(path, InputError), newline=""), delimiter=delimiter)
    header = next(rows, [])
    for name in ("id", "text"):
        if name not in header:
            raise InputError(
                f"there is no column {name!r}.",
                where=str(path),
                remedy="Outputs in CSV are scored as `textsplice generate` writes them: id, text and more.",
            )
    for row in rows:
        cells = dict(zip(header, row, strict=False))
        where = f"{path}:{rows.line_num}"
        yield where, {name: unquoted(cells[name]) for name in ("id", "text") if name in cells}


def read_items(
    source: str, split: str | None, *, text_column: str | None = None, like: CorpusConfig | None = None
) -> list[Item]:
    """The references of a split of a corpus or of a prepared folder, one item per table.

    If the corpus is a single file, these are the tables that `prepare` puts into the split; `all` is every
    row. A JSONL file of `id` and `text` has no tables: its references are grouped by id. `like` as for
    `read_corpus`.
    """
    path = Path(source)
    if Prepared.is_prepared(path):
        if text_column is not None:
            raise ConfigError("a prepared folder already has its texts.", where="--text-column")
        return split_items(Prepared.open(source).split(split or ALL))
    if path.is_file() and path.suffix == ".jsonl":
        rows = list(_records(path))
        named = text_column or (like.text_column if like else "") or "text"
        if rows and not rows[0][1].keys() - {"id", named}:
            return _items_by_id(rows, named)
    corpus = read_corpus(source, split, text_column=text_column, like=like).require_texts()
    examples = list(corpus)
    if not examples:
        raise InputError(
            f"no table of this file is in the split {split!r}, to which `prepare` gives a part of them.",
            where=source,
            remedy="Score every row with --split all.",
        )
    return items_of(examples, where=source)


def items_of(examples: Iterable[Example], *, where: str = "references") -> list[Item]:
    """One item per distinct table, in the order in which tables first appear."""
    groups: dict[Table, list[Example]] = {}
    for example in examples:
        if example.text is not None:
            groups.setdefault(example.table, []).append(example)
    if not groups:
        raise InputError(
            "there is no reference text here.",
            where=where,
            remedy="Name the column of the text with --text-column, or give the prepared folder.",
        )
    return [
        Item(tuple(e.id for e in group), group[0].table, tuple(e.text or "" for e in group))
        for group in groups.values()
    ]


def match(outputs: Sequence[Output], items: Sequence[Item], *, partial: bool = False) -> Matched:
    """Finds the output of each item, by table or, if an output has none, by id.

    The same text for the same table may appear several times and counts once. With `partial`, items without
    an output are left out.
    """
    by_table = {item.table: n for n, item in enumerate(items) if item.table is not None}
    by_id = {name: n for n, item in enumerate(items) for name in item.ids}
    chosen: dict[int, Output] = {}
    for output in outputs:
        number = _number_of(output, by_table, by_id)
        before = chosen.setdefault(number, output)
        if before.text != output.text:
            raise InputError(
                f"there is another text for the same table at {before.where}.",
                where=output.where,
                remedy="Each table is scored once: keep one output.",
            )
    missing = [item for n, item in enumerate(items) if n not in chosen]
    if missing and not partial:
        raise InputError(
            f"there are outputs for {len(chosen):,} of {len(items):,} tables; the first table without one"
            f" has the id {missing[0].ids[0]!r}.",
            remedy="Score only tables with an output: --partial.",
        )
    numbers = sorted(chosen)
    return Matched([items[n] for n in numbers], [chosen[n] for n in numbers])


def generation_outputs(generations: Iterable[Generation]) -> list[Output]:
    """Generations as outputs."""
    return [
        Output(each.id, each.table, each.text, f"generation {each.id}", _not_said(each.table, said))
        for each in generations
        for said in ({segment.field for segment in each.sources.table.segments},)
    ]


def _unsaid(record: dict[str, object], table: Table | None) -> frozenset[str]:
    match record:
        case {"sources": {"table": {"segments": list(segments)}}} if table is not None:
            rows = cast("list[object]", segments)
            said = {str(cast("list[object]", row)[0]) for row in rows if isinstance(row, list) and row}
            return _not_said(table, said)
        case _:
            return frozenset()


def _not_said(table: Table, said: set[str]) -> frozenset[str]:
    """Fields of which a row offers no value; one that is only asked for may have values in other rows."""
    return frozenset(field for field, values in table if set(values) - {ASKED} and field not in said)


def split_items(split: PreparedSplit) -> list[Item]:
    """The items of a prepared split, one per table."""
    rows = zip(split.ids, split.table_of.tolist(), split.texts, strict=True)
    examples = [Example(name, split.tables[number], text or None) for name, number, text in rows]
    return items_of(examples, where=split.name)


def corpus_of(references: str) -> str:
    """The corpus that references belong to: for a prepared folder, the one it was made from."""
    if Prepared.is_prepared(references):
        return Prepared.open(references).config.corpus.source
    return references


def _number_of(output: Output, by_table: dict[Table, int], by_id: dict[str, int]) -> int:
    if output.table is not None and by_table:
        number = by_table.get(output.table)
        if number is None:
            # Several records may look alike in the form that texts have: the id tells which it is.
            named = by_id.get(output.id or "")
            near = (n for table, n in by_table.items() if n == named and is_in_form(table, output.table))
            number = next(near, None)
        if number is None:
            raise InputError(
                "no reference has the table of this output.",
                where=output.where,
                remedy="Are these the outputs of another split?",
            )
        return number
    if output.id is None:
        raise InputError("the references have no tables and this output has no id.", where=output.where)
    number = by_id.get(output.id)
    if number is None:
        raise InputError(
            f"no reference has the id {output.id!r}.",
            where=output.where,
            remedy="Are these the outputs of another split?",
        )
    return number


def _items_by_id(rows: Sequence[tuple[str, dict[str, object]]], text_column: str) -> list[Item]:
    groups: dict[str, list[str]] = {}
    for where, record in rows:
        text = record.get(text_column)
        if record.get("id") is None or not isinstance(text, str):
            raise InputError(f"a reference needs {text_column!r}, and 'table' or 'id'.", where=where)
        groups.setdefault(as_text(record["id"], "id", where=where), []).append(text)
    return [Item((name,), None, tuple(texts)) for name, texts in groups.items()]


def _records(path: Path) -> Iterable[tuple[str, dict[str, object]]]:
    if not path.is_file():
        raise missing_file(path)
    for number, line in read_lines(path):
        if line.strip():
            where = f"{path}:{number}"
            yield where, parse_line(line, where=where)
