"""Rules that every text obeys, and a check that finds a forged row.

Run with `python examples/rules_and_verify.py`.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import textsplice
from textsplice import rules
from textsplice.errors import VerificationError

CORPUS = Path(__file__).parent / "bicycles.csv"
BIKE = {"make": "Vesper", "model": "Drift", "type": "road bike", "color": "silver", "gears": "18",
        "condition": "nearly new", "extra": "a bell", "price": "450 euros"}  # fmt: skip

with tempfile.TemporaryDirectory() as folder:
    settings = [f'corpus.source="{CORPUS}"', f'output.prepared="{folder}/prepared"']
    config = textsplice.Config().with_values(settings)
    textsplice.prepare(config)
    splicer = textsplice.Splicer.untrained(config.output.prepared)

    free = splicer.generate(BIKE)
    print("no rule:   ", free.text)

    used = free.sources.label(free.splices[0].neighbor, 0)
    others = rules.NeighborsWhere(f"not {used}", lambda neighbor: neighbor.id != used)
    print(f"not {used}:", splicer.generate(BIKE, rules=[others]).text)

    short = [rules.MaxSentences(2), rules.RequireFields(["price", "extra"]), rules.ForbidWords(["ride home"])]
    print("three rules:", splicer.generate(BIKE, rules=short).text)

    impossible = splicer.generate(BIKE, rules=[rules.RequireFields(["serial number"])])
    print(f"{impossible.status}: {impossible.reason}")

    # The text is what its splices make of the run's own texts, and the rules hold.
    textsplice.verify(free, splicer)
    forged = replace(free, text=free.text.replace("450", "45"))
    try:
        textsplice.verify(forged, splicer)
    except VerificationError as error:
        print(f"forged: {error}")
