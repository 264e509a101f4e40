"""The documentation builds without a warning, and its pages ask nothing of other servers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from ..browser import open_browser, watch
from .pages import ROOT

# What a browser loads by itself. A link that a person may follow is none of these.
LOADS = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed|object)\b[^>]*\b(?:src|data|srcset)=["']?\s*(?:https?:)?//
      | <link\b(?![^>]*rel=["']?canonical)[^>]*\bhref=["']?\s*(?:https?:)?//
      | @import\s+(?:url\()?["']?(?:https?:)?//
      | url\(\s*["']?(?:https?:)?//""",
    re.VERBOSE | re.IGNORECASE,
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built documentation."""
    for module in ("mkdocs", "material", "mkdocstrings"):
        pytest.importorskip(module, reason="needs the extra docs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_the_site_builds_without_a_warning(site: Path) -> None:
    """A dead link, a page outside the navigation or an unknown name would be one."""
    assert (site / "index.html").exists()
    reference = (site / "reference" / "python" / "release.html").read_text(encoding="utf-8")
    assert "Release a log through a mechanism" in reference
    # A module where a function was meant: the two have the same name.
    assert "doc-symbol-module" not in reference
    assert not (site / "make").exists()


@pytest.mark.slow
def test_pages_ask_nothing_of_other_servers(site: Path) -> None:
    """No fonts, scripts, styles or pictures from elsewhere."""
    pages = [*site.rglob("*.html"), *site.rglob("*.css"), *site.rglob("*.svg")]
    assert len(pages) > 10
    for page in pages:
        found = LOADS.search(page.read_text(encoding="utf-8"))
        assert found is None, f"{page.name} loads {found[0] if found else ''}"


@pytest.mark.slow
def test_every_page_has_a_description_of_its_own(site: Path) -> None:
    """For search engines and previews; security, changelog and contributing are among the pages."""
    pages = [page for page in site.rglob("*.html") if page.name != "404.html"]
    found = {
        page: re.search(r'<meta name="?description"? content="([^"]+)"', page.read_text("utf-8"))
        for page in pages
    }
    texts = [match[1] for match in found.values() if match is not None]
    assert len(texts) == len(set(texts)) == len(pages)
    assert min(map(len, texts)) > 40
    assert {"security.html", "changelog.html", "contributing.html"} <= {p.name for p in pages}
    assert "What is protected, and from whom" in (site / "security.html").read_text("utf-8")


@pytest.mark.slow
def test_links_to_code_say_the_path(site: Path) -> None:
    """There is no address of the project yet, so a link says where the file lies."""
    own = (site / "reference" / "python" / "own.html").read_text(encoding="utf-8")
    assert "examples/own_score.py" in own
    assert 'href="../../../examples' not in own


@pytest.mark.slow
def test_a_search_finds_what_people_look_for_first(site: Path) -> None:
    """From disk: `anonymize` leads to the function, `epsilon` to the guide that chooses it."""
    api = pytest.importorskip("playwright.sync_api")
    with open_browser() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        complaints = watch(page)
        first = page.locator(".md-search-result__link").first
        for words, wanted in (("anonymize", "python/release"), ("epsilon", "choose-epsilon")):
            # What is typed before a busy page listens is lost: then it is opened again.
            for _ in range(4):
                page.goto((site / "index.html").as_uri())
                page.locator("[data-md-component=search-query]").fill(words)
                with suppress(api.TimeoutError):
                    first.wait_for(state="attached", timeout=10_000)
                    break
            assert wanted in first.get_attribute("href")
        assert complaints == []


def test_what_is_loaded_from_elsewhere_would_be_seen() -> None:
    """The pattern finds the usual ways, and leaves links alone."""
    for text in (
        '<script src="https://cdn.example/a.js"></script>',
        '<link rel="stylesheet" href="//fonts.example/css">',
        "<img alt=x src=http://a.example/b.png>",
        "@import url(https://fonts.example/x)",
        "src: url('//a.example/f.woff')",
    ):
        assert LOADS.search(text), text
    assert not LOADS.search('<a href="https://a.example">there</a> <img src="a.svg">')
