"""Seams: where spans meet, and whether people have joined words so."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import textsplice
from search_world import prepared, tables
from textsplice import Table
from textsplice.config import Config
from textsplice.errors import InputError, StorageError, TextspliceError
from textsplice.neighbors import trigrams as trigrams_module
from textsplice.neighbors.store import Store, commonness
from textsplice.neighbors.trigrams import Trigrams
from textsplice.oracle.sources import OfferedNeighbor, Sources
from textsplice.oracle.splice import Splice
from textsplice.ragged import Ragged
from textsplice.report.document import document
from textsplice.report.overview import report_html
from textsplice.report.plain import plain
from textsplice.report.terminal import terminal
from textsplice.search.generation import Generation, make_generation
from textsplice.search.rows import row_text
from textsplice.search.seams import Seam, Seams
from textsplice.search.verify import find_lie
from textsplice.splicer import Splicer
from textsplice.text.linearize import linearize
from textsplice.text.masking import mask
from textsplice.text.tokens import BEGIN, END, MASK, tokenize
from textsplice.text.typed import typed

WORDS = st.lists(st.sampled_from("abcd"), max_size=6)
RECORD = Table.of({"name": "Heron Mill", "area": "city centre", "food": "plum cake"})
OTHER = Table.of({"name": "Aromi", "area": "riverside", "food": "tea"})
TEXT = "Aromi in riverside serves tea."
LONGER = "Try tea at Aromi today."


def trigrams(*texts: str, own: Table = OTHER) -> Trigrams:
    return Trigrams.of(typed(tokenize(text), linearize(own)).words for text in texts)


def made(splices: Sequence[Splice], words: dict[int, str] | None = None) -> Generation:
    """A text of RECORD from TEXT (1) and LONGER (2)."""
    offered = [
        OfferedNeighbor(name, text, (BEGIN, *mask(tokenize(text), linearize(OTHER).value_tokens()), END))
        for name, text in (("a", TEXT), ("b", LONGER))
    ]
    return make_generation(
        id="x",
        table=RECORD,
        sources=Sources(linearize(RECORD), tuple(offered), words or {}),
        splices=splices,
        score=-0.5,
        status="ok",
        policy="full",
        run="r",
        tokenizer="words",
    )


# The table is: name: Heron Mill area: city centre food: plum cake
NAME, AREA, FOOD = (1, 3), (4, 6), (7, 9)
FAITHFUL = [
    Splice(0, 0, 1, 0, 8),  # begin ▁ in ▁ serves ▁ . end
    Splice(5, 6, 0, *FOOD),
    Splice(3, 4, 0, *AREA),
    Splice(1, 2, 0, *NAME),
]


@given(st.lists(WORDS, max_size=6), WORDS, st.integers(1, 5))
def test_a_trigram_is_found_if_and_only_if_it_stands_in_a_text(
    texts: list[list[str]], text: list[str], at_once: int
) -> None:
    standing = {
        tuple(whole[i : i + 3]) for each in texts for whole in [["<", *each, ">"]] for i in range(len(each))
    }
    whole = ["<", *text, ">"]
    expected = [tuple(whole[i : i + 3]) in standing for i in range(len(text))]
    assert Trigrams.of(texts).around(text) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trigrams_module, "AT_ONCE", at_once)
        assert Trigrams.of(texts).around(text) == expected


@given(st.lists(WORDS, max_size=4), st.lists(WORDS, max_size=4))
def test_trigrams_grow_and_are_saved_as_if_counted_at_once(
    old: list[list[str]], new: list[list[str]]
) -> None:
    whole, grown = Trigrams.of([*old, *new]), Trigrams.of(old).plus(new)
    with TemporaryDirectory() as folder:
        grown.save(Path(folder))
        read = Trigrams.load(Path(folder))
        for found in (grown, read):
            assert list(found.numbers) == list(whole.numbers)
            assert found.pairs.tolist() == whole.pairs.tolist()
            assert found.triples.tolist() == whole.triples.tolist()


def test_damaged_trigrams_are_told(tmp_path: Path) -> None:
    known = Trigrams.of([["a", "b", "c"]])
    replace(known, triples=known.triples[::-1]).save(tmp_path)
    with pytest.raises(StorageError, match="truncated or damaged"):
        Trigrams.load(tmp_path)


def test_a_word_that_no_text_has_is_in_no_trigram() -> None:
    known = Trigrams.of([["a", "b", "c"]])
    assert known.around(["a", "b", "c"]) == [True, True, True]
    assert known.around(["a", "new", "c"]) == [False, False, False]
    assert Trigrams.of([]).around(["a"]) == [False]


def test_values_of_any_length_are_one_mask_of_their_field() -> None:
    here = typed(tokenize("Heron Mill in City Centre"), linearize(RECORD))
    there = typed(tokenize("Aromi in riverside"), linearize(OTHER))
    assert here.words == there.words == [f"{MASK}name", "in", f"{MASK}area"]
    assert here.starts == [0, 2, 3]


def test_a_value_said_twice_is_two_masks() -> None:
    assert typed(tokenize("Heron Mill Heron Mill"), linearize(RECORD)).words == [f"{MASK}name"] * 2


def test_only_texts_that_may_be_neighbors_attest(tmp_path: Path) -> None:
    tokens = Ragged.from_rows([[2, 5, 3], [2, 5, 3]])
    store = Store.build(
        ids=["a", "b"],
        texts=["Aromi is good", "Aromi was bad"],
        tokens=tokens,
        table_of=np.array([0, 0], dtype=np.int32),
        tables=[OTHER],
        offered=np.array([True, False]),
        commonness=commonness(tokens),
        tokenizer="words",
        fold=frozenset(),
    )
    store.save(tmp_path)
    about = json.loads((tmp_path / "store.json").read_text())
    saved = Store.load(tmp_path)
    (tmp_path / "store.json").write_text(json.dumps({**about, "trigrams": False}))
    earlier = Store.load(tmp_path)  # versions before 0.2 did not save them
    own = linearize(RECORD)
    for each in (store, saved, earlier):
        assert all(each.trigrams.around(typed(["Heron", "Mill", "is", "good"], own).words))
        assert not any(each.trigrams.around(typed(["Heron", "Mill", "was", "bad"], own).words))


def test_a_text_copied_whole_has_no_seams() -> None:
    whole = OfferedNeighbor("a", "It is good.", (BEGIN, "It", "is", "good", ".", END))
    row = make_generation(
        id="x",
        table=RECORD,
        sources=Sources(linearize(RECORD), (whole,), {}),
        splices=[Splice(0, 0, 1, 0, 6)],
        score=-0.5,
        status="ok",
        policy="full",
        run="r",
        tokenizer="words",
    )
    assert row.with_seams(trigrams()).seams == Seams(0, ())


def test_values_in_the_place_of_values_of_their_field_are_attested() -> None:
    row = made(FAITHFUL)
    assert row.text == "Heron Mill in city centre serves plum cake."
    # Before the name, around each value; the text ends as its neighbor does.
    assert row.with_seams(trigrams(TEXT)).seams == Seams(6, ())


def test_a_value_in_the_place_of_another_fields_is_not_attested() -> None:
    swapped = [*FAITHFUL[:2], Splice(3, 4, 0, *NAME), Splice(1, 2, 0, *AREA)]
    seams = made(swapped).with_seams(trigrams(TEXT)).seams
    assert seams is not None
    assert [seam.token for seam in seams.unattested] == [0, 2, 3, 5, 6]


def test_a_seam_is_told_by_its_token_and_the_space_before_it() -> None:
    row = made([*FAITHFUL, Splice(9, 9, 2, 5, 6)]).with_seams(trigrams(TEXT))
    assert row.text == "Heron Mill in city centre serves plum cake today."
    # Before the value, too: nobody writes “serves ▁ today”.
    assert row.seams == Seams(7, (Seam(6, 32, 33), Seam(8, 42, 43), Seam(9, 48, 48)))
    assert (row.text[32:33], row.text[42:43], row.text[48:48]) == (" ", " ", "")
    assert row.seams.score == 1 - 3 / 7


def test_a_text_that_ends_where_none_does_has_an_unattested_seam_at_its_end() -> None:
    short = made([Splice(0, 0, 1, 0, 5), Splice(5, 5, 1, 7, 8), *FAITHFUL[2:]])
    assert short.text == "Heron Mill in city centre serves"
    seams = short.with_seams(trigrams(TEXT)).seams
    assert seams is not None
    assert seams.unattested == (Seam(5, 25, 26), Seam(6, 32, 32))


def test_a_seam_inside_a_value_is_attested_by_the_table() -> None:
    halves = [*FAITHFUL[:3], Splice(1, 2, 0, 1, 2), Splice(2, 2, 0, 2, 3)]
    word_by_word = [*FAITHFUL[:3], Splice(1, 2, 0, 1, 2), Splice(2, 2, 3 + 9, 0, 1)]
    assert made(halves).with_seams(trigrams(TEXT)).seams == Seams(6, ())
    foreign = made(word_by_word, {9: "Mill"})
    assert foreign.text == made(FAITHFUL).text
    assert foreign.with_seams(trigrams(TEXT)).seams == Seams(7, ())


def test_a_field_that_the_store_never_had_is_not_attested() -> None:
    unheard = trigrams("Aromi in riverside serves tea.", own=Table.of({"name": "Aromi", "food": "tea"}))
    seams = made(FAITHFUL).with_seams(unheard).seams
    assert seams is not None
    assert [seam.token for seam in seams.unattested] == [2, 3, 5, 6]


def test_seams_come_back_from_a_row() -> None:
    row = made([*FAITHFUL, Splice(9, 9, 2, 5, 6)]).with_seams(trigrams(TEXT))
    assert Generation.from_dict(json.loads(row_text(row))) == row
    assert "seams" not in made(FAITHFUL).to_dict()


@pytest.mark.parametrize(
    "wrong", [3, {"count": "1"}, {"count": 1}, {"count": 1, "unattested": [{"token": 1}]}]
)
def test_seams_of_another_shape_are_a_sentence(wrong: object) -> None:
    with pytest.raises(InputError, match="missing or not"):
        Generation.from_dict({**made(FAITHFUL).to_dict(), "seams": wrong})


@pytest.mark.parametrize(
    ("said", "lie"),
    [
        (Seams(5, ()), "it is said to have 5 seams, its splices make 6"),
        (Seams(6, (Seam(1, 5, 6),)), "what it says is an unattested seam is none"),
        (Seams(6, (Seam(3, 13, 14), Seam(2, 10, 11))), "what it says is an unattested seam is none"),
        (Seams(6, (Seam(2, 9, 11),)), "an unattested seam is not where it says"),
    ],
)
def test_seams_that_the_splices_do_not_make_are_a_lie(said: Seams, lie: str) -> None:
    row = replace(made(FAITHFUL), policy="oracle")
    assert find_lie(row.with_seams(trigrams(TEXT))) is None
    assert find_lie(replace(row, seams=said)) == lie


def test_every_text_says_its_seams_and_its_run_finds_the_same_ones_again() -> None:
    splicer = Splicer.untrained(prepared())
    rows = list(splicer.generate_many(tables()[:8], progress=False))
    told = [row for row in rows if row.status != "abstained"]
    assert told
    for row in told:
        assert row.seams is not None
        assert row.seams.count >= 2
    textsplice.verify(rows, splicer)
    seam = next(p for p in range(1, len(told[0].tokens)) if _is_seam(told[0], p))
    place = (told[0].provenance[seam - 1].stop, told[0].provenance[seam].start)
    already = told[0].seams.unattested if told[0].seams else ()
    said = tuple(sorted({*already, Seam(seam, *place)} - (set(already) & {Seam(seam, *place)})))
    forged = replace(told[0], seams=Seams(told[0].seams.count if told[0].seams else 0, said))
    textsplice.verify(forged)
    with pytest.raises(TextspliceError, match="by the texts of the run"):
        textsplice.verify(forged, splicer)
    textsplice.verify(replace(told[0], seams=None), splicer)  # as earlier versions wrote it


def _is_seam(row: Generation, place: int) -> bool:
    one, other = row.provenance[place - 1 : place + 1]
    return (one.source, one.position + 1) != (other.source, other.position)


def test_a_row_says_the_weight_of_seams_only_if_there_is_one() -> None:
    splicer = Splicer.untrained(prepared())
    search = splicer.config.search
    assert "seams" not in splicer.made(search)["search"]
    assert splicer.made(replace(search, seams=0.5))["search"]["seams"] == 0.5
    assert "seams" not in Config().stored()["search"]


def test_views_mark_an_unattested_seam() -> None:
    row = replace(made([*FAITHFUL, Splice(9, 9, 2, 5, 6)]), policy="oracle").with_seams(trigrams(TEXT))
    shown = plain(document(row))
    assert "7 seams, 3 unattested" in shown
    assert "¦ 42 “cake ¦ today”: no text of the store joins these words so" in shown
    out = StringIO()
    Console(file=out, width=200).print(terminal(document(row)))
    assert out.getvalue().startswith("Heron Mill in city centre serves ¦plum cake ¦today¦.")
    assert "¦" not in plain(document(made(FAITHFUL).with_seams(trigrams(TEXT))))


def test_the_report_counts_the_seams_of_each_text_and_marks_them(tmp_path: Path) -> None:
    rows = [
        made(FAITHFUL).with_seams(trigrams(TEXT)),
        replace(made([*FAITHFUL, Splice(9, 9, 2, 5, 6)]), id="y").with_seams(trigrams(TEXT)),
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(map(row_text, rows)), encoding="utf-8")
    page = report_html(path)
    assert "<b>76.9%</b><span>of seams attested</span>" in page
    section = page[page.index('id="seams"') :]
    assert ">6 seams<" in section
    assert ">7 seams, 3 unattested<" in section
    assert 'plum cake <b class="seam" role="img" aria-label="unattested seam">¦</b> today <b' in section
