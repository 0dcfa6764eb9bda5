"""The player and the report as files: escaped, the same every time, small, and clear about bad input."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from report_examples import BEST, MASKED, TABLE, bakery, chain, generation, neighbor, write_run
from textsplice.cli.report import register
from textsplice.errors import InputError
from textsplice.oracle.splice import Splice
from textsplice.report.curve import Point, learning_curve
from textsplice.report.document import document
from textsplice.report.notebook import notebook, show
from textsplice.report.overview import report_html, write_report
from textsplice.report.page import player
from textsplice.report.plain import plain
from textsplice.search.doubts import Doubt
from textsplice.search.generation import Generation
from textsplice.slots.check import check_slots
from textsplice.slots.lexicon import Lexicon

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><b>",
    "<!--",
    "&amp;",
    "'",
]


class Visible(HTMLParser):
    """What a browser shows without scripts, and what it hands to the script."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.stills: list[str] = []
        self.title = ""
        self.data = ""
        self._inside = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._inside = "json" if ("id", "derivation-data") in attrs else tag
        if tag == "pre":
            self.stills.append("")

    def handle_endtag(self, tag: str) -> None:
        del tag
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "pre":
            self.stills[-1] += data
        elif self._inside == "json":
            self.data += data
        elif self._inside == "title":
            self.title += data


CHARACTERS = st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"])
WORDS = st.one_of(st.sampled_from(HOSTILE), st.text(CHARACTERS, min_size=1, max_size=9))
TEXTS = st.lists(WORDS, min_size=1, max_size=5).map(" ".join)


@settings(max_examples=80)
@given(field=WORDS, value=TEXTS, offered=TEXTS, name=WORDS)
def test_whatever_is_written_in_tables_and_texts_is_shown_and_never_run(
    field: str, value: str, offered: str, name: str
) -> None:
    source = neighbor(name, offered)
    made = generation({field: value}, [source], [Splice(0, 0, 1, 0, len(source.tokens))], example_id=name)
    page = player([document(made)], title=name)
    seen = Visible(page)
    assert seen.tags == Visible(player([document(bakery())])).tags
    assert seen.title == name
    assert seen.stills == [plain(document(made), canvases=False)]
    data = json.loads(seen.data)
    (shown,) = data["derivations"]
    assert shown["text"] == made.text
    assert shown["id"] == name
    assert [cell["value"] for cell in shown["cells"]] in ([value], [""])
    assert data["neighbors"][0]["id"] == name
    assert data["neighbors"][0]["text"] == offered
    assert "".join(data["neighbors"][0]["tokens"][1:-1]) == made.text


def test_a_lone_surrogate_does_not_stop_the_page() -> None:
    made = generation({"name": "a\ud800b"}, [neighbor("n", "fine")], [Splice(0, 0, 1, 0, 3)])
    player([document(made)]).encode("utf-8")


def test_the_page_is_the_same_bytes_every_time(tmp_path: Path) -> None:
    documents = [document(chain(n, 3)) for n in (1, 5, 16)]
    assert player(documents) == player(documents)
    run = write_run(tmp_path / "walks", [bakery(), chain(4, 2)])
    assert report_html(run) == report_html(run)


def test_the_page_names_no_other_place() -> None:
    page = player([document(bakery())])
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
    assert "src=" not in page
    assert "default-src &#x27;none&#x27;" in page


def test_a_report_of_two_hundred_derivations_is_under_three_megabytes(tmp_path: Path) -> None:
    rows = [bakery(f"walk {n}") for n in range(200)]
    for n, row in enumerate(rows):
        # Twenty neighbors each, as a run offers, and no two the same; the vocabulary's word moves up.
        extra = [neighbor(f"walk-{n}-{m}", BEST * 2, MASKED[BEST]) for m in range(17)]
        splices = [*row.splices[:-1], Splice(6, 6, 1 + 20 + 7, 0, 1)]
        rows[n] = generation(
            row.table.to_record(),
            [*row.sources.neighbors, *extra],
            splices,
            words={7: "but" * (n + 1)},  # no two texts the same
            example_id=f"walk {n}",
        )
    page = report_html(write_run(tmp_path / "walks", rows), derivations=200)
    assert len(json.loads(Visible(page).data)["derivations"]) == 200
    assert len(page.encode()) < 3_000_000


def test_a_report_shows_all_that_a_run_left(tmp_path: Path) -> None:
    run = write_run(
        tmp_path / "walks", [bakery("d0"), *(chain(n, 2, example_id=f"c{n}") for n in range(1, 9))]
    )
    path = write_report(run)
    assert path == run / "report.html"
    page = path.read_text(encoding="utf-8")
    assert "<title>walks · textsplice</title>" in page
    assert "BLEU|refs:1-4|case:lower|tok:13a|data:walks/dev@77aa|version:e2e-metrics" in page
    assert '<td class="number">66.12</td>' in page
    assert "least validation loss 3.603 at step 3,000" in page
    assert '<th scope="row">max_steps</th><td>3000</td>' in page
    assert 'data-open="d0">d0</a> <span class="errors">price (cheap) is missing</span>' in page
    assert "values as written" in page
    assert "All 9." in page


def numbered(n: int) -> Generation:
    offered = [neighbor("n", f"Heron Mill is bakery number {n}.")]
    return generation(TABLE, offered, [Splice(0, 0, 1, 0, 9)], example_id=f"d{n:02}")


def test_twenty_derivations_are_spread_over_the_file_and_the_worst_follow(tmp_path: Path) -> None:
    silent = generation(TABLE, [neighbor("n", "A quiet place.")], [Splice(0, 0, 1, 0, 6)], example_id="worst")
    run = write_run(tmp_path / "walks", [*(numbered(n) for n in range(99)), silent])
    page = report_html(run)
    shown: list[Any] = json.loads(Visible(page).data)["derivations"]
    ids = [row["id"] for row in shown]
    assert ids[:20] == [f"d{n:02}" for n in range(0, 99, 5)]
    assert ids[20:] == ["worst", *(f"d{n:02}" for n in (1, 2, 3, 4, 6, 7, 8))]
    assert shown[20]["note"].startswith("name (Heron Mill) is missing; kind (bakery) is missing")
    told = "28 of 100, each text once: evenly spaced through the file, so nobody picked them, and last those"
    assert told in page


def test_the_same_text_is_shown_once(tmp_path: Path) -> None:
    run = write_run(tmp_path / "walks", [bakery("d0"), numbered(1), bakery("d2")])
    shown: list[Any] = json.loads(Visible(report_html(run)).data)["derivations"]
    assert [row["id"] for row in shown] == ["d0", "d01"]


def test_values_are_marked_as_the_checker_counts_them(tmp_path: Path) -> None:
    run = write_run(tmp_path / "walks", [numbered(0)])
    row = numbered(0)
    lexicon = tmp_path / "mine.toml"
    lexicon.write_text(
        '[kind]\nverbatim = false\n[kind.wordings]\nbakery = ["number"]\ntavern = ["no such words"]\n'
        '[near]\nverbatim = false\n[near.wordings]\n"the old canal lock" = ["no such words"]\n'
        '[dish]\nkind = "worded"\nverbatim = false\n[price]\nkind = "unsaid"\n'
        '[family]\nverbatim = false\n[family.wordings]\nyes = ["is"]\n'
    )
    shown: list[Any] = json.loads(Visible(report_html(run, lexicon=str(lexicon))).data)["derivations"]
    marks = {cell["field"]: cell.get("mark") for cell in shown[0]["cells"]}
    checked = check_slots(row.text, row.table, Lexicon.load(lexicon))
    assert {slot.field: slot.status for slot in checked.slots} == {
        "name": "ok",
        "kind": "ok",
        "dish": "unchecked",
        "near": "missing",
        "family": "added",
    }
    assert marks["name"] == marks["kind"] == ["✓", "said"]
    assert marks["near"] == ["✗", "missing"]
    assert marks["dish"] == ["?", "unchecked: no wording is known"]
    assert marks["price"] == ["·", "not looked for"]
    assert marks["family"] == ["✗", "said to be yes"]
    assert (
        "mark" not in json.loads(Visible(report_html(run, lexicon="none")).data)["derivations"][0]["cells"][0]
    )


def test_doubtful_texts_come_first_with_their_reasons(tmp_path: Path) -> None:
    doubt = Doubt("value", "no record of the store has 'purple' as its <b>colour")
    odd = numbered(7).with_doubts((doubt, Doubt("seam", "nobody wrote that", 0, 5)))
    page = report_html(write_run(tmp_path / "walks", [*map(numbered, range(5)), odd, numbered(8)]))
    shown: list[Any] = json.loads(Visible(page).data)["derivations"]
    assert [row["id"] for row in shown] == ["d07", *(f"d{n:02}" for n in (*range(5), 8))]
    assert shown[0]["status"] == "doubtful"
    assert page.index('id="doubtful"') < page.index('id="derivations"')
    assert "no record of the store has &#x27;purple&#x27; as its &lt;b&gt;colour; nobody wrote that" in page
    assert "<b>1</b><span>doubtful</span>" in page


def test_scores_of_another_shape_are_refused(tmp_path: Path) -> None:
    run = write_run(tmp_path / "walks", [bakery()])
    (run / "dev.scores.json").write_text('{"systems": [{"scores": [{"metric": "BLEU"}]}]}')
    with pytest.raises(InputError, match="these are not scores as `textsplice evaluate --json` prints them"):
        report_html(run)


def test_a_file_of_generations_is_reported_beside_itself(tmp_path: Path) -> None:
    run = write_run(tmp_path / "walks", [bakery()], scored=False)
    out = CliRunner().invoke(_app(), [str(run / "dev.jsonl")])
    assert out.stdout.strip() == str(run / "report.html")
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "No scores yet" in page
    assert "<title>dev.jsonl · textsplice</title>" in page


def test_a_run_without_generations_still_has_a_report(tmp_path: Path) -> None:
    run = write_run(tmp_path / "walks", [bakery()], scored=False)
    (run / "dev.jsonl").unlink()
    assert "None yet: make some with `textsplice generate`" in report_html(run)


def test_a_journal_with_an_unfinished_last_line_is_read(tmp_path: Path) -> None:
    run = write_run(tmp_path / "walks", [bakery()])
    with (run / "train.jsonl").open("a") as journal:
        journal.write('{"kind": "validation", "st')
    assert "least validation loss 3.603" in report_html(run)


def test_bad_input_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such run or file"):
        write_report(tmp_path / "nowhere")
    with pytest.raises(InputError, match="this folder is not a run and has no generations"):
        write_report(tmp_path)
    run = write_run(tmp_path / "walks", [bakery()])
    rows = (run / "dev.jsonl").read_text(encoding="utf-8")
    (run / "dev.jsonl").write_text(rows.replace("quiet", "lively", 1), encoding="utf-8")
    with pytest.raises(InputError, match=r"dev\.jsonl:1: this derivation was changed after it was made"):
        write_report(run)
    (run / "dev.jsonl").write_text(rows + "{\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"dev\.jsonl:2: is not JSON"):
        write_report(run)
    assert not (run / "report.html").exists()


def test_a_curve_of_one_point_or_none_is_no_accident() -> None:
    assert learning_curve([], []) == ""
    assert 'aria-label="Learning curve: training loss from 2.50 to 2.50."' in learning_curve(
        [Point(1, 2.5)], []
    )


def test_a_notebook_shows_the_player_in_a_frame_of_its_own() -> None:
    frame = notebook(bakery().to_dict())
    assert frame.startswith('<iframe title="Derivation of d1" sandbox="allow-scripts"')
    inner: list[str | None] = []

    class Frame(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert tag == "iframe"
            inner.append(dict(attrs)["srcdoc"])

    Frame().feed(frame)
    assert inner == [player([document(bakery())], title="d1")]


def test_show_prints_plain_text_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    show(bakery().to_dict())
    assert capsys.readouterr().out == plain(document(bakery()))


def _app() -> typer.Typer:
    app = typer.Typer()
    register(app)
    return app
