"""Splices, replay, provenance and canvases, none of which need the compiled kernel."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textsplice.errors import InputError
from textsplice.oracle import Derivation, Origin, Splice, pieces, provenance, replay
from textsplice.oracle.splice import replay_pieces, trace

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


@st.composite
def derivations(draw: st.DrawFn) -> tuple[list[Splice], list[list[int]]]:
    """Splices that fit, over texts whose tokens are all different."""
    sizes = draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    texts = [list(range(100 * number, 100 * number + size)) for number, size in enumerate(sizes)]
    splices: list[Splice] = []
    length = 0
    for _ in range(draw(st.integers(0, 40))):
        start = draw(st.integers(0, length))
        stop = draw(st.integers(start, length))
        neighbor = draw(st.integers(0, len(texts) - 1))
        begin = draw(st.integers(0, sizes[neighbor] - 1))
        end = draw(st.integers(begin + 1, sizes[neighbor]))
        splices.append(Splice(start, stop, neighbor, begin, end))
        length += end - begin - (stop - start)
    return splices, texts


@pytest.mark.parametrize("block", [2, 3, 256])
@given(made=derivations())
def test_pieces_are_the_canvas_that_lists_make(made: tuple[list[Splice], list[list[int]]], block: int):
    splices, texts = made
    canvas: list[int] = []
    for start, stop, neighbor, begin, end in splices:
        canvas[start:stop] = texts[neighbor][begin:end]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "BLOCK", block)
        assert replay(splices, texts) == canvas
        assert provenance(splices, texts) == (trace(splices, texts) or [[]])[-1]
        assert replay_pieces(splices, texts).length == len(canvas)


def test_a_long_derivation_is_replayed_without_keeping_its_canvases():
    count = 20_000
    splices = [Splice(step, step, 0, 0, 1) for step in range(count)]
    tracemalloc.start()
    made = provenance(splices, [["a"]])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert made[-1] == Origin(0, 0, count - 1)
    assert peak < 1000 * count  # all canvases take 8 bytes · count² / 2
