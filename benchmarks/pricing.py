"""Least derivations over all rows of a prepared corpus: texts per second, and whether they are least.

    python benchmarks/pricing.py PREPARED [--texts 300] [--check 0] [--promising 1000]

Each dev text is traced with its table. The fast mode looks at the rows that share most with the text; the
exact mode prices every row. `--check` derives so many of the texts from all rows at once and compares the
costs: that is the baseline, which takes seconds per text. Times are processor times of one thread.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from textsplice.neighbors import TextIndex
from textsplice.neighbors.store import Store
from textsplice.oracle import LeastDerivation, Pricing, derive_corpus
from textsplice.ragged import Ragged
from textsplice.runs import Prepared
from textsplice.text.masking import mask_runs
from textsplice.text.vocabulary import MASK_ID, Vocabulary

RESULTS = Path(__file__).parent / "results"


class World:
    """The dev texts of a prepared corpus, and its rows."""

    def __init__(self, folder: Path, promising: int) -> None:
        prepared = Prepared.open(folder)
        self.words: Vocabulary = prepared.vocabulary
        self.store: Store = prepared.store
        self.dev = prepared.split("dev")
        self.index = TextIndex.build(self.store.tokens, MASK_ID)
        self.pricing = Pricing(self.store.tokens, MASK_ID)
        self.promising = promising

    def table(self, example: int):
        number = self.dev.table_of[example]
        return self.dev.table_tokens[number], self.dev.table_segments[number]

    def masked(self, example: int):
        """The target with its own table's values masked, as the rows of the store are."""
        tokens, segments = self.table(example)
        values = [self.words.decode(tokens[segments == s]) for s in range(segments.max(initial=-1) + 1)]
        target = self.dev.targets[example].copy()
        for start, stop in mask_runs(self.words.decode(target), values):
            target[start:stop] = MASK_ID
        return target

    def trace(self, example: int, exact: bool) -> LeastDerivation:
        rows = self.index.search(self.masked(example), self.promising, allow=self.store.offered)
        target = self.dev.targets[example]
        return self.pricing.least(
            target, rows, table=self.table(example), allow=self.store.offered, exact=exact
        )

    def derived(self, example: int) -> int:
        """The cost from all rows at once."""
        tokens, segments = self.table(example)
        return int(
            derive_corpus(
                Ragged.from_rows([self.dev.targets[example]]),
                table_tokens=Ragged.from_rows([tokens]),
                table_segments=Ragged.from_rows([segments]),
                table_of=np.zeros(1, dtype=np.int32),
                store_tokens=self.store.tokens,
                neighbors=np.flatnonzero(self.store.offered).astype(np.int32)[None],
                mask_id=MASK_ID,
            ).costs[0]
        )


def timed(world: World, examples: list[int], exact: bool) -> tuple[list[LeastDerivation], float]:
    world.trace(examples[0], exact)  # compiles
    began = time.process_time()
    found = [world.trace(example, exact) for example in examples]
    return found, len(examples) / (time.process_time() - began)


def main() -> None:
    """Measures and prints."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("prepared", type=Path)
    options.add_argument("--texts", type=int, default=300)
    options.add_argument("--check", type=int, default=0)
    options.add_argument("--promising", type=int, default=1000)
    given = options.parse_args()
    world = World(given.prepared, given.promising)
    random = np.random.default_rng(0)
    examples = random.choice(len(world.dev.ids), given.texts, replace=False).tolist()
    fast, fast_speed = timed(world, examples, False)
    exact, exact_speed = timed(world, examples, True)
    began = time.process_time()
    differ = [i for i in range(given.check) if world.derived(examples[i]) != exact[i].cost]
    report = {
        "rows": int(world.store.offered.sum()),
        "texts": given.texts,
        "tokens": round(float(np.mean([len(world.dev.targets[i]) for i in examples])), 1),
        "fast_per_second": round(fast_speed, 1),
        "exact_per_second": round(exact_speed, 1),
        "fast_cost": round(float(np.mean([each.cost for each in fast])), 3),
        "exact_cost": round(float(np.mean([each.cost for each in exact])), 3),
        "fast_is_least": float(np.mean([f.cost == e.cost for f, e in zip(fast, exact, strict=True)])),
        "rounds": round(float(np.mean([each.certificate.rounds for each in exact])), 2),
        "solved": round(float(np.mean([each.certificate.solved for each in exact])), 1),
        "foreign": int(sum(len(each.foreign) for each in exact)),
        "checked": given.check,
        "differ": [world.dev.ids[examples[i]] for i in differ],
        "derive_per_second": round(given.check / (time.process_time() - began), 3) if given.check else None,
    }
    print(json.dumps(report, indent=1))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "pricing.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
