"""Leaks: references whose delexicalized form appears in the training set, so that copying scores well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from textsplice.corpus import read_corpus
from textsplice.corpus.splits import SPLITS
from textsplice.evaluate.experiments.record import Result, about, results_folder
from textsplice.evaluate.tables import markdown
from textsplice.prepare.stages import shapes
from textsplice.runs.prepared import Prepared
from textsplice.text import Tokenizer, linearize, tokenize
from textsplice.text.delexicalize import delexicalize

NAME = "leakage"
WORST = 10
CLEANING = 'corpus.decontaminate = ["test"]'


@dataclass(frozen=True, slots=True)
class LeakedShape:
    """A form that appears in both, how often, and a text of each."""

    shape: str
    in_split: int
    in_train: int
    text: str
    train_text: str


@dataclass(frozen=True, slots=True)
class Leak:
    """How many of a split's references appear in train once values are replaced by their fields' names."""

    split: str
    references: int
    leaked: int
    share: float
    word_for_word: int
    train_rows_concerned: int
    worst: tuple[LeakedShape, ...]


@dataclass(frozen=True, slots=True)
class Shaped:
    """The texts of a split and their delexicalized forms."""

    texts: Sequence[str]
    shapes: Sequence[str]


def run(source: str, *, out: Path, worst: int = WORST) -> Result:
    """Counts leaks, and shows the `worst` most frequent forms."""
    folder = results_folder(out, NAME)
    found = leaks(source, worst=worst)
    data = {"about": about(source), "source": source, "splits": [asdict(leak) for leak in found]}
    return Result(NAME, data, leaks_as_markdown(source, found)).write(folder)


def find_leak(split: str, asked: Shaped, train: Shaped, *, worst: int = WORST) -> Leak:
    """Compares a split with train, form by form."""
    in_train = Counter(train.shapes)
    in_split = Counter(shape for shape in asked.shapes if shape in in_train)
    example = _first_text(asked, in_split)
    train_example = _first_text(train, in_split)
    known_texts = set(train.texts)
    ranked = sorted(in_split, key=lambda shape: (-in_split[shape], -in_train[shape], shape))
    return Leak(
        split=split,
        references=len(asked.shapes),
        leaked=in_split.total(),
        share=in_split.total() / max(1, len(asked.shapes)),
        word_for_word=sum(text in known_texts for text in asked.texts),
        train_rows_concerned=sum(in_train[shape] for shape in in_split),
        worst=tuple(
            LeakedShape(shape, in_split[shape], in_train[shape], example[shape], train_example[shape])
            for shape in ranked[:worst]
        ),
    )


def shaped_corpus(
    source: str, split: str, *, tokenizer: Tokenizer = "words", text_column: str | None = None
) -> Shaped:
    """Reads and delexicalizes a split of a corpus."""
    texts: list[str] = []
    shapes: list[str] = []
    for example in read_corpus(source, split, text_column=text_column):
        if example.text is not None:
            texts.append(example.text)
            table = linearize(example.table, tokenizer)
            shapes.append(delexicalize(tokenize(example.text, tokenizer), table))
    return Shaped(texts, shapes)


def leaks(source: str, *, text_column: str | None = None, worst: int = WORST) -> list[Leak]:
    """The leaks from dev and test into train, of a prepared folder or of a corpus."""
    if Prepared.is_prepared(source):
        prepared = Prepared.open(source)
        shaped = {
            split: Shaped(prepared.texts(split), shapes(prepared.files, split)) for split in prepared.splits
        }
    else:
        shaped = {split: shaped_corpus(source, split, text_column=text_column) for split in SPLITS}
    train = shaped.pop("train")
    return [find_leak(split, asked, train, worst=worst) for split, asked in shaped.items()]


def leaks_as_markdown(source: str, found: Sequence[Leak]) -> str:
    """A page: counts, the most frequent forms, and what to do."""
    parts = [
        f"# Leaks into {source}\n",
        markdown(
            ["split", "references", "delexicalized in train", "share", "word for word", "train rows"],
            [
                [
                    leak.split,
                    f"{leak.references:,}",
                    f"{leak.leaked:,}",
                    f"{leak.share:.1%}",
                    f"{leak.word_for_word:,}",
                    f"{leak.train_rows_concerned:,}",
                ]
                for leak in found
            ],
        ),
        f"With `{CLEANING}`, `prepare` leaves out the training rows that test references repeat.\n",
    ]
    for leak in found:
        if leak.worst:
            parts.append(f"## Most frequent in {leak.split}\n")
            rows = [[w.shape, f"{w.in_split:,}", f"{w.in_train:,}", w.text] for w in leak.worst]
            header = ["form", f"in {leak.split}", "in train", "example"]
            parts.append(markdown(header, rows, texts=header[-1:]))
    return "\n".join(parts)


def _first_text(shaped: Shaped, wanted: Counter[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for shape, text in zip(shaped.shapes, shaped.texts, strict=True):
        if shape in wanted:
            found.setdefault(shape, text)
    return found
