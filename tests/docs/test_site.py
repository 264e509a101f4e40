"""The documentation builds without a warning, and its pages ask nothing of other servers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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
    reference = (site / "reference" / "api.html").read_text(encoding="utf-8")
    assert "Release a log through a mechanism." in reference
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
