"""Reports in a real browser: what people see, with mouse, keyboard, screen reader and printer."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sacofa.examples import running_example
from sacofa.report import make_internal_report, make_report
from sacofa.variants import VariantCounts

from ..browser import accessibility_faults, open_browser, watch
from .releases import HOSTILE, hospital, large, leaking, of


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for all tests here."""
    with open_browser() as browser:
        yield browser


def _open(browser: Any, folder: Path, html: str, **context: Any) -> tuple[Any, list[str]]:
    """Open a page from disk; whatever else it asks for is a complaint too."""
    file = folder / "report.html"
    file.write_text(html, encoding="utf-8")
    page = browser.new_context(**context).new_page()
    complaints = watch(page)
    page.on(
        "request",
        lambda request: None if request.url == file.as_uri() else complaints.append(request.url),
    )
    page.goto(file.as_uri())
    return page, complaints


def test_variants_can_be_searched_and_more_shown(browser: Any, tmp_path: Path) -> None:
    """Rows, their number and the words about them agree with the release."""
    release = of(VariantCounts.of({(f"a{i:03}", "common"): 1000 - i for i in range(140)}))
    page, complaints = _open(browser, tmp_path, make_report(release, title="x"))
    rows = page.locator("#variants-body tr")
    assert rows.count() == 25
    assert rows.nth(0).locator("li").all_text_contents() == ["a000", "common"]
    page.get_by_role("button", name="Show more").press("Enter")
    assert rows.count() == 50
    page.get_by_role("searchbox").fill("A07, comm")
    assert rows.count() == 10
    assert "10 of 10 variants" in page.locator("#found").inner_text()
    assert rows.nth(9).locator("td").nth(0).inner_text() == "80"
    page.get_by_role("searchbox").fill("nothing like it")
    assert rows.count() == 0
    assert complaints == []


def test_the_map_follows_its_slider(browser: Any, tmp_path: Path) -> None:
    """One level is seen at a time; arrow keys move it, and words say what it shows."""
    page, complaints = _open(browser, tmp_path, make_report(large(200, 9, 9), title="x"))
    slider = page.get_by_role("slider")
    levels = int(slider.get_attribute("max") or 0)
    assert levels > 1
    slider.focus()
    seen = []
    for _ in range(levels):
        page.keyboard.press("ArrowLeft")
    for level in range(levels):
        shown = page.locator(".level:visible")
        assert shown.count() == 1
        seen.append(shown.locator("polygon.head").count())
        assert f"{seen[level]} steps" in page.locator("#detail-words").inner_text()
        assert f"{seen[level]} steps" in (slider.get_attribute("aria-valuetext") or "")
        page.keyboard.press("ArrowRight")
    assert seen == sorted(set(seen))
    assert complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_a_page_is_accessible(browser: Any, tmp_path: Path, scheme: str, width: int) -> None:
    """The checker finds nothing, contrast included, and nothing is wider than the screen."""
    for html in (
        make_report(hospital(), title="hospital.xes"),
        make_report(leaking(), title="hospital.xes"),
        make_internal_report(hospital(), running_example(), title="hospital.xes"),
    ):
        page, complaints = _open(
            browser, tmp_path, html, color_scheme=scheme, viewport={"width": width, "height": 900}
        )
        assert accessibility_faults(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert complaints == []
        background = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert (background == "rgb(255, 255, 255)") == (scheme == "light")
        page.context.close()


def test_names_that_are_markup_do_nothing(browser: Any, tmp_path: Path) -> None:
    """No script of a name runs, also not when the page's script draws rows again."""
    release = of(VariantCounts.of({HOSTILE: 5, (HOSTILE[0],): 3}))
    page, complaints = _open(browser, tmp_path, make_report(release, title="x"))
    page.get_by_role("searchbox").fill("script")
    assert page.locator("#variants-body tr").first.locator("li").all_text_contents() == [*HOSTILE]
    assert page.title() == "x"
    assert complaints == []


def test_without_scripts_the_page_still_tells(browser: Any, tmp_path: Path) -> None:
    """Promise, first variants and one map are there; tools that need scripts are not."""
    html = make_report(large(60, 5, 6), title="x")
    page, _ = _open(browser, tmp_path, html, java_script_enabled=False)
    assert page.locator("#variants-body tr").count() == 25
    assert page.locator(".level:visible").count() == 1
    assert not page.locator("#variant-tools").is_visible()
    assert page.locator(".promise").is_visible()


def test_every_printed_page_says_that_it_is_secret(browser: Any, tmp_path: Path) -> None:
    """An internal report is secret on each sheet, a publishable one on none."""
    pypdf = pytest.importorskip("pypdf")

    def sheets(html: str) -> list[str]:
        page, _ = _open(browser, tmp_path, html)
        return [sheet.extract_text() for sheet in pypdf.PdfReader(io.BytesIO(page.pdf())).pages]

    internal = make_internal_report(leaking(), running_example(), title="x")
    secret = sheets(internal)
    assert len(secret) > 1
    assert all("SECRET" in text for text in secret)
    assert not any("SECRET" in text for text in sheets(make_report(leaking(), title="x")))
