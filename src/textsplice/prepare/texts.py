"""The first stage: read, tokenize and check examples; store each distinct table once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from textsplice.config import CorpusConfig
from textsplice.corpus import Corpus, Example, Table, read_corpus
from textsplice.corpus.asked import asked_fields
from textsplice.corpus.splits import table_digest
from textsplice.errors import CorpusError
from textsplice.files import atomic_path
from textsplice.runs.prepared_files import TARGETS
from textsplice.slots.check import check_slots
from textsplice.slots.forms import find_forms
from textsplice.slots.kinds import AUTO, asked_kinds, chosen_kinds
from textsplice.slots.lexicon import Lexicon
from textsplice.slots.placeholders import find_placeholders, folded
from textsplice.text import BEGIN, END, Linearized, Tokenizer, linearize, tokenize
from textsplice.text.linearize import NOTHING_UNSAID, Segment, Unsaid
from textsplice.text.verbatim import unsaid_values

ROWS_PER_BATCH = 10_000

TEXTS = pa.schema(
    [
        ("id", pa.large_string()),
        ("text", pa.large_string()),
        ("table", pa.int32()),
        ("tokens", pa.large_list(pa.large_string())),
        ("unsaid", pa.int32()),
    ]
)
TABLES = pa.schema(
    [
        ("record", pa.large_string()),
        ("tokens", pa.large_list(pa.large_string())),
        ("segments", pa.large_list(pa.int32())),
    ]
)


@dataclass(frozen=True, slots=True)
class Tokenized:
    """An example in tokens; the target has its begin and end tokens."""

    example: Example
    target: list[str]
    table: Linearized


def open_split(config: CorpusConfig, split: str) -> Corpus:
    """The split that a configuration means, or the targets that are learned from instead."""
    if split.startswith(TARGETS):
        return read_corpus(
            config.targets, split.removeprefix(TARGETS), alternatives=config.target_alternatives
        )
    return read_corpus(
        config.source,
        split,
        text_column=config.text_column or None,
        sentences=config.sentences,
        lists=config.list_columns,
        asked=config.asked,
        forms=config.forms,
    )


def as_read(config: CorpusConfig) -> CorpusConfig:
    """The same, with what is named or found in the training texts, which must exist."""
    corpus = read_corpus(
        config.source,
        "train",
        text_column=config.text_column or None,
        sentences=config.sentences,
        lists=config.lists,
    )
    lists = corpus.require_texts().lists
    placeholders = find_placeholders(corpus) if AUTO in config.kinds else ()
    return replace(
        config,
        list_columns=lists,
        asked=_asked(config, corpus),
        forms=find_forms(corpus) if AUTO in config.kinds else (),
        placeholders=placeholders,
    )


def _asked(config: CorpusConfig, corpus: Corpus) -> tuple[str, ...]:
    """The fields that `corpus.kinds` says are asked for and, with "auto", those that are found."""
    chosen, said = asked_kinds(config.kinds), chosen_kinds(config.kinds)
    found = asked_fields(corpus) if AUTO in config.kinds else ()
    return (*chosen, *(name for name in found if name not in said and name not in chosen))


def tokenized_examples(
    corpus: Corpus,
    split: str,
    config: CorpusConfig,
    tokenizer: Tokenizer,
    unsaid: Unsaid = NOTHING_UNSAID,
    without_text: Callable[[Example], None] | None = None,
) -> Iterator[Tokenized]:
    """The examples of a split in tokens; those that are too long are refused, cut or left out.

    So are placeholders. Training rows of one file that have no text are left out too, and `without_text` is
    told.
    """
    seen: set[bytes] = set()
    table: Table | None = None
    linearized = Linearized([], [])
    for example in corpus:
        if config.placeholders and folded(example.text or "") in config.placeholders:
            continue
        if split in ("train", f"{TARGETS}train") and not (example.text or "").strip():
            if corpus.cut_version is not None and without_text is not None:
                without_text(example)
                continue
            raise CorpusError(
                f"example {example.id!r} has no text to learn from.",
                where=config.source if split == "train" else config.targets,
                remedy="Training needs a text in every row; rows without one go into dev or test.",
            )
        if config.drop_duplicates:
            digest = table_digest(example.table) + text_digest(example.text or "")
            if digest in seen:
                continue
            seen.add(digest)
        # The references of a table are often adjacent. The order of its fields matters here.
        if table is None or example.table.fields != table.fields:
            table, linearized = example.table, linearize(example.table, tokenizer, unsaid)
        tokens = tokenize(example.text or "", tokenizer)
        if len(tokens) > config.max_tokens or len(linearized.tokens) > config.max_table_tokens:
            if config.too_long == "drop":
                continue
            if config.too_long == "error":
                raise _too_long(example, len(tokens), len(linearized.tokens), config)
        yield Tokenized(
            example,
            [BEGIN, *tokens[: config.max_tokens], END],
            _cut(linearized, config.max_table_tokens),
        )


def text_digest(text: str) -> bytes:
    """Sixteen bytes for a text: a million texts themselves would take much memory."""
    return hashlib.blake2b(text.encode("utf-8"), digest_size=16).digest()


def _cut(table: Linearized, limit: int) -> Linearized:
    if len(table.tokens) <= limit:
        return table
    segments = [s._replace(stop=min(s.stop, limit)) for s in table.segments if s.start < limit]
    return Linearized(table.tokens[:limit], segments)


def _too_long(example: Example, text: int, table: int, config: CorpusConfig) -> CorpusError:
    what, length, setting, limit = (
        ("text", text, "max_tokens", config.max_tokens)
        if text > config.max_tokens
        else ("table", table, "max_table_tokens", config.max_table_tokens)
    )
    return CorpusError(
        f"the {what} of example {example.id!r} has {length:,} tokens; corpus.{setting} allows {limit:,}.",
        where=config.source,
        remedy='Raise the limit, or set corpus.too_long to "truncate" or "drop".',
    )


def write_texts(
    examples: Iterable[Tokenized],
    texts_path: Path,
    tables_path: Path,
    advance: Callable[[int], None],
    lexicon: Lexicon | None = None,
) -> int:
    """Writes texts and distinct tables batch by batch; returns the number of texts."""
    number_of: dict[bytes, int] = {}
    count = 0
    iterator = iter(examples)
    with (
        atomic_path(texts_path) as texts_file,
        atomic_path(tables_path) as tables_file,
        pq.ParquetWriter(texts_file, TEXTS, compression="zstd") as texts,
        pq.ParquetWriter(tables_file, TABLES, compression="zstd") as tables,
    ):
        while batch := list(islice(iterator, ROWS_PER_BATCH)):
            numbers: list[int] = []
            new: list[Tokenized] = []
            for item in batch:
                digest = table_digest(item.example.table)
                if digest not in number_of:
                    number_of[digest] = len(number_of)
                    new.append(item)
                numbers.append(number_of[digest])
            texts.write_table(texts_table(batch, numbers, lexicon))
            tables.write_table(tables_table(new))
            count += len(batch)
            advance(len(batch))
    return count


def texts_table(batch: Sequence[Tokenized], numbers: list[int], lexicon: Lexicon | None) -> pa.Table:
    """Examples with the numbers of their tables, as the file of texts has them."""
    columns = [
        [item.example.id for item in batch],
        [item.example.text or "" for item in batch],
        numbers,
        [item.target for item in batch],
        [unsaid(item, lexicon) for item in batch],
    ]
    return pa.table([pa.array(c, type=f.type) for c, f in zip(columns, TEXTS, strict=True)], schema=TEXTS)


def unsaid(item: Tokenized, lexicon: Lexicon | None) -> int:
    """How many values the text does not say word for word; with a lexicon, plus all slot errors.

    What is often said in other words, or one by one, a lexicon looks for alone; of a number with its unit,
    the number must be there.
    """
    if lexicon is None:
        return unsaid_values(item.target, item.table)
    segments: list[Segment] = []
    for segment in item.table.segments:
        known = lexicon.fields.get(segment.field)
        if known is None or known.kind not in ("worded", "yes/no", "number", "list", "date"):
            segments.append(segment)
        elif known.kind == "number" and not _is_one_of(known.partial, segment, item.table.tokens):
            segments.append(_digits(segment, item.table.tokens))
    count = unsaid_values(item.target, Linearized(item.table.tokens, segments))
    return count + len(check_slots(item.example.text or "", item.example.table, lexicon).errors)


def _is_one_of(values: Iterable[str], segment: Segment, tokens: Sequence[str]) -> bool:
    """Whether a segment is the tokens of one of these values, whose spaces tokens do not keep: `0`, `%`."""
    written = "".join("".join(tokens[segment.start : segment.stop]).split())
    return any("".join(value.split()) == written for value in values)


def _digits(segment: Segment, tokens: Sequence[str]) -> Segment:
    """The number in a value with a unit."""
    places = [place for place in range(segment.start, segment.stop) if tokens[place][:1].isdigit()]
    return segment._replace(start=places[0], stop=places[0] + 1) if len(places) == 1 else segment


def tables_table(batch: Sequence[Tokenized]) -> pa.Table:
    """The distinct tables of examples, as the file of tables has them."""
    columns = [
        [json.dumps(item.example.table.to_record(), ensure_ascii=False) for item in batch],
        [item.table.tokens for item in batch],
        [item.table.segment_numbers() for item in batch],
    ]
    return pa.table([pa.array(c, type=f.type) for c, f in zip(columns, TABLES, strict=True)], schema=TABLES)
