"""Reports in a real browser: what people see, with mouse, keyboard, screen reader and printer."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sacofa.examples import running_example
from sacofa.kernel.variants import VariantCounts
from sacofa.report import make_internal_report, make_report
from sacofa.report.flow import count_flow
from sacofa.synthesis.margins import Margins

from ..browser import Window, accessibility_faults, open_browser
from .releases import HOSTILE, hospital, large, leaking, of, timed


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for all tests here."""
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def window(browser: Any) -> Window:
    """One window for all tests here."""
    return Window(browser)


@pytest.fixture(scope="module")
def reports() -> tuple[str, ...]:
    """A report of each kind."""
    return (
        make_report(hospital(), title="hospital.xes"),
        make_report(leaking(), title="hospital.xes"),
        make_internal_report(hospital(), running_example(), title="hospital.xes"),
    )


def _open(window: Window, folder: Path, html: str, **look: Any) -> tuple[Any, list[str]]:
    """Open a page from disk; whatever else it asks for is a complaint too."""
    file = folder / "report.html"
    file.write_text(html, encoding="utf-8")
    window.renew(**look)
    window.page.goto(file.as_uri())
    window.complaints.remove(file.as_uri())
    return window.page, window.complaints


def test_variants_can_be_searched_and_more_shown(window: Window, tmp_path: Path) -> None:
    """Rows, their number and the words about them agree with the release."""
    release = of(VariantCounts.of({(f"a{i:03}", "common"): 1000 - i for i in range(140)}))
    page, complaints = _open(window, tmp_path, make_report(release, title="x"))
    rows = page.locator("#variants-body tr")
    assert rows.count() == 25
    assert rows.nth(0).locator("li").all_text_contents() == ["a000", "common"]
    page.get_by_role("button", name="Show more").press("Enter")
    assert rows.count() == 50
    page.get_by_role("searchbox").fill("A07, comm")
    assert rows.count() == 10
    assert "10 of 10 variants" in page.locator("#found").inner_text()
    assert rows.nth(9).locator("td.rank").inner_text() == "80"
    page.get_by_role("searchbox").fill("nothing like it")
    assert rows.count() == 0
    assert complaints == []


def test_variants_are_filtered_sorted_and_chosen(window: Window, tmp_path: Path) -> None:
    """By activity and length; the map shows those that are chosen, and then all again."""
    counts = {("a", "b", "c"): 50, ("a", "c"): 30, ("b", "b", "b", "c"): 20, ("d",): 10}
    release = of(VariantCounts.of(counts))
    page, complaints = _open(window, tmp_path, make_report(release, title="x"))
    rows = page.locator("#variants-body tr")
    page.get_by_label("With activity").select_option("b")
    assert rows.count() == 2
    page.get_by_label("Length from").fill("4")
    assert rows.locator("li").all_text_contents() == ["b", "b", "b", "c"]
    page.get_by_label("Length from").fill("")
    page.get_by_label("Sort").select_option("longest first")
    assert rows.nth(0).locator("li").count() == 4
    page.get_by_role("button", name="Show these on the map").click()
    assert page.locator("#map-words").inner_text().startswith("2 chosen variants, 70 cases.")
    boxes = page.locator("#map-box svg.map g:has(rect.box) title")
    assert sorted(boxes.all_text_contents()) == ["a: 50", "b: 110", "c: 70"]
    page.get_by_role("button", name="Choose none").click()
    assert boxes.count() == 4
    page.get_by_label("With activity").select_option("any")
    page.get_by_role("checkbox", name="Show variant 4 on the map").check()
    assert boxes.all_text_contents() == ["d: 10"]
    page.get_by_role("button", name="Map of all variants").click()
    assert boxes.count() == 4
    assert complaints == []


def test_the_map_follows_its_sliders(window: Window, tmp_path: Path) -> None:
    """Fewer activities, fewer paths; words say what is shown, and all activities hang together."""
    page, complaints = _open(window, tmp_path, make_report(large(200, 9, 9), title="x"))
    activities = page.get_by_role("slider", name="Activities")
    paths = page.get_by_role("slider", name="Paths")
    heads, boxes = page.locator("#map-box polygon.head"), page.locator("#map-box rect.box")
    assert boxes.count() == 9
    paths.focus()
    page.keyboard.press("Home")
    few = heads.count()
    assert boxes.count() == 9
    page.keyboard.press("End")
    assert heads.count() > few
    assert f"{heads.count()} of" in page.locator("#map-words").inner_text()
    activities.focus()
    page.keyboard.press("ArrowLeft")
    assert boxes.count() == 8
    assert "8 of 9 activities" in (activities.get_attribute("aria-valuetext") or "")
    assert "left out" in page.locator("#map-words").inner_text()
    assert complaints == []


OVERLAPS = """() => {
  const boxes = (selector) => [...document.querySelectorAll('#map-box ' + selector)].map((e) => e.getBoundingClientRect());
  const touch = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  const pairs = (some, others) => some.flatMap((a, i) => others.filter((b, j) => (some !== others || j > i) && touch(a, b)));
  const [labels, heads, places] = [boxes('text.label'), boxes('polygon.head'), boxes('rect.box')];
  return { labels: pairs(labels, labels).length, heads: pairs(labels, heads).length, places: pairs(places, places).length, numbers: pairs(labels, places).length };
}"""  # noqa: E501


def test_nothing_on_the_map_lies_under_something_else(window: Window, tmp_path: Path) -> None:
    """No number on another, on an arrowhead or on a box; the end is in view; zoom and pan work."""
    page, _ = _open(window, tmp_path, make_report(large(60, 8, 12), title="x"))
    for share in ("Home", "End"):
        page.get_by_role("slider", name="Paths").focus()
        page.keyboard.press(share)
        assert page.evaluate(OVERLAPS) == {"labels": 0, "heads": 0, "places": 0, "numbers": 0}
    # At one moment: the page may still be scrolling.
    assert page.evaluate(
        """() => {
          const [frame, end] = ['.frame', 'rect.end'].map(
            (what) => document.querySelector('#map-box ' + what).getBoundingClientRect());
          return frame.top < end.top && end.bottom < frame.bottom;
        }"""
    )
    drawing = page.locator("#map-box svg.map")
    whole = drawing.get_attribute("viewBox")
    page.get_by_role("button", name="Zoom in").click()
    zoomed = drawing.get_attribute("viewBox")
    assert float(zoomed.split()[2]) < float(whole.split()[2])
    page.locator("#map-box .frame").focus()
    page.keyboard.press("ArrowDown")
    assert float(drawing.get_attribute("viewBox").split()[1]) > float(zoomed.split()[1])
    page.keyboard.press("0")
    assert drawing.get_attribute("viewBox") == whole


def test_steps_within_their_margin_of_error_are_dashed(window: Window, tmp_path: Path) -> None:
    """Of the whole release; of chosen variants no margin is known, and none is shown."""
    release = of(VariantCounts.of({("a", "b"): 90, ("a", "c"): 4}))
    steps = dict.fromkeys(count_flow(release.variants).steps, 4)
    certificate = replace(release.certificate, margins=Margins(steps=steps))
    html = make_report(replace(release, certificate=certificate), title="x")
    page, complaints = _open(window, tmp_path, html)
    dashed = page.locator("#map-box g:has(> path.unsure) > title")
    assert sorted(dashed.all_text_contents()) == [
        "a → c: 4 ± 4, below its margin",
        "c → end: 4 ± 4, below its margin",
    ]
    assert page.locator(".legend").get_by_text("dashed: below its margin").is_visible()
    page.get_by_role("checkbox", name="Show variant 2 on the map").check()
    assert dashed.count() == 0
    assert "a → c: 4" in page.locator("#map-box title").all_text_contents()
    assert complaints == []


def test_the_map_tells_times_where_there_are_any(window: Window, tmp_path: Path) -> None:
    """The median wait stands on each step, in a colour that the legend names."""
    page, complaints = _open(window, tmp_path, make_report(timed(), title="x"))
    assert not page.get_by_text("1 h – 1 d").first.is_visible()
    page.get_by_role("radio", name="Time").check()
    assert page.locator("#map-box text.label.d2").all_text_contents() == ["1 h"]
    assert page.locator(".legend").get_by_text("1 h – 1 d").is_visible()
    assert accessibility_faults(page) == []
    assert complaints == []
    plain, _ = _open(window, tmp_path, make_report(hospital(), title="x"))
    assert plain.get_by_role("radio", name="Time").count() == 0


def test_a_printed_map_keeps_its_legend(window: Window, tmp_path: Path) -> None:
    """And says what is left out."""
    pypdf = pytest.importorskip("pypdf")
    page, _ = _open(window, tmp_path, make_report(large(60, 8, 12), title="x"))
    sheets = pypdf.PdfReader(io.BytesIO(page.pdf())).pages
    text = " ".join(" ".join(sheet.extract_text() for sheet in sheets).split())
    assert "thicker: more often" in text
    assert "are left out" in text


# Colours follow the scheme and places the width: each is looked at once.
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_a_page_is_accessible(
    window: Window, reports: tuple[str, ...], tmp_path: Path, scheme: str, width: int
) -> None:
    """The checker finds nothing, contrast included, and nothing is wider than the screen."""
    for html in reports:
        page, complaints = _open(
            window, tmp_path, html, color_scheme=scheme, viewport={"width": width, "height": 900}
        )
        assert accessibility_faults(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert complaints == []
        background = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert (background == "rgb(255, 255, 255)") == (scheme == "light")


def test_names_that_are_markup_do_nothing(window: Window, tmp_path: Path) -> None:
    """No script of a name runs, also not when the page's script draws rows again."""
    release = of(VariantCounts.of({HOSTILE: 5, (HOSTILE[0],): 3}))
    page, complaints = _open(window, tmp_path, make_report(release, title="x"))
    page.get_by_role("searchbox").fill("script")
    assert page.locator("#variants-body tr").first.locator("li").all_text_contents() == [*HOSTILE]
    assert page.title() == "x"
    assert complaints == []


def test_without_scripts_the_page_still_tells(browser: Any, tmp_path: Path) -> None:
    """Promise, first variants and the table of the map are there; tools are not."""
    file = tmp_path / "report.html"
    file.write_text(make_report(large(60, 5, 6), title="x"), encoding="utf-8")
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(file.as_uri())
    assert page.locator("#variants-body tr").count() == 25
    assert page.locator("#map table").is_visible()
    assert not page.locator("#variant-tools").is_visible()
    assert page.locator(".promise").is_visible()


def test_every_printed_page_says_that_it_is_secret(window: Window, tmp_path: Path) -> None:
    """An internal report is secret on each sheet, a publishable one on none."""
    pypdf = pytest.importorskip("pypdf")

    def sheets(html: str) -> list[str]:
        page, _ = _open(window, tmp_path, html)
        return [sheet.extract_text() for sheet in pypdf.PdfReader(io.BytesIO(page.pdf())).pages]

    internal = make_internal_report(leaking(), running_example(), title="x")
    secret = sheets(internal)
    assert len(secret) > 1
    assert all("SECRET" in text for text in secret)
    assert not any("SECRET" in text for text in sheets(make_report(leaking(), title="x")))
