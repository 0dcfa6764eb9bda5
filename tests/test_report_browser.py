"""The player and the report in a real Chromium.

Screenshots for a person to look at go to `$TEXTSPLICE_SCREENSHOTS`, or to pytest's temporary folder.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Page, sync_playwright

from report_examples import bakery, chain, generation, neighbor, traced_bakery, write_run
from textsplice.oracle.splice import Splice, replay
from textsplice.report.document import document
from textsplice.report.notebook import notebook
from textsplice.report.overview import write_report
from textsplice.report.page import player
from textsplice.report.plain import coverage
from textsplice.text.tokens import BEGIN, END

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")

QUIET = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"]
HOSTILE = '"><img src=x onerror=alert(1)> <script>alert(2)</script> &lt;'


@dataclass
class Watched:
    """A page, and everything it said or asked for that it should not have."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, path: Path) -> Page:
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        return self.page


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        try:
            launched = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        except Error as error:
            pytest.skip(f"Chromium does not start here: {error}")
        yield launched
        launched.close()


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1440, "height": 1000}, reduced_motion="reduce")
    result = Watched(context.new_page())
    yield result
    context.close()
    assert result.complaints == []
    assert [url for url in result.requests if not url.startswith("file://")] == []
    assert len(set(result.requests)) == 1


@pytest.fixture
def screenshots(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("TEXTSPLICE_SCREENSHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def one(tmp_path: Path) -> Path:
    path = tmp_path / "one.html"
    path.write_text(player([document(bakery())], title="One derivation"), encoding="utf-8")
    return path


@pytest.fixture
def many(tmp_path: Path) -> Path:
    rows = [bakery("bakery"), *(chain(n, 1 + n % 5, example_id=f"route-{n}") for n in range(1, 17))]
    path = tmp_path / "many.html"
    path.write_text(player([document(row) for row in rows], title="Derivations"), encoding="utf-8")
    return path


def canvas_text(page: Page) -> str:
    """The canvas without what was struck out, tags and carets."""
    return page.evaluate(
        """() => {
          const copy = document.querySelector(".stage .canvas").cloneNode(true);
          for (const extra of copy.querySelectorAll("s, .tag, .caret, .empty")) extra.remove();
          return copy.textContent.replace(/\\s+/g, " ").trim();
        }"""
    )


def test_arrow_keys_step_through_the_same_canvases_that_replay_makes(watched: Watched, one: Path) -> None:
    page = watched.open(one)
    made = document(bakery())
    assert canvas_text(page) == made.generation.text
    page.keyboard.press("Home")
    assert page.inner_text(".said") == "The canvas is empty."
    for step in range(1, len(made.steps) + 1):
        page.keyboard.press("ArrowRight")
        tokens = replay(made.generation.splices[:step], made.sources)
        letters = "".join(token for token in tokens if token not in (BEGIN, END)).replace("\x1a", "▁▁")
        assert canvas_text(page).replace(" ", "") == letters.replace(" ", "")
        assert page.inner_text(".said b") == f"Step {step} of 7"
    page.keyboard.press("ArrowLeft")
    assert page.inner_text(".said b") == "Step 6 of 7"
    page.keyboard.press("End")
    assert page.inner_text(".said") == "Finished after 7 splices."
    assert page.is_disabled("button[aria-label='Next step']")


def test_a_step_shows_what_was_replaced_and_where_a_span_went_in(watched: Watched, one: Path) -> None:
    page = watched.open(one)
    page.keyboard.press("Home")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    assert page.inner_text(".stage .canvas s") == "the ▁▁"
    assert page.inner_text(".stage .canvas .new") == "the old canal lock"
    assert page.locator(".stage .canvas .caret").count() == 0
    assert page.locator(".thread path").count() == 1
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.inner_text(".stage .canvas .new") == "friendly"
    assert page.inner_text(".stage .canvas .caret") == "‸"
    assert page.inner_text(".about mark") == "friendly"


def test_the_scrubber_and_the_list_of_steps_lead_to_a_canvas(watched: Watched, one: Path) -> None:
    page = watched.open(one)
    page.fill("input[type=range]", "2")
    assert page.inner_text(".said b") == "Step 2 of 7"
    page.focus("input[type=range]")
    page.keyboard.press("ArrowRight")
    assert page.inner_text(".said b") == "Step 3 of 7"
    page.click(".steps li:nth-child(6) button")
    assert page.inner_text(".said b") == "Step 6 of 7"
    assert page.get_attribute(".steps li:nth-child(6) button", "aria-current") == "step"


def test_play_goes_from_the_empty_canvas_to_the_text(watched: Watched, one: Path) -> None:
    page = watched.open(one)
    page.click("button[aria-label=Play]")
    assert page.inner_text(".said") == "The canvas is empty."
    page.wait_for_selector(".said b >> text=Step 1 of 7")
    page.click("button[aria-label=Pause]")
    assert page.locator("button[aria-label=Play]").count() == 1


def test_pointing_at_a_word_or_focusing_it_shows_its_source_in_context(watched: Watched, one: Path) -> None:
    page = watched.open(one)
    page.hover(".stage .canvas .word >> text=friendly")
    assert page.inner_text(".about").startswith("Step 6, from neighbor 2 (walk-204): ")
    assert page.inner_text(".about mark") == "friendly"
    assert page.inner_text(".source .lit") == "friendly"
    page.mouse.move(0, 0)
    assert page.inner_text(".about").startswith("Point at a word")
    page.focus(".stage .canvas .word >> text=canal")
    assert page.inner_text(".about mark") == "canal"
    assert page.inner_text(".about").startswith("Step 4, from table · near: ")


def test_cells_tick_off_as_they_are_used(watched: Watched, one: Path) -> None:
    page = watched.open(one)

    def ticks() -> str:
        return "".join(page.locator(".cells .tick").all_inner_texts())

    page.keyboard.press("Home")
    seen = [ticks()]
    for _ in range(5):
        page.keyboard.press("ArrowRight")
        seen.append(ticks())
    assert seen == ["······", "······", "✓·····", "✓✓····", "✓✓·✓··", "✓✓✓✓··"]


def test_neighbors_that_were_not_used_are_greyed(watched: Watched, one: Path) -> None:
    page = watched.open(one)
    assert page.locator(".source.unused .id").all_inner_texts() == ["walk-88"]
    assert page.inner_text("details.unused summary") == "1 offered and not used"


def test_the_filter_finds_words_ids_and_values(watched: Watched, many: Path) -> None:
    page = watched.open(many)
    page.fill("input[type=search]", "route-1 harbour")
    visible = page.locator(".examples li:not([hidden]) .id").all_inner_texts()
    assert visible == ["route-1", *(f"route-{n}" for n in range(10, 17))]
    assert page.inner_text(".count") == "8 of 17 examples"
    page.click(".examples li:not([hidden]) button >> nth=1")
    assert page.inner_text(".facts b") == "route-10"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.inner_text(".facts b") == "route-11"
    page.fill("input[type=search]", "friendly")
    assert page.inner_text(".count") == "1 of 17 examples"
    page.fill("input[type=search]", "no such words")
    assert page.inner_text(".count") == "0 of 17 examples"


def test_dark_and_light_follow_the_system_and_the_button(watched: Watched, one: Path) -> None:
    page = watched.open(one)

    def background() -> str:
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert background() == "rgb(250, 249, 246)"
    page.emulate_media(color_scheme="dark")
    assert background() == "rgb(19, 21, 25)"
    # The change is told to the page a moment after its colors have followed.
    page.wait_for_selector('#theme[aria-pressed="true"]')
    page.click("#theme")
    page.wait_for_selector('#theme[aria-pressed="false"]')
    assert background() == "rgb(250, 249, 246)"


# Every element with text of its own, the contrast of its color with what is painted behind it, composed.
CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parse = (color) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, bottom) => [0, 1, 2].map((n) => top[n] * top[3] + bottom[n] * (1 - top[3]));
  const behind = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) layers.push(parse(getComputedStyle(e).backgroundColor));
    return layers.reverse().reduce((under, layer) => over(layer, under), [255, 255, 255]);
  };
  const light = (color) => {
    const linear = (c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = color.map((c) => linear(c / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const poor = [];
  for (const element of document.querySelectorAll("body *")) {
    if (!element.checkVisibility() || element.closest("noscript, script, :disabled")) continue;
    if (element.matches(".mask")) continue; // a box, not text
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own) continue;
    const paint = behind(element);
    const style = getComputedStyle(element);
    const ink = over(parse(element instanceof SVGElement ? style.fill : style.color), paint);
    const [a, b] = [light(ink), light(paint)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) poor.push(`${ratio.toFixed(2)} ${element.outerHTML.slice(0, 80)}`);
  }
  return poor;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_a_contrast_of_four_and_a_half(watched: Watched, tmp_path: Path, scheme: str) -> None:
    run = write_run(tmp_path / "walks", [bakery("d0"), chain(7, 3, example_id="d1"), bakery("d2")])
    page = watched.open(write_report(run))
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    assert page.evaluate(CONTRAST) == []
    page.keyboard.press("Home")
    for _ in range(7):
        page.keyboard.press("ArrowRight")
        assert page.evaluate(CONTRAST) == []


def test_controls_have_names_and_roles_and_focus_can_be_seen(watched: Watched, many: Path) -> None:
    page = watched.open(many)
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, input, [tabindex='0'], section, nav, [role=group]")]
          .filter((e) => !(e.getAttribute("aria-label") || e.textContent.trim()))
          .map((e) => e.outerHTML.slice(0, 80))"""
    )
    assert nameless == []
    assert page.evaluate("document.documentElement.lang") == "en"
    assert page.evaluate("document.querySelectorAll('h1').length") == 1
    assert page.get_by_role("slider", name="Step").count() == 1
    assert page.get_by_role("searchbox", name="Filter examples").count() == 1
    assert page.get_by_role("navigation", name="Examples").count() == 1
    assert page.get_by_role("list", name="Legend").is_visible()
    for _ in range(30):
        page.keyboard.press("Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement).outline")
        assert outline == "rgb(29, 79, 156) solid 2px", page.evaluate("document.activeElement.outerHTML")


def test_the_legend_stays_in_view(watched: Watched, many: Path) -> None:
    page = watched.open(many)
    page.set_viewport_size({"width": 360, "height": 640})
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    box = page.locator(".legend").bounding_box()
    assert box is not None
    assert 0 <= box["y"] < 100


@pytest.mark.parametrize("width", [360, 1440])
def test_player_and_report_fit_phones_and_desks(
    watched: Watched, tmp_path: Path, screenshots: Path, width: int
) -> None:
    rows = [bakery("walk-1"), *(chain(n, 1 + n % 5, example_id=f"route-{n}") for n in range(1, 30))]
    page = watched.open(write_report(write_run(tmp_path / "walks", rows)))
    page.set_viewport_size({"width": width, "height": 900})

    def overflow() -> int:
        return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")

    assert overflow() == 0
    page.screenshot(path=screenshots / f"report-{width}.png", full_page=True)
    page.emulate_media(color_scheme="dark")
    page.screenshot(path=screenshots / f"report-{width}-dark.png", full_page=True)
    page.emulate_media(color_scheme="light")
    page.locator("#player").scroll_into_view_if_needed()
    page.keyboard.press("Home")
    for step in range(1, 8):
        page.keyboard.press("ArrowRight")
        assert overflow() == 0
        if step in (4, 6):
            page.locator("#player").screenshot(path=screenshots / f"player-{width}-step{step}.png")
    page.keyboard.press("End")
    page.locator("#player").screenshot(path=screenshots / f"player-{width}.png")


def test_a_word_of_a_thousand_letters_does_not_widen_a_phones_page(watched: Watched, tmp_path: Path) -> None:
    long = "Llanfair" * 125
    made = generation({long: long}, [neighbor(long, f"{long} is long.")], [Splice(0, 0, 1, 0, 6)])
    path = tmp_path / "long.html"
    path.write_text(player([document(made)], title=long), encoding="utf-8")
    page = watched.open(path)
    page.set_viewport_size({"width": 360, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_hostile_values_are_text_in_every_corner_of_the_page(watched: Watched, tmp_path: Path) -> None:
    source = neighbor(HOSTILE, HOSTILE)
    inside = len(source.tokens)
    made = [
        generation({HOSTILE: HOSTILE}, [source], [Splice(0, 0, 1, 0, inside)], example_id=HOSTILE),
        bakery(),
    ]
    path = tmp_path / "hostile.html"
    path.write_text(player([document(m) for m in made], title=HOSTILE), encoding="utf-8")
    page = watched.open(path)
    assert page.inner_text("h1") == HOSTILE
    assert canvas_text(page) == made[0].text
    assert page.text_content(".facts b") == HOSTILE
    assert page.inner_text(".cells th") == HOSTILE
    assert page.text_content(".written") == f"as written: {HOSTILE}"
    page.keyboard.press("ArrowLeft")
    page.fill("input[type=search]", HOSTILE)
    assert page.locator("img, iframe, object, embed, link").count() == 0
    assert page.locator("script").count() == 2


def test_paper_shows_every_canvas_and_no_controls(watched: Watched, one: Path) -> None:
    page = watched.open(one)
    page.emulate_media(media="print")
    assert page.locator(".steps .canvas:visible").count() == 7
    assert page.locator(".final:visible").count() == 1
    assert page.locator(".controls:visible, #theme:visible").count() == 0
    assert page.locator(".legend").is_visible()


def test_a_report_of_two_hundred_derivations_opens_in_under_two_seconds(
    watched: Watched, tmp_path: Path
) -> None:
    rows = [chain(1 + n % 16, 1 + n // 16, example_id=f"route-{n}") for n in range(200)]
    report = write_report(write_run(tmp_path / "walks", rows), derivations=200)
    assert report.stat().st_size < 3_000_000
    page = watched.open(report)
    seconds: list[float] = []
    for _ in range(3):  # the best of three: other programs may have the machine
        started = time.perf_counter()
        page.goto(report.as_uri())
        page.wait_for_selector(".stage .canvas .word")
        seconds.append(time.perf_counter() - started)
    assert min(seconds) < 2.0
    print(f"opened in {min(seconds):.2f} s, {report.stat().st_size / 1e6:.2f} MB")
    shown = len({row.text for row in rows})
    assert page.inner_text(".count") == f"{shown} of {shown} examples"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_gaps_of_a_trace_are_seen_at_a_glance(
    watched: Watched, tmp_path: Path, screenshots: Path, scheme: str, width: int
) -> None:
    row = traced_bakery()
    path = tmp_path / "trace.html"
    path.write_text(player([document(row)], title="A trace"), encoding="utf-8")
    page = watched.open(path)
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.screenshot(path=screenshots / f"trace-{width}-{scheme}.png")
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    assert canvas_text(page) == row.text  # with the spaces that its writer gave it
    gaps = page.locator(".stage .canvas .run.gap")
    assert gaps.all_inner_texts() == [row.text[gap.start : gap.stop] for gap in row.gaps]
    style = gaps.first.evaluate(
        "e => [getComputedStyle(e).textDecorationStyle, getComputedStyle(e).backgroundImage]"
    )
    assert style[0] == "wavy"
    assert "repeating-linear-gradient" in style[1]
    signs = page.locator(".stage .canvas").get_by_role("img", name="stands in no source")
    assert signs.all_inner_texts() == ["∅"] * len(row.gaps)
    label = gaps.first.locator(".word").first.get_attribute("aria-label")
    assert label == "an, from no source, step 2"
    assert page.inner_text(".coverage") == coverage(document(row))
    assert "score" not in page.inner_text(".facts")
    assert page.evaluate(CONTRAST) == []
    page.keyboard.press("Home")
    for _ in row.splices:
        page.keyboard.press("ArrowRight")
        assert page.evaluate(CONTRAST) == []


def test_a_trace_of_a_thousand_tokens_has_few_elements_until_it_is_printed(
    watched: Watched, tmp_path: Path
) -> None:
    words = " ".join(f"tavern near zq{n} the station," for n in range(166))
    row = traced_bakery(text=words)
    path = tmp_path / "long.html"
    path.write_text(player([document(row)]), encoding="utf-8")
    page = watched.open(path)
    assert canvas_text(page) == row.text
    assert page.evaluate("document.querySelectorAll('*').length") < 10_000
    assert page.locator(".steps .canvas .word").count() == 0
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".steps .canvas .word").count() > 10_000


def test_a_notebooks_frame_plays_too(browser: Browser) -> None:
    page = browser.new_page()
    page.set_content(f"<!doctype html><body>{notebook(bakery().to_dict())}")
    frame = page.frame_locator("iframe")
    frame.locator("button[aria-label='Previous step']").click()
    assert frame.locator(".said b").inner_text() == "Step 7 of 7"
    page.close()
