"""Which fields and words of a table the score sees."""

from __future__ import annotations

import subprocess
import sys

from textsplice.corpus.table import Table
from textsplice.neighbors import features, yes_no_fields

SPICE = Table.of({"name": "Blue Spice", "tags": ["Quiet", "blue"], "area": "", "kids": "No "})


def test_empty_fields_are_not_seen_and_words_have_no_case():
    assert features(SPICE, tokenize=str.split) == (
        {"name", "tags", "kids"},
        {"blue", "spice", "quiet", "no"},
    )


def test_a_folded_field_takes_its_value_into_its_name():
    folded = features(SPICE, tokenize=str.split, fold=frozenset({"kids", "area"}))
    assert folded.fields == {"name", "tags", "kids=no"}
    assert folded.values == {"blue", "spice", "quiet", "no"}


def test_yes_no_fields_have_both_words_of_a_pair_and_no_other():
    tables = [
        Table.of({"kids": "yes", "area": "riverside", "open": "TRUE", "dogs": "yes", "wifi": "yes"}),
        Table.of({"kids": "No", "area": "city", "open": "false", "dogs": "yes", "wifi": "no"}),
        Table.of({"kids": "", "wifi": ["yes", "slow"]}),
    ]
    assert yes_no_fields(tables) == {"kids", "open"}


def test_importing_the_room_does_not_compile_anything():
    code = "import sys, textsplice.neighbors; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
