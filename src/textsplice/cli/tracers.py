"""Texts that others are traced to, as the command line names them."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from textsplice.cli.output import say
from textsplice.cli.reading import say_lists

if TYPE_CHECKING:
    from textsplice.config import CorpusConfig
    from textsplice.corpus import Corpus
    from textsplice.search.generation import Generation
    from textsplice.trace.tracing import Tracer


def tallied(traced: Generation) -> dict[str, int]:
    """What the summary counts of a trace."""
    tokens = len(traced.tokens)
    covered = round(tokens * (traced.traced.covered if traced.traced else 0))
    return {"tokens": tokens, "covered": covered, "gaps": len(traced.gaps)}


def open_tracer(
    store: str, split: str | None, text_column: str | None, *, kept: bool = True, quiet: bool = False
) -> Tracer:
    """The tracer of a run, a prepared folder or a corpus; `kept` as for `open_texts`."""
    from textsplice.runs import Prepared, Run
    from textsplice.runs.recognized import is_export
    from textsplice.text.linearize import Unsaid
    from textsplice.trace.opening import open_texts
    from textsplice.trace.tracing import Tracer

    if Run.is_run(store) or is_export(store):  # of an export, `open` says that it has no texts
        opened = Run.open(store)
    elif Prepared.is_prepared(store):
        opened = Prepared.open(store)
    else:
        opened = read_texts(store, split, text_column)
        say_lists(opened.lists, store, quiet=quiet)
    unsaid = Unsaid.of_kinds(opened.kinds if isinstance(opened, (Run, Prepared)) else {})
    with warnings.catch_warnings(record=True) as caught:
        tracer = Tracer(open_texts(opened, kept=kept, quiet=quiet), unsaid)
    for warning in caught:
        say(f"warning: {warning.message}", err=True)
    return tracer


def read_texts(store: str, split: str | None, text_column: str | None) -> Corpus:
    """The approved texts of a corpus that was not prepared."""
    from textsplice.corpus import read_corpus

    return read_corpus(store, split or _default_split(store), text_column=text_column).require_texts()


def like_store(drafts: str, store: str, split: str | None, text_column: str | None) -> CorpusConfig | None:
    """How drafts are read: as the corpus of the store; None if it says nothing of how they are."""
    from textsplice.cli.systems import corpus_settings
    from textsplice.config import CorpusConfig
    from textsplice.runs import Prepared, Run
    from textsplice.trace.reading import has_cells

    if Run.is_run(store) or Prepared.is_prepared(store):
        known = corpus_settings(store)
    elif not has_cells(drafts):
        return None
    else:
        known = CorpusConfig(list_columns=read_texts(store, split, text_column).lists)
    return replace(known, text_column=text_column or known.text_column)


def _default_split(source: str) -> str | None:
    """Every row of one file; the training split of a folder."""
    return None if Path(source).is_file() else "train"
