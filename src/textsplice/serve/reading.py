"""Records of a file that was sent: read as the command line reads files."""

from __future__ import annotations

import tempfile
from itertools import islice
from pathlib import Path

from textsplice.config import CorpusConfig
from textsplice.corpus.bad_rows import BadRows
from textsplice.corpus.source import read_corpus
from textsplice.errors import CorpusError, TextspliceError
from textsplice.serve.limits import Limits
from textsplice.serve.problems import Problem
from textsplice.serve.results import Json

FORMATS = {
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "application/x-ndjson": "jsonl",
    "application/jsonl": "jsonl",
    "application/json": "jsonl",
}
SHOWN = "the file"
UNNAMED = "row"  # a record without an id is called `row:1`, as `walks:1` in walks.csv


def read_records(body: bytes, kind: str, like: CorpusConfig, limits: Limits) -> Json:
    """The records, and the rows that can't be read; an error if none can."""
    with tempfile.TemporaryDirectory(prefix="textsplice-") as folder:
        path = Path(folder, f"{UNNAMED}.{kind}")
        path.write_bytes(body)
        bad = BadRows()
        try:
            corpus = read_corpus(path, like=like, format=kind, skipped=bad)
            examples = list(islice(corpus, limits.rows + 1))
        except TextspliceError as error:
            raise CorpusError(
                error.what.replace(str(path), SHOWN), where=_place(error.where, path), remedy=error.remedy
            ) from error
        if len(examples) > limits.rows:
            what = f"the file has more than {limits.rows:,} records."
            raise Problem(413, what, remedy="Split it, or use textsplice generate in a terminal.")
        return {
            "tables": [example.table.to_record() for example in examples],
            "ids": [example.id for example in examples],
            "bad": [
                {"row": _line(problem.where), "what": problem.what.replace(str(path), SHOWN)}
                for problem in bad.kept
            ],
        }


def _place(where: str | None, path: Path) -> str | None:
    return None if where is None else where.replace(str(path), SHOWN).replace(path.name, SHOWN)


def _line(where: str | None) -> int:
    """The number at the end of `file:12`; 0 if there is none."""
    number = (where or "").rpartition(":")[2]
    return int(number) if number.isdigit() else 0
