"""Views of a trace: what stands in no source is seen at a glance, without color too."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from report_examples import bakery, traced_bakery
from textsplice.report.document import document
from textsplice.report.overview import write_report
from textsplice.report.page import html, player
from textsplice.report.plain import coverage, plain
from textsplice.report.svg import INKS, svg
from textsplice.report.terminal import ansi
from textsplice.search.generation import Generation
from textsplice.search.rows import row_text
from textsplice.search.traced import Certificate


def quoted(row: Generation) -> list[str]:
    return [row.text[gap.start : gap.stop] for gap in row.gaps]


def test_the_example_has_gaps() -> None:
    assert quoted(traced_bakery()) == ["an award-winning", ",", "visitors", "grumpy 😀"]


def test_what_is_covered_and_proved_is_said_in_words() -> None:
    row = traced_bakery()
    made = document(row)
    assert coverage(made) == (
        "60.0 % of 20 words and marks have a source; 4 gaps. "
        "No derivation from all 3 texts has fewer splices: proved."
    )
    assert coverage(document(bakery())) == ""


def test_a_text_with_a_gap_is_never_covered_whole() -> None:
    row = traced_bakery()
    assert row.traced is not None
    almost = replace(row, traced=replace(row.traced, covered=0.99999))
    # Not `document`, which would refuse it.
    assert coverage(replace(document(row), generation=almost)).startswith("99.9 % of 20 words")


def test_a_fast_trace_is_not_called_proved() -> None:
    row = traced_bakery()
    assert row.traced is not None
    fast = replace(row, traced=replace(row.traced, certificate=Certificate(9, 3, False)))
    assert coverage(document(fast)).endswith("Fewest splices over the 3 texts looked at, of 9: not proved.")


def test_plain_text_lists_gaps_with_their_characters() -> None:
    row = traced_bakery()
    text = plain(document(row))
    assert text.splitlines()[0] == row.text
    for gap in row.gaps:
        told = f"∅ {gap.start}-{gap.stop} “{row.text[gap.start : gap.stop]}” stands in no source"
        assert told in text
    assert "vocabulary" not in text
    assert coverage(document(row)).split(".")[0] in text


def test_the_terminal_marks_gaps_without_color() -> None:
    row = traced_bakery()
    view = ansi(document(row), width=300)
    bare = re.sub(r"\x1b\[[\d;]*m", "", view)
    first = bare.splitlines()[0]
    assert "an award-winning⁽∅⁾" in first
    assert "grumpy 😀⁽∅⁾" in first
    assert re.search(r"\x1b\[1;7[\d;]*man award-winning", view)  # reversed, whatever the color
    assert "stands in no source ∅" in bare
    assert "vocabulary" not in bare
    # The text has the spaces that its writer gave it.
    assert re.sub("⁽∅⁾", "", first).strip() == row.text


def test_the_figure_marks_gaps_by_a_wave_a_tint_and_a_sign() -> None:
    row = traced_bakery()
    figure = svg(document(row))
    root = ET.fromstring(figure)
    assert "∅ stands in no source" in figure
    assert "vocabulary" not in figure
    label = root.get("aria-label")
    assert label is not None
    assert label.endswith("has fewer splices: proved.")
    ink = INKS["gap"]
    waves = [e for e in root.iter() if e.get("stroke") == ink.line and "L" in (e.get("d") or "")]
    assert len(waves) >= len(row.gaps)
    signs = [e for e in root.iter() if e.text == "∅"]
    assert len(signs) == len(row.gaps)
    assert INKS["gap"].line not in svg(document(bakery()))


def test_the_page_has_the_legend_of_what_it_shows() -> None:
    traced, made = document(traced_bakery()), document(bakery())

    def legend(page: str) -> str:
        return page[page.index('<ul class="legend"') : page.index("</ul>")]

    assert "stands in no source" in legend(html(traced))
    assert "vocabulary" not in legend(html(traced))
    assert "stands in no source" not in legend(html(made))
    both = legend(player([traced, made]))
    assert "stands in no source" in both
    assert "vocabulary" in both


def test_a_report_of_traces_counts_gaps(tmp_path: Path) -> None:
    file = tmp_path / "traces.jsonl"
    file.write_text(row_text(traced_bakery()), encoding="utf-8")
    page = write_report(file).read_text(encoding="utf-8")
    assert "<b>4</b><span>gaps: in no source</span>" in page
    assert "<b>1</b><span>proved least</span>" in page
    assert "of words have a source" in page
    assert "slot errors" not in page


@pytest.mark.parametrize("table", [None, {"name": "Larch House", "kind": "tavern"}])
def test_every_view_takes_a_trace_with_and_without_a_record(table: dict[str, str] | None) -> None:
    made = document(traced_bakery(table))
    for view in (plain, ansi, svg, html):
        assert "station" in view(made)


def test_a_page_of_a_thousand_tokens_is_not_huge() -> None:
    words = " ".join(f"tavern near zq{n} the station," for n in range(166))
    made = document(traced_bakery(text=words))
    assert len(made.generation.tokens) == 996
    page = html(made)
    assert len(page.encode()) < 3_000_000
    data = page.split('id="derivation-data">')[1].split("</script>")[0]
    assert len(json.loads(data)["derivations"]) == 1
