"""No link of a document is dead."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pages import ROOT, all_pages, anchors, links


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link leads to a file that exists, and to a heading of it."""
    text = page.read_text(encoding="utf-8")
    for link in links(text):
        if "://" in link or link.startswith("mailto:"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link} is dead"
        assert target.is_relative_to(ROOT), f"{link} leaves the project"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target.read_text(encoding="utf-8")), f"{link}: no such heading"
