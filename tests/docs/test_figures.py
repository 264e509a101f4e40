"""Figures in documents are those of one file, which a command writes."""

from __future__ import annotations

import json
import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from .pages import DOCS, FENCE, ROOT


def load() -> dict[str, Any]:
    """The program that writes figures into pages; its parts lie beside it."""
    folder = str(DOCS / "make")
    sys.path.insert(0, folder)
    try:
        return runpy.run_path(f"{folder}/figures.py")
    finally:
        sys.path.remove(folder)


MAKE = load()
ENTRIES: dict[str, dict[str, Any]] = json.loads(MAKE["FILE"].read_text(encoding="utf-8"))
PAGES = [page for page in MAKE["pages"]() if MAKE["BLOCK"].search(page.read_text("utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_figures_on_a_page_are_those_of_the_file(page: Path) -> None:
    """After a measurement: python docs/make/figures.py."""
    text = page.read_text(encoding="utf-8")
    assert MAKE["write_page"](text, ENTRIES) == text, "run: python docs/make/figures.py"


def test_every_block_is_on_some_page() -> None:
    """And no page asks for one that does not exist, or forgets to end it."""
    texts = [page.read_text(encoding="utf-8") for page in MAKE["pages"]()]
    named = {name for text in texts for name in re.findall(r"<!-- figures: (.*?) -->", text)}
    assert named == set(MAKE["BLOCKS"])
    for text in texts:
        assert text.count("<!-- figures: ") == len(MAKE["BLOCK"].findall(text))


def test_every_figure_says_how_to_measure_it_again() -> None:
    """Command, day and version; seeds where something was drawn; the command is one that exists."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    groups = (ROOT / "benchmarks" / "figures.py").read_text(encoding="utf-8")
    for name, entry in ENTRIES.items():
        target, only = re.fullmatch(r"make (\w+) ONLY=(\w+)", entry["command"]).groups()  # type: ignore[union-attr]
        assert f"\n{target}: " in makefile
        assert f'"{only}": measure_' in groups
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", entry["date"]) and entry["version"], name
        # Time and memory are of the machine: runs are repeated for its sake, whatever is drawn.
        of_machine = entry.get("unit", "").endswith(("processor", "at the peak"))
        drawn = entry.get("runs", 1) > 1 and not of_machine
        assert entry.get("seeds") or not drawn or "/original/" in name, name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_figure_that_went_stale_is_caught(page: Path) -> None:
    """Whatever was measured anew and moved, the page is no longer what the file says."""
    moved = {
        name: {k: v * 1.5 + 1 if isinstance(v, float) else v for k, v in entry.items()}
        for name, entry in ENTRIES.items()
    }
    text = page.read_text(encoding="utf-8")
    assert MAKE["write_page"](text, moved) != text


def test_the_readme_has_no_figure_of_its_own() -> None:
    """What was measured stands in a block that the command writes."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    own = FENCE.sub("", MAKE["BLOCK"].sub("", text))
    assert not re.findall(r"\b\d+\.\d{3,}\b|\b\d+(?:\.\d+)? m?s\b", own)
