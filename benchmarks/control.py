"""What control costs: texts under rules beside texts without, by the same run and settings.

    python benchmarks/control.py runs/e2e-drafts [--references e2e:data/e2e] [--set search.beam=5]
    python benchmarks/control.py models/e2e-full --store prepared/e2e --every 9

Rules: at least three sentences; only a tenth of the store's texts (chosen by a hash of their ids) may be
spliced from; no word from the vocabulary; two frequent words forbidden. Whether a text keeps its rule is
looked at here once more, from its row alone. An abstention has no text; BLEU scores it as an empty one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from textsplice.cli.reading import distinct_tables
from textsplice.cli.systems import check_values, open_splicer, search_of
from textsplice.corpus import read_corpus
from textsplice.evaluate.outputs import items_of
from textsplice.evaluate.score import score
from textsplice.files import atomic_write_text
from textsplice.rules import ApprovedNeighbors, CopyOnly, ForbidWords, MinSentences, Rule
from textsplice.search.generation import Generation
from textsplice.slots.check import check_slots, summarize_slots
from textsplice.slots.lexicon import Lexicon

FORBIDDEN = ("located", "serves")
Keeps = Callable[[Generation], bool]


def tenth(ids: Sequence[str]) -> list[str]:
    """A tenth of the ids, the same ones everywhere."""
    return [name for name in ids if hashlib.sha256(name.encode()).digest()[0] % 10 == 0]


def experiments(ids: Sequence[str]) -> dict[str, tuple[tuple[Rule, ...], Keeps]]:
    """Each rule by its name, and whether a row keeps it."""
    approved = tenth(ids)
    known = frozenset(approved)
    return {
        "no rule": ((), lambda _row: True),
        "three sentences or more": ((MinSentences(3),), _three_sentences),
        f"{len(approved):,} approved texts of {len(ids):,}": (
            (ApprovedNeighbors(approved),),
            lambda row: {neighbor.id for neighbor in row.sources.neighbors} <= known,
        ),
        "copied words only": ((CopyOnly(),), lambda row: not row.sources.words),
        f"without {' and '.join(FORBIDDEN)}": (
            (ForbidWords(FORBIDDEN),),
            lambda row: not set(FORBIDDEN) & set(re.findall(r"\w+", row.text.casefold())),
        ),
    }


def _three_sentences(row: Generation) -> bool:
    """By counting marks before a capital letter, as a person with a search box would."""
    return len(re.findall(r"[.!?](?=\s+[A-Z£\d]|\s*$)", row.text)) >= 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--store", type=Path, help="the texts of an export")
    parser.add_argument("--references", default="e2e:data/e2e")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--lexicon", default="e2e")
    parser.add_argument("--every", type=int, default=1, help="look at every n-th table")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--set", dest="values", action="append", default=[], metavar="search.KEY=VALUE")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "control.json")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)

    splicer = open_splicer(arguments.run, store=arguments.store)
    search = search_of(splicer, check_values(arguments.values))
    lexicon = Lexicon.load(arguments.lexicon)
    examples = list(read_corpus(arguments.references, arguments.split))
    tables = [example.table for example in distinct_tables(examples)][:: arguments.every]
    of_table = {item.table: item.references for item in items_of(examples)}
    rows: list[dict[str, object]] = []
    print(f"{'':42} {'BLEU':>6} {'slots':>7} {'kept':>7} {'abstained':>9} {'CPU s/table':>11}")
    for name, (rules, keeps) in experiments(splicer.store.ids).items():
        begun = time.process_time()
        made = [*splicer.generate_many(tables, rules=rules, search=search, progress=False)]
        seconds = (time.process_time() - begun) / len(made)
        given = [row for row in made if row.status in ("ok", "doubtful")]
        bleu = (
            100 * score([row.text for row in made], [of_table[row.table] for row in made], ["BLEU"])[0].value
        )
        slots = summarize_slots(check_slots(row.text, row.table, lexicon) for row in given).error_rate
        kept = sum(map(keeps, given)) / len(given)
        abstained = sum(row.status == "abstained" for row in made)
        rows.append(
            {
                "rule": name,
                "BLEU": round(bleu, 2),
                "slot errors": round(slots, 4),
                "kept": round(kept, 4),
                "abstained": abstained,
                "tables": len(made),
                "proposers": {p: sum(r.policy == p for r in given) for p in {r.policy for r in given}},
                "CPU seconds a table": round(seconds, 3),
            }
        )
        print(f"{name:42} {bleu:6.2f} {slots:7.2%} {kept:7.1%} {abstained:9} {seconds:11.3f}", flush=True)
    atomic_write_text(arguments.out, json.dumps({"run": str(arguments.run), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
