"""How often are joins attested where people wrote them, and where words were cut out?

    python benchmarks/attested.py CORPUS --store PREPARED_OR_RUN

Takes dev references, which are no texts of the store. Every boundary between two of their words is looked at
as if it were a seam. As a baseline, two words in a row are cut out of each text, and the join is looked at.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

from textsplice.corpus.source import read_corpus
from textsplice.neighbors.trigrams import Trigrams
from textsplice.splicer import Splicer
from textsplice.text.linearize import linearize
from textsplice.text.tokens import tokenize
from textsplice.text.typed import typed

RESULTS = Path(__file__).resolve().parent / "results"
SHORTEST = 8  # words of a text that something is cut out of


def joins(words: list[str], trigrams: Trigrams) -> list[bool]:
    """Whether each boundary between two words is attested."""
    stands = trigrams.around(words)
    return [all(stands[place - 1 : place + 1]) for place in range(1, len(words))]


def main() -> None:
    """Measures, prints, writes JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--store", required=True, type=Path)
    parser.add_argument("--texts", type=int, default=800)
    parser.add_argument("--out", type=Path, default=RESULTS / "attested.json")
    given = parser.parse_args()
    random.seed(0)
    store = Splicer.untrained(given.store).store
    examples = [each for each in read_corpus(given.corpus, split="dev") if each.text]
    examples = random.sample(examples, min(given.texts, len(examples)))
    written: list[list[bool]] = []
    cut: list[bool] = []
    for example in examples:
        own = linearize(example.table, store.tokenizer)
        words = typed(tokenize(example.text or "", store.tokenizer), own).words
        written.append(joins(words, store.trigrams))
        if len(words) > SHORTEST:
            place = random.randrange(1, len(words) - 3)
            cut.append(joins([*words[:place], *words[place + 2 :]], store.trigrams)[place - 1])
    boundaries = sum(map(len, written))
    result = {
        "texts": len(written),
        "boundaries": boundaries,
        "unattested where people wrote": sum(each.count(False) for each in written) / boundaries,
        "texts with such a boundary": sum(False in each for each in written) / len(written),
        "unattested where two words were cut out": cut.count(False) / len(cut),
    }
    for name, value in result.items():
        print(f"{name:42}{value:>10,.3f}" if isinstance(value, float) else f"{name:42}{value:>10,}")
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
