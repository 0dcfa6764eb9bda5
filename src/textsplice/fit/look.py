"""What is in a stranger's corpus: rows, records, fields, texts that are in two splits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from textsplice.config import CorpusConfig
from textsplice.corpus import Example, Table, read_corpus
from textsplice.corpus.asked import asked_fields, with_asked
from textsplice.corpus.forms import with_forms
from textsplice.corpus.source import is_one_file
from textsplice.corpus.splits import SPLITS, table_digest
from textsplice.errors import CorpusError
from textsplice.parsing import short_repr
from textsplice.prepare.texts import Tokenized, unsaid
from textsplice.search.sentences import ends_with_mark
from textsplice.slots.forms import find_forms
from textsplice.slots.kinds import Finding, decide, kinds_of
from textsplice.slots.lexicon import Lexicon
from textsplice.slots.placeholders import find_placeholders, folded
from textsplice.text.linearize import Unsaid, linearize
from textsplice.text.tokens import BEGIN, END, tokenize

FEWEST = 30  # training rows; with fewer there is nothing to learn from or to splice from
NEVER = ("coded", "unsaid")  # kinds that are not said word for word
SAMPLE = 1000  # texts that are looked at for their sentences


@dataclass(frozen=True)
class Look:
    """What was found in a corpus."""

    rows: dict[str, int]  # by split
    records: dict[str, int]  # different ones, by split
    fields: tuple[Finding, ...]
    shared: float  # share of the dev texts that are training texts too
    whole_sentences: bool  # nearly all texts end with a mark
    verbatim: float  # share of training texts that say all values, as far as that can be checked
    longest: int  # tokens of the longest training text
    left_out: int = 0  # rows, whose texts are placeholders
    placeholders: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()  # of fields that texts say otherwise than records
    examples: tuple[Example, ...] = field(default=(), repr=False)  # of train

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that there are."""
        return tuple(self.rows)

    def with_lexicon(self, lexicon: Lexicon) -> Look:
        """The same, where a lexicon says how values are worded."""
        return replace(self, verbatim=_share_right(_few(self.examples), self.fields, lexicon))


def look_at(source: str, text_column: str | None, kinds: Sequence[str] = ()) -> Look:
    """Reads a corpus and counts; `CorpusError` if nothing can be learned from it."""
    found = {split: list(rows) for split in SPLITS if (rows := _rows(source, split, text_column))}
    placeholders = find_placeholders(found.get("train", []))
    written = {
        split: [row for row in rows if folded(row.text or "") not in placeholders]
        for split, rows in found.items()
    }
    left_out = sum(map(len, found.values())) - sum(map(len, written.values()))
    found = {split: rows for split, rows in written.items() if rows}
    train = found.get("train", [])
    if len(train) < FEWEST:
        rows = sum(map(len, found.values()))
        raise CorpusError(
            f"{'1 row has' if rows == 1 else f'{rows} rows have'} a text, {len(train)} of them to learn "
            f"from; at least {FEWEST} are needed.",
            where=source,
            remedy="Give more records with a text each. `textsplice trace` needs no training.",
        )
    _require_several(source, found)
    if "dev" not in found:
        raise CorpusError(
            "there are no dev rows, on which systems are compared.",
            where=source,
            remedy="Put all rows into one file: it is cut by record.",
        )
    known = {example.text for example in train}
    if len(known) == 1:
        raise CorpusError(
            f"all {len(train):,} texts to learn from are the same: {short_repr(train[0].text)}.",
            where=source,
            remedy="Is this the column of the text? Name another with --text-column.",
        )
    dev = found["dev"]
    sample = _few(train)
    marks = [ends_with_mark(tokenize(example.text or "")) for example in sample]
    asked, forms = asked_fields(train), find_forms(train)
    train = [with_asked(with_forms(example, forms), asked) for example in train]
    fields = tuple(decide(train, ("auto", *kinds)))
    if all(each.kind in NEVER for each in fields):
        raise CorpusError(
            "no text says a value of its record.",
            where=source,
            remedy="Do texts and records stand in the same rows? `textsplice fit` needs texts about records.",
        )
    return Look(
        rows={split: len(rows) for split, rows in found.items()},
        records={split: len({table_digest(row.table) for row in rows}) for split, rows in found.items()},
        fields=fields,
        shared=sum(example.text in known for example in dev) / len(dev),
        whole_sentences=sum(marks) >= 0.9 * len(marks),
        verbatim=_share_right(sample, fields, None),
        longest=max(len(tokenize(example.text or "")) for example in train),
        left_out=left_out,
        placeholders=placeholders,
        forms=forms,
        examples=tuple(train),
    )


def _require_several(source: str, found: dict[str, list[Example]]) -> None:
    """`CorpusError` if all texts are about one record."""
    if len({table_digest(example.table) for rows in found.values() for example in rows}) == 1:
        raise CorpusError(
            f"all {sum(map(len, found.values())):,} texts are about the same record.",
            where=source,
            remedy="Are the columns of the records there, beside that of the text?",
        )


def _few(examples: Sequence[Example]) -> Sequence[Example]:
    return examples[:: -(-len(examples) // SAMPLE)]


def _share_right(examples: Sequence[Example], fields: Iterable[Finding], lexicon: Lexicon | None) -> float:
    """The share of texts that say all values of their tables that are said at all, as `prepare` counts."""
    kinds = kinds_of(fields)
    never, known = Unsaid.of_kinds(kinds), lexicon and lexicon.with_kinds(kinds)
    right = 0
    for example in examples:
        table = linearize(example.table, unsaid=never)
        tokens = [BEGIN, *tokenize(example.text or ""), END]
        right += not unsaid(Tokenized(example, tokens, table), known)
    return right / len(examples)


def _rows(source: str, split: str, text_column: str | None) -> list[Example]:
    """The rows of a split that have a text; none if the corpus has no such split."""
    try:
        corpus = read_corpus(source, split, text_column=text_column).require_texts()
        return [example for example in corpus if (example.text or "").strip()]
    except CorpusError:
        if split == "train" or is_one_file(source):
            raise
        return []


def unpicked(corpus: CorpusConfig, split: str, most: int) -> list[Table]:
    """Different tables of a split that have a text, in an order that depends on nothing but the tables."""
    rows = read_corpus(corpus.source, split, like=corpus)
    return sorted({row.table for row in rows if is_written(row, corpus)}, key=table_digest)[:most]


def is_written(row: Example, corpus: CorpusConfig) -> bool:
    """Whether somebody has written a row's text."""
    return bool((row.text or "").strip()) and folded(row.text or "") not in corpus.placeholders
