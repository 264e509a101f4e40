"""Figures in documents are those of one file, which a command writes."""

from __future__ import annotations

import json
import re
import runpy
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sacofa import Certified
from sacofa.evaluate import comparison, experiment, reproduction
from sacofa.evaluate.measures import model
from sacofa.mechanisms.certified import verdict
from sacofa.synthesis.flow.tuning import TUNING

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


MEASURED = re.compile(
    r"""
    (?<![\d.])\d+\.\d+(?:[ ]%)?        # a share or a ratio
    | \d[\d,]*[ ]%
    | \d[\d,]*[ ](?:[mµ]?s|seconds?|minutes?|hours?|[kMG]B)\b
    | \d[\d,]*[ ]times[ ](?:as|faster|slower|smaller|larger|more|less)
    | ±[ ]?\d
    | \d+[ ](?:of|in)[ ]\d+[ ](?:runs|seeds|releases)
    """,
    re.VERBOSE,
)
"""What looks like the result of a measurement."""
SETTINGS = {
    *(
        f"{float(value):g}"
        for value in (model.NOISE_THRESHOLD, reproduction.EVEN_MEDIANS, comparison.PRUNE_SCALES)
    ),
    *(
        form.format(times * limit)
        for times in (1, verdict.ROUGH)
        for limit in verdict.RELIABLE.known().values()
        for form in ("{:g}", "{:.2f}")
    ),
    f"{experiment.TIME_LIMIT:g} s",
    *(
        f"{float(100 * share):g} %"
        for share in (
            Certified.time_share, Certified.attribute_share, Certified.large_log_ratio,
            comparison.COMMON_LENGTH, Fraction(1, TUNING.cases_each_insertion),
        )
    ),
}  # fmt: skip
"""Numbers that the code sets: thresholds, limits of verdicts, shares of ε, the default of `--prune`
times ε."""
GIVEN = re.compile(r"ε = [\d., and]+|\d+\.\d+\.\d+|Python \d\.\d+|before \d\.\d+")
"""What a reader chooses, and versions."""


def own_figures(text: str) -> list[str]:
    """The measured numbers of a page outside its generated blocks, code and links."""
    own = FENCE.sub("", MAKE["BLOCK"].sub("", text))
    own = re.sub(r"`[^`\n]*`|\]\([^)]*\)", "", own)
    return [found[0] for found in MEASURED.finditer(GIVEN.sub("", own)) if found[0] not in SETTINGS]


@pytest.mark.parametrize("name", ["README", "docs/evaluation", "docs/certified", "docs/benchmarks"])
def test_a_page_of_results_has_no_figure_without_its_command(name: str) -> None:
    """Every measured number stands in a block that the command writes."""
    assert own_figures((ROOT / f"{name}.md").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Receipt is 0.954 similar.", "On Sepsis it takes 4 s.", "It needs 290 MB.",
        "35 times faster than pm4py.", "Most cases (85 %) took it.", "A variant ± 35.",
        "It holds in 12 of 60 runs.", "The log itself 0.41.",
    ],
)  # fmt: skip
def test_a_measured_number_in_a_sentence_is_noticed(sentence: str) -> None:
    """And the same number in a block is not."""
    assert own_figures(sentence)
    block = f"<!-- figures: asked -->\n\n{sentence}\n\n<!-- end of figures -->"
    assert not own_figures(block)


def test_tables_say_whether_times_were_released() -> None:
    """The default, with times, is one of the rows or columns of every table at equal ε."""
    for name in ("equal", "equal-in-short", "asked", "seconds"):
        assert "with times" in MAKE["write_block"](name, ENTRIES) or (
            "| times |" in MAKE["write_block"](name, ENTRIES)
            and "`certified`, default | yes |" in MAKE["write_block"](name, ENTRIES)
        ), name
