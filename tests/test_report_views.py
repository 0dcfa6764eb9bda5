"""Plain text, terminal and figure of the same derivation."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from io import StringIO
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from report_examples import bakery, chain, generation, neighbor, traced_bakery
from textsplice.oracle.splice import Splice
from textsplice.report.document import document
from textsplice.report.figure import canvas_boxes, source_boxes
from textsplice.report.frames import frames
from textsplice.report.plain import plain
from textsplice.report.svg import DARK, INKS, MASKED, MUTED, PAPER, STRUCK, TEXT, svg
from textsplice.report.terminal import ansi, terminal
from textsplice.report.widths import lay, text_width
from textsplice.search.generation import Generation

SVG = "{http://www.w3.org/2000/svg}"


def printed(made: Generation, *, width: int, no_color: bool) -> str:
    out = StringIO()
    console = Console(file=out, width=width, no_color=no_color, force_terminal=True, color_system="truecolor")
    console.print(terminal(document(made)))
    return out.getvalue()


def test_plain_text_marks_what_came_in_and_what_went_out() -> None:
    text = plain(document(bakery()))
    assert text.splitlines()[0] == bakery().text
    assert "2. replaces “▁▁ ▁▁” with “Heron Mill” from table · name" in text
    assert "   Heron Mill is a quiet [-▁▁-] ‸{bakery}T near the ▁▁" in text
    assert "   Heron Mill is a ‸{friendly}N2 quiet bakery" in text
    assert "‸{but}V quiet bakery" in text
    assert "· price: cheap" in text
    assert "✓ name: Heron Mill" in text
    assert text.endswith("1 more neighbor was offered.\n")


def test_a_value_is_ticked_only_if_all_of_it_is_said() -> None:
    first = neighbor("n1", "Larch House is quiet.", ("Larch", "House"))
    table = {"name": "Heron Mill"}
    lay, half, whole = Splice(0, 0, 1, 0, 7), Splice(1, 3, 0, 1, 2), Splice(1, 3, 0, 1, 3)
    for splices, line in (([lay, half], "· name: Heron Mill"), ([lay, whole], "✓ name: Heron Mill")):
        made = generation(table, [first], splices)
        assert line in plain(document(made))
        assert ("✓" in line) == ("✓" in printed(made, width=80, no_color=True))


@pytest.mark.parametrize("width", [24, 40, 80, 200])
def test_plain_text_keeps_to_its_width(width: int) -> None:
    lines = plain(document(chain(9, 3)), width=width).splitlines()[1:]
    assert max(map(len, lines)) <= width


def test_no_special_token_is_ever_shown() -> None:
    made = document(bakery())
    for view in (plain(made), svg(made), printed(bakery(), width=80, no_color=True)):
        assert not set(view.replace("\x1b[", "")) & {"\x02", "\x03", "\x1a"}


def test_the_terminal_needs_no_color_to_tell_sources_apart() -> None:
    view = printed(bakery(), width=100, no_color=True)
    assert not re.search(r"\x1b\[[\d;]*\b(3[0-7]|9[0-7]|38)\b", view)
    assert "\x1b[1;21mHeron Mill\x1b[0m" in view  # table: double underline
    assert "\x1b[1;4mfriendly\x1b[0m" in view  # neighbor: underline
    assert "\x1b[1;3;4mbut\x1b[0m" in view  # vocabulary: underline and italics
    assert "\x1b[2;9m" in view  # replaced: struck through
    assert "⁽N2⁾" in view
    assert "⁽T⁾" in view
    assert "⁽V⁾" in view


def test_the_environment_can_turn_colors_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    out = StringIO()
    Console(file=out, force_terminal=True, width=80).print(terminal(document(bakery())))
    assert "\x1b[1;21mHeron Mill" in out.getvalue()


def test_the_terminal_with_color_has_a_color_for_each_kind() -> None:
    view = printed(bakery(), width=100, no_color=False)
    assert "\x1b[1;4;34mfriendly\x1b[0m" in view
    assert re.search(r"\x1b\[1;21;38;5;208mHeron Mill\x1b\[0m", view)


@pytest.mark.parametrize("width", [30, 59, 60, 120])
def test_the_terminal_view_fits_narrow_terminals(width: int) -> None:
    view = re.sub(r"\x1b\[[\d;]*m", "", printed(chain(6, 2), width=width, no_color=True))
    assert max(map(len, view.splitlines())) <= width


def test_the_figure_has_a_solid_box_a_source_and_a_dotted_box_a_canvas() -> None:
    root = ET.fromstring(svg(document(bakery())))
    boxes = [rect for rect in root.iter(f"{SVG}rect") if rect.get("rx") == "7"]
    dotted = [box for box in boxes if box.get("stroke-dasharray")]
    solid = [box.get("stroke") for box in boxes if not box.get("stroke-dasharray")]
    assert len(dotted) == 7
    assert sorted(solid) == ["#1a6b35", "#1b1d21", "#1d4f9c", "#1d4f9c", "#9a4a06"]


def test_the_figure_draws_a_line_a_splice_a_caret_an_insertion_a_strike_a_replacement() -> None:
    picture = svg(document(bakery()))
    assert len(re.findall(r'<path d="M[\d. ]+H[\d.]+C', picture)) == 7
    assert len(re.findall(r'<path d="M[\d. ]+L[\d. ]+L', picture)) == 3
    assert len(re.findall(r'<path d="M[\d. ]+H[\d.]+" stroke="#1b1d21"', picture)) == 4


@pytest.mark.parametrize("splices", [1, 2, 7, 16])
@pytest.mark.parametrize("neighbors", [1, 3, 5])
def test_figures_of_all_sizes_keep_every_word_inside_its_box(splices: int, neighbors: int) -> None:
    made = document(chain(splices, neighbors))
    steps = frames(made)
    for box in [*canvas_boxes(made, steps, 500, 400), *source_boxes(made, steps, 0, 300)]:
        for place in box.placed:
            assert place.x >= 0
            assert place.x + place.width <= box.width - 20 + 1e-6
    picture = svg(made)
    assert len(re.findall(r'<path d="M[\d. ]+H[\d.]+C', picture)) == splices
    root = ET.fromstring(picture)
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for rect in root.iter(f"{SVG}rect"):
        assert float(rect.get("x", 0)) + float(rect.get("width", 0)) <= width
        assert float(rect.get("y", 0)) + float(rect.get("height", 0)) <= height


def test_source_boxes_never_overlap() -> None:
    root = ET.fromstring(svg(document(chain(16, 5))))
    boxes = [r for r in root.iter(f"{SVG}rect") if r.get("rx") == "7" and r.get("x") == "16"]
    spans = sorted((float(r.get("y", 0)), float(r.get("height", 0))) for r in boxes)
    assert len(spans) == 6
    for (y, height), (below, _) in pairwise(spans):
        assert y + height < below


def test_the_text_of_a_figure_can_be_copied_whole() -> None:
    root = ET.fromstring(svg(document(bakery())))
    text = " ".join("".join(line.itertext()) for line in root.iter(f"{SVG}text"))
    assert bakery().text in text


def test_the_same_derivation_makes_the_same_figure() -> None:
    assert svg(document(chain(16, 5))) == svg(document(chain(16, 5)))


# Any character that may stand in XML and that the tokeniser keeps.
CHARACTERS = st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp", "Cn", "Co", "Cf"])
VALUES = st.lists(st.text(CHARACTERS, min_size=1, max_size=9), min_size=1, max_size=4).map(" ".join)


@settings(max_examples=60)
@given(value=VALUES, text=VALUES)
def test_figures_of_any_text_are_well_formed_and_say_it(value: str, text: str) -> None:
    offered = neighbor("n<1>&", text)
    last = len(offered.tokens) - 1
    made = generation({"name": value}, [offered], [Splice(0, 0, 1, 0, last + 1)])
    root = ET.fromstring(svg(document(made)))
    assert root.findtext(f"{SVG}title") == made.text
    lines = ["".join(line.itertext()) for line in root.iter(f"{SVG}text")]
    assert "".join(made.text.split()) in "".join("".join(lines).split())
    assert plain(document(made)).splitlines()[0] == made.text


@given(
    words=st.lists(st.tuples(st.text("abiW ,漢é", min_size=1, max_size=30), st.booleans()), max_size=30),
    width=st.floats(30, 400),
)
def test_lines_never_overflow_nor_lose_words(words: list[tuple[str, bool]], width: float) -> None:
    placed = lay([(text, spaced, 0.0) for text, spaced in words], width, 14)
    assert len(placed) == len(words)
    assert all(place.x + place.width <= width + 1e-6 for place in placed)
    assert [place.line for place in placed] == sorted(place.line for place in placed)


def test_a_comma_never_starts_a_line() -> None:
    words = [("morning", True, 0.0), ("morning", True, 0.0), (",", False, 0.0)]
    exactly_two = 2 * text_width("morning", 14) + text_width(" ", 14) + 1
    assert [place.line for place in lay(words, exactly_two, 14)] == [0, 1, 1]


def luminance(color: str) -> float:
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_word_of_the_figure_can_be_read_in_light_and_dark(dark: bool) -> None:
    def shown(color: str) -> str:
        return DARK[color] if dark else color

    for ink in INKS.values():
        for words, ground in ((TEXT, ink.fill), (TEXT, ink.span), (ink.line, PAPER), (PAPER, ink.line)):
            assert contrast(shown(words), shown(ground)) >= 4.5
        assert contrast(shown(MUTED), shown(ink.fill)) >= 4.5
        assert contrast(shown(ink.line), shown(ink.fill)) >= 4.5
    for words in (TEXT, MUTED, STRUCK):
        assert contrast(shown(words), shown(PAPER)) >= 4.5
    assert contrast(shown(MASKED), shown(PAPER)) >= 1.5


def test_every_color_of_the_figure_has_a_dark_one() -> None:
    roots = [ET.fromstring(svg(document(made))) for made in (bakery(), traced_bakery())]
    elements = [element for root in roots for element in root.iter()]
    used = {value for element in elements for name in ("fill", "stroke") if (value := element.get(name))}
    assert used - {"none"} == set(DARK)
    style = roots[1].find(f"{SVG}style")
    assert style is not None
    assert style.text is not None
    assert style.text.startswith("@media (prefers-color-scheme: dark){")
    assert all(f'[fill="{light}"]{{fill:{dark}}}' in style.text for light, dark in DARK.items())


def test_the_terminal_view_as_text_has_the_same_words() -> None:
    view = re.sub(r"\x1b\[[\d;]*m", "", ansi(document(bakery()), width=100))
    assert view == re.sub(r"\x1b\[[\d;]*m", "", printed(bakery(), width=100, no_color=True))
