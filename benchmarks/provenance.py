"""The tables of docs/results.md: what provenance costs and gives, from files that `generate` wrote.

    python benchmarks/provenance.py drafts=drafts-dev.jsonl full=full-dev.jsonl --references e2e:data/e2e
        [--split dev] [--lexicon e2e]

One row a file: five metrics, slots with an error (missing, wrong, repeated and added apart), splices and
neighbors a text, words that stand in a source, seams that no text attests, and abstentions.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from textsplice.evaluate import evaluate
from textsplice.files import atomic_write_text
from textsplice.search.rows import read_generations

METRICS = ("BLEU", "NIST", "METEOR", "ROUGE_L", "CIDEr")
ERRORS = ("missing", "wrong", "repeated", "added")


def figures(path: Path, references: str, split: str, lexicon: str) -> dict[str, float]:
    """All figures of one file."""
    found = evaluate(path, references, split, lexicon=lexicon)
    assert found.slots is not None
    rows = [row for _, row in read_generations(path) if row.status in ("ok", "doubtful")]
    words = [row.sources.kind(place.source) for row in rows for place in row.provenance]
    used = [{place.source for place in row.provenance} for row in rows]
    neighbors = sum(
        sum(row.sources.kind(source) == "neighbor" for source in sources)
        for row, sources in zip(rows, used, strict=True)
    )
    scale = {"BLEU": 100, "METEOR": 100, "ROUGE_L": 100}
    return {
        "texts": found.items,
        **{name: found.scores[name] * scale.get(name, 1) for name in METRICS},
        "slots": found.slots.slots,
        "slot errors, %": 100 * found.slots.error_rate,
        **{status: found.slots.by_status.get(status, 0) for status in ERRORS},
        "splices": sum(len(row.splices) for row in rows) / len(rows),
        "neighbors": neighbors / len(rows),
        "copied, %": 100 * sum(kind != "vocabulary" for kind in words) / len(words),
        "seams": sum(row.seams.count for row in rows if row.seams),
        "unattested": sum(len(row.seams.unattested) for row in rows if row.seams),
        "abstained": found.items - len(rows),
    }


def markdown(name: str, row: dict[str, float]) -> str:
    """A row of a table."""
    apart = " / ".join(str(row[status]) for status in ERRORS)
    return (
        f"| {name} | {row['BLEU']:.2f} | {row['NIST']:.2f} | {row['METEOR']:.1f} | {row['ROUGE_L']:.1f} "
        f"| {row['CIDEr']:.2f} | {row['slot errors, %']:.2f} % ({apart}) | {row['splices']:.1f} "
        f"| {row['neighbors']:.1f} | {row['copied, %']:.1f} % | {row['unattested']} of {row['seams']:,} "
        f"| {row['abstained']} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("systems", nargs="+", metavar="NAME=FILE")
    parser.add_argument("--references", required=True)
    parser.add_argument("--split", default="dev")
    parser.add_argument("--lexicon", default="e2e")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "provenance.json")
    arguments = parser.parse_args()
    print("| | BLEU | NIST | METEOR | ROUGE-L | CIDEr | slots (missing / wrong / repeated / added) | …")
    rows: dict[str, dict[str, float]] = {}
    for system in arguments.systems:
        name, _, path = system.partition("=")
        rows[name] = figures(Path(path), arguments.references, arguments.split, arguments.lexicon)
        print(markdown(name, rows[name]), flush=True)
    atomic_write_text(arguments.out, json.dumps({"split": arguments.split, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
