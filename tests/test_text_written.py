"""What is copied in one piece reads exactly as its source has it, whoever copies it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everyday import STRINGS
from search_world import beginner, prepared, tables
from textsplice import Generation, Table
from textsplice.errors import InputError
from textsplice.oracle.numbering import TABLE
from textsplice.oracle.sources import OfferedNeighbor, Sources
from textsplice.oracle.splice import Splice
from textsplice.report.document import document, read_document
from textsplice.report.frames import finished, frames
from textsplice.report.plain import plain
from textsplice.search.generation import make_generation
from textsplice.search.swap import swap_values
from textsplice.search.verify import find_lie
from textsplice.splicer import Splicer
from textsplice.text import BEGIN, END, MASK, Tokenizer, linearize, mask, normalize, tokenize
from textsplice.text.verbatim import unsaid_values

OLD = Path(__file__).with_name("data") / "version-0.1"
OLD_TOKENS = tokenize("AT&T\u00ad in 東京, www.mill.com", "words/1")


def offered(text: str, *values: str, name: str = "t1") -> OfferedNeighbor:
    """A text of the store, with the values of its own table masked."""
    tokens = mask(tokenize(text), [tokenize(value) for value in values])
    return OfferedNeighbor(name, text, (BEGIN, *tokens, END))


def made(
    table: Table, neighbor: OfferedNeighbor, splices: list[Splice], tokenizer: Tokenizer = "words"
) -> Generation:
    """The generation of these splices, which says nothing false."""
    generation = make_generation(
        id="a",
        table=table,
        sources=Sources(linearize(table, tokenizer), (neighbor,), {}),
        splices=splices,
        score=0.0,
        status="ok",
        policy="full",
        run="r",
        tokenizer=tokenizer,
    )
    assert find_lie(generation) is None
    again = Generation.from_dict(generation.to_dict())
    assert again == generation
    return generation


def test_there_are_enough_everyday_strings() -> None:
    assert len(STRINGS) > 330


@pytest.mark.parametrize("value", STRINGS)
def test_a_value_that_is_swapped_in_reads_as_in_the_record(value: str) -> None:
    table, own = Table.of({"name": value}), Table.of({"name": "Aromi"})
    neighbor = offered("We like Aromi very much.", "Aromi")
    sources = Sources(linearize(table), (neighbor,), {})
    splices = swap_values(sources, 0, linearize(own), "words")
    assert splices is not None
    assert (
        made(table, neighbor, splices).text.removesuffix(" very much.").removeprefix("We like").strip()
        == value
    )


@pytest.mark.parametrize("value", STRINGS)
def test_a_value_that_is_copied_token_by_token_reads_as_in_the_record(value: str) -> None:
    table = Table.of({"name": value})
    neighbor = offered("The very best.")
    size = len(tokenize(value))
    splices = [Splice(0, 0, 1, 0, 1), Splice(1, 1, 1, 1, 2)]  # as LRT and S2S+copy place them
    splices += [Splice(2 + n, 2 + n, 0, 1 + n, 2 + n) for n in range(size)]
    splices.append(Splice(2 + size, 2 + size, 1, 5, 6))
    assert made(table, neighbor, splices).text.removeprefix("The").removeprefix(" ") == value


@pytest.mark.parametrize("value", STRINGS)
def test_a_neighbor_reads_as_it_was_written(value: str) -> None:
    text = f"We say {value} here, and Aromi there."
    table = Table.of({"name": "Zizzi"})
    neighbor = offered(text, "Aromi")
    place = neighbor.tokens.index(MASK)
    splices = [Splice(0, 0, 1, 0, len(neighbor.tokens)), Splice(place, place + 1, 0, 1, 2)]
    assert made(table, neighbor, splices).text == text.replace("Aromi", "Zizzi")


@pytest.mark.parametrize(
    ("text", "masked", "value", "result"),
    [
        ("See www.mill.com now.", "mill", "oak-barn", "See www.oak-barn.com now."),
        ("Open 9–5 daily.", "9", "7", "Open 7–5 daily."),
        ("Write to info@mill.org today.", "info", "me", "Write to me@mill.org today."),
        ("Try Ben&Co now.", "Ben", "Jerry", "Try Jerry&Co now."),
        ('It is "Aromi" again.', "Aromi", "Blue Spice", 'It is "Blue Spice" again.'),
        ("Chez « Aromi » ce soir.", "Aromi", "Zizzi", "Chez « Zizzi » ce soir."),
        ("Das „Aromi“ hier.", "Aromi", "Zizzi", "Das „Zizzi“ hier."),
        ("We use Java here.", "Java", ".NET", "We use .NET here."),
        ("We use Java here.", "Java", "C#", "We use C# here."),
        ("It is warm, they say.", "warm", "-5°C", "It is -5°C, they say."),
        ("Aromi's food.", "Aromi", "AT&T", "AT&T's food."),
        ("The Aromi-style pub.", "Aromi", "R&B", "The R&B-style pub."),
        ("我在北京工作。", "北京", "ABC", "我在ABC工作。"),
        ("我在北京工作。", "北京", "上海", "我在上海工作。"),
        ("The Mill Tower.", "Mill", "東京", "The 東京 Tower."),
        ("ไปกรุงเทพวันนี้", "กรุงเทพ", "เชียงใหม่", "ไปเชียงใหม่วันนี้"),
        ("هل تحب القهوة؟", "القهوة", "الشاي", "هل تحب الشاي؟"),
    ],
)
def test_at_a_seam_marks_attach_by_what_both_sides_are(
    text: str, masked: str, value: str, result: str
) -> None:
    table = Table.of({"name": value})
    neighbor = offered(text, masked)
    start = neighbor.tokens.index(MASK)
    stop = start + neighbor.tokens.count(MASK)
    size = len(tokenize(value))
    splices = [Splice(0, 0, 1, 0, len(neighbor.tokens)), Splice(start, stop, 0, 1, 1 + size)]
    assert made(table, neighbor, splices).text == result


@given(st.text(max_size=30), st.text(max_size=30), st.data(), st.sampled_from(["words", "spaces"]))
def test_every_span_copied_whole_reads_as_its_source(
    said: str, value: str, data: st.DataObject, tokenizer: Tokenizer
) -> None:
    said, value = f"{said} a", f"{value} b"
    table = Table.of({"other": ["x", "y"], "name": value})
    words = tokenize(said, tokenizer)
    segment = linearize(table, tokenizer).segments[-1]
    place = data.draw(st.integers(1, len(words) + 1))
    stop = data.draw(st.integers(place, len(words) + 1))
    neighbor = OfferedNeighbor("t", said, (BEGIN, *words, END))
    splices = [Splice(0, 0, 1, 0, len(words) + 2), Splice(place, stop, 0, segment.start, segment.stop)]
    generation = made(table, neighbor, splices, tokenizer)
    copied = [place for place in generation.provenance if place.source == 0]
    assert generation.text[copied[0].start : copied[-1].stop] == normalize(value)
    spans = tokenize(said, tokenizer).spans
    before, after = spans[: place - 1], spans[stop - 1 :]
    if before:
        assert generation.text.startswith(normalize(said)[: before[-1][1]])
    if after:
        assert generation.text.endswith(normalize(said)[after[0][0] :])


@pytest.mark.parametrize(
    ("text", "own", "value", "result"),
    [
        ("We use C# here.", "C#", "Java", "We use Java here."),
        ("We use .NET here.", ".NET", "C#", "We use C# here."),
        ("It is -3 today.", "-3", "+5", "It is +5 today."),
        ("We use AT&T here.", "AT&T", "R&B", "We use R&B here."),
        ("See www.mill.com here.", "www.mill.com", "info@oak.org", "See info@oak.org here."),
    ],
)
def test_a_value_is_found_in_a_text_whatever_spaces_its_marks_have_there(
    text: str, own: str, value: str, result: str
) -> None:
    neighbor = offered(text, own)
    assert neighbor.tokens.count(MASK) == len(tokenize(own))
    assert unsaid_values(tokenize(text), linearize(Table.of({"name": own}))) == 0
    table = Table.of({"name": value})
    sources = Sources(linearize(table), (neighbor,), {})
    splices = swap_values(sources, 0, linearize(Table.of({"name": own})), "words")
    assert splices is not None
    assert made(table, neighbor, splices).text == result


def test_two_values_of_one_field_do_not_run_together() -> None:
    table = Table.of({"tags": ["quiet", "cheap"]})
    neighbor = offered("x")
    splices = [Splice(0, 0, 1, 0, 1), Splice(1, 1, 0, 1, 2), Splice(2, 2, 0, 2, 3), Splice(3, 3, 1, 2, 3)]
    assert made(table, neighbor, splices).text == "quiet cheap"


def test_offsets_are_given_in_code_points_and_in_utf_16_units() -> None:
    generation = made(
        Table.of({"name": "👍🏽 Mill"}),
        offered("x"),
        [Splice(0, 0, 1, 0, 1), Splice(1, 1, 0, 1, 3), Splice(3, 3, 1, 2, 3)],
    )
    places = generation.to_dict()["provenance"]
    assert [(p["start"], p["stop"], p["utf16"]) for p in places] == [(0, 2, [0, 4]), (3, 7, [5, 9])]  # pyright: ignore
    units = generation.text.encode("utf-16-le")
    assert generation.utf16 is not None
    for place, (start, stop) in zip(generation.provenance, generation.utf16, strict=True):
        assert units[2 * start : 2 * stop].decode("utf-16-le") == generation.text[place.start : place.stop]


def test_a_false_utf_16_offset_is_found() -> None:
    generation = made(Table.of({"name": "Mill"}), offered("A b."), [Splice(0, 0, 1, 0, 5)])
    assert generation.utf16 is not None
    false = replace(generation, utf16=((0, 2), *generation.utf16[1:]))
    assert find_lie(false) == "its UTF-16 offsets are not those of its text"
    row = generation.to_dict()
    row["provenance"] = [place._asdict() for place in generation.provenance]
    with pytest.raises(InputError) as error:
        Generation.from_dict(row, "out.jsonl:1")
    assert str(error.value) == "out.jsonl:1: 'utf16' is missing or not made of 2 whole numbers each."


@pytest.mark.parametrize("policy", ["full", "lrt", "copy"])
def test_rows_of_format_1_are_read_verified_and_written_as_they_were(policy: str) -> None:
    for line in (OLD / f"{policy}.jsonl").read_text(encoding="utf-8").splitlines():
        generation = Generation.from_dict(json.loads(line))
        assert find_lie(generation) is None
        assert generation.to_dict() == json.loads(line)
        assert read_document(document(generation).to_dict()).generation == generation


def test_a_row_of_format_1_is_judged_by_the_rule_of_its_time() -> None:
    neighbor = OfferedNeighbor("t", "東京 is AT&T.", (BEGIN, "東京", "is", "AT", "&", "T", ".", END))
    table = Table.of({"name": "北京 R&B"})
    now = make_generation(
        id="a",
        table=table,
        sources=Sources(linearize(table, "words/1"), (neighbor,), {}),
        splices=[Splice(0, 0, 1, 0, 8), Splice(1, 2, 0, 1, 5)],
        score=0.0,
        status="ok",
        policy="full",
        run="r",
        tokenizer="words/1",
    )
    old = replace(now, format="textsplice.generation/1", tokenizer="words", utf16=None)
    assert old.text == "北京 R & B is AT & T."
    assert find_lie(old) is None
    assert find_lie(replace(old, text="北京 R&B is AT&T.")) is not None


def test_a_store_of_an_earlier_version_is_still_written_as_its_texts_are() -> None:
    neighbor = OfferedNeighbor("t", "AT&T\u00ad in 東京, www.mill.com", (BEGIN, *OLD_TOKENS, END))
    assert made(Table.of({"name": "x"}), neighbor, [Splice(0, 0, 1, 0, len(OLD_TOKENS) + 2)]).text == (
        "AT&T\u00ad in 東京, www.mill.com"
    )


def test_views_show_the_spaces_of_the_text() -> None:
    table = Table.of({"name": "AT&T www.mill-lane.com"})
    neighbor = offered("Aromi is open 5–7 p.m.", "Aromi")
    size = len(tokenize("AT&T www.mill-lane.com"))
    generation = made(
        table, neighbor, [Splice(0, 0, 1, 0, len(neighbor.tokens)), Splice(1, 2, 0, 1, 1 + size)]
    )
    seen = document(generation)
    assert "".join(f"{' ' * piece.spaced}{piece.text}" for piece in finished(seen)) == generation.text
    assert frames(seen)[1].sentence == "replaces “▁▁” with “AT&T www.mill-lane.com” from table · name"
    assert "5–7 p.m." in plain(seen)


@pytest.mark.parametrize("kind", ["lrt", "copy", "swap"])
def test_a_policy_says_what_it_copies_as_the_record_has_it(kind: str) -> None:
    """Whenever a whole value is copied in one piece, the text has it character for character."""
    splicer = Splicer.untrained(prepared()) if kind == "swap" else beginner(kind=kind)
    # Swap needs a neighbor with the same fields.
    other = tables()[0].to_record() if kind == "swap" else {"inn": "Dr. Hall"}
    records = [Table.of({**other, "name": value}) for value in STRINGS[::60]]
    copied = 0
    for table, generation in zip(records, splicer.generate_many(records), strict=True):
        row = linearize(table)
        origins = [(place.source, place.position) for place in generation.provenance]
        said = [value for _, values in table for value in values]
        for segment, value in zip(row.segments, said, strict=True):
            wanted = [(TABLE, position) for position in range(segment.start, segment.stop)]
            for at in range(len(origins) - len(wanted) + 1):
                if origins[at : at + len(wanted)] == wanted:
                    first, last = generation.provenance[at], generation.provenance[at + len(wanted) - 1]
                    assert generation.text[first.start : last.stop] == value
                    copied += 1
    assert copied > 0


def test_a_part_of_a_value_keeps_the_space_that_the_text_beside_it_has() -> None:
    neighbor = offered("The Mill is old.", "Mill")
    start = neighbor.tokens.index(MASK)
    splices = [Splice(0, 0, 1, 0, len(neighbor.tokens)), Splice(start, start + 1, 0, 1, 3)]
    assert made(Table.of({"name": "日本語"}), neighbor, splices).text == "The 日本 is old."
