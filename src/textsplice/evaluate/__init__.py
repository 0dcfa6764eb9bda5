"""Scores with signatures, faithfulness to the table, experiments, leaks between splits, ratings by people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textsplice.callable_module import make_callable

if TYPE_CHECKING:
    from textsplice.evaluate.evaluation import Evaluation
    from textsplice.search.generation import Generation


def evaluate(
    outputs: str | Path | Iterable[Generation],
    references: str | Path,
    split: str = "dev",
    metrics: Sequence[str] | None = None,
    lexicon: str | Path | None = None,
    *,
    text_column: str | None = None,
    partial: bool = False,
) -> Evaluation:
    """Scores one system's outputs against references, as the command `textsplice evaluate` does.

    `outputs` is a file that `textsplice generate` wrote, or generations. They are matched with their
    references by table or id, never by position.
    `references` is a corpus as `prepare` takes it, a prepared folder, or a JSONL file of `id` and `text`.
    `metrics` are names; the default is what the E2E challenge's script prints and can be computed here.
    `lexicon` says how values are worded: `e2e`, `bundled`, `values` (as written), a TOML file, or `none` for
    not checking slots. The default is that of the corpus, else `values`.
    With `partial`, tables without an output are left out; otherwise they are an error.

    >>> splicer = textsplice.Splicer.load("runs/bundled")
    >>> tables = [example.table for example in textsplice.read_corpus("bundled", "dev")]
    >>> found = textsplice.evaluate(splicer.generate_many(tables), "bundled", "dev", metrics=["BLEU"])
    >>> found.scores["BLEU"], found.slots.error_rate
    >>> found.signatures  # how each number was made
    """
    from textsplice.evaluate.evaluation import ReferenceSet, default_metrics, evaluate_matched
    from textsplice.evaluate.outputs import generation_outputs, match, read_outputs

    known = ReferenceSet.read(str(references), split, text_column=text_column)
    if isinstance(outputs, (str, Path)):
        name, read = str(outputs), read_outputs(Path(outputs))
    else:
        name, read = "generations", generation_outputs(outputs)
    return evaluate_matched(
        match(read, known.items, partial=partial),
        default_metrics()[0] if metrics is None else metrics,
        name=name,
        data=known.data,
        lexicon=known.lexicon_named(None if lexicon is None else str(lexicon)),
        kinds=known.kinds,
    )


make_callable(__name__)
