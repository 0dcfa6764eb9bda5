"""From a CSV of forty records and texts to new texts, with the source of every phrase.

No policy is trained: *swap* puts the new record's values into the text of the most similar record.
Run with `python examples/own_corpus.py`.
"""

from __future__ import annotations

import tempfile
from functools import partial
from itertools import groupby
from pathlib import Path

import textsplice
from textsplice.search.generation import Provenance

CORPUS = Path(__file__).parent / "bicycles.csv"
NEW = [
    {"make": "Tarn", "model": "Fjord", "type": "touring bike", "color": "white", "gears": "27",
     "condition": "well kept", "extra": "a rear rack", "price": "380 euros"},
    {"make": "Wick", "model": "Sprout", "type": "children's bike", "color": "red", "gears": "3",
     "condition": "nearly new", "price": "75 euros"},
]  # fmt: skip


def label(generation: textsplice.Generation, place: Provenance) -> str:
    """The field or the text that a token was copied from."""
    return generation.sources.label(place.source, place.position)


with tempfile.TemporaryDirectory() as folder:
    settings = [f'corpus.source="{CORPUS}"', f'output.prepared="{folder}/prepared"']
    config = textsplice.Config().with_values(settings)
    textsplice.prepare(config)
    splicer = textsplice.Splicer.untrained(config.output.prepared)

    for generation in splicer.generate_many(NEW, progress=False):
        print(f"\n{generation.text}")
        phrases = groupby(generation.provenance, key=partial(label, generation))
        for source, places in phrases:
            tokens = list(places)
            print(f"  {generation.text[tokens[0].start : tokens[-1].stop]!r} from {source}")
