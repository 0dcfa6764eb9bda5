"""The oracle on its own: how few splices make a text from others?

Tokens can be anything hashable; here they are words. Run with `python examples/oracle_by_hand.py`.
"""

from __future__ import annotations

from textsplice.errors import InputError
from textsplice.oracle import derive, replay

sold = [
    "The Harrow Meadow is a cream city bike with a front basket .".split(),
    "The Tarn Summit is a black mountain bike with new tires .".split(),
]
wanted = "The Tarn Meadow is a cream city bike with new tires .".split()

splices = derive(wanted, sold)
print(f"{len(splices)} splices make: {' '.join(wanted)}")

canvas: list[str] = []
for splice in splices:
    source = sold[splice.neighbor]
    inserted = source[splice.begin : splice.end]
    replaced = canvas[splice.start : splice.stop]
    canvas[splice.start : splice.stop] = inserted
    action = f"replaces {' '.join(replaced)!r} with" if replaced else "inserts"
    print(f"  text {splice.neighbor}: {action} {' '.join(inserted)!r}")

# `replay` does the same as the loop above, and checks that every splice fits.
assert replay(splices, sold) == canvas == wanted

# A word that no text contains can't be spliced.
try:
    derive("The Tarn Meadow is stolen .".split(), sold)
except InputError as error:
    print(f"refused: {error}")
