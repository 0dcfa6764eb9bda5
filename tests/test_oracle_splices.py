"""Splices, replay, provenance and canvases, none of which need the compiled kernel."""

from __future__ import annotations

import subprocess
import sys

import pytest

from textsplice.errors import InputError
from textsplice.oracle import Derivation, Origin, Splice, provenance, replay

CHEAP = "The Vaults is a cheap pub".split()
NEAR = "near Café Adriatic".split()
SPLICES = [Splice(0, 0, 0, 0, 6), Splice(6, 6, 1, 0, 3), Splice(0, 2, 1, 1, 3)]


def test_a_derivation_replays_to_its_text():
    assert replay(SPLICES, [CHEAP, NEAR]) == "Café Adriatic is a cheap pub near Café Adriatic".split()


def test_an_empty_derivation_is_the_empty_canvas():
    assert replay([], [CHEAP]) == []
    assert provenance([], [CHEAP]) == []


def test_only_a_splice_over_text_replaces():
    assert [splice.replaces for splice in SPLICES] == [False, False, True]


def test_each_token_knows_its_place_and_the_splice_that_laid_it():
    assert provenance(SPLICES, [CHEAP, NEAR])[:3] == [Origin(1, 1, 2), Origin(1, 2, 2), Origin(0, 2, 0)]


def test_a_derivation_shows_its_canvases_one_by_one():
    derivation = Derivation(tuple(SPLICES), (CHEAP, NEAR))
    assert [" ".join(canvas) for canvas in derivation.canvases] == [
        "The Vaults is a cheap pub",
        "The Vaults is a cheap pub near Café Adriatic",
        "Café Adriatic is a cheap pub near Café Adriatic",
    ]
    assert derivation.cost == 3
    assert derivation.target == derivation.canvases[-1]
    assert len(derivation.provenance) == len(derivation.target)


@pytest.mark.parametrize(
    ("splice", "message"),
    [
        (Splice(0, 0, 2, 0, 1), "splice 0 (0, 0, 2, 0, 1): neighbor 2 does not exist: there are 2."),
        (Splice(0, 0, -1, 0, 1), "splice 0 (0, 0, -1, 0, 1): neighbor -1 does not exist: there are 2."),
        (Splice(0, 0, 1, 1, 4), "splice 0 (0, 0, 1, 1, 4): span 1:4 does not fit neighbor 1 of 3 tokens."),
        (Splice(0, 0, 1, 1, 1), "splice 0 (0, 0, 1, 1, 1): span 1:1 does not fit neighbor 1 of 3 tokens."),
        (Splice(0, 1, 1, 0, 3), "splice 0 (0, 1, 1, 0, 3): slice 0:1 does not fit the canvas of 0 tokens."),
    ],
)
def test_a_splice_that_does_not_fit_is_refused(splice: Splice, message: str):
    with pytest.raises(InputError) as error:
        replay([splice], [CHEAP, NEAR])
    assert str(error.value) == message


def test_replaying_loads_no_compiler():
    code = "import sys, textsplice.oracle as o; o.replay([], []); print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
