"""The page of promises names code and tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "privacy.md"


def sources(folder: str) -> str:
    """All Python text below a folder."""
    return "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / folder).rglob("*.py"))


def test_every_claim_has_a_test_that_exists() -> None:
    """Test functions and broken mechanisms named on the page are there."""
    if not PAGE.exists():
        pytest.skip("the documents are not at hand")
    text, tests = PAGE.read_text(encoding="utf-8"), sources("tests")
    named = set(re.findall(r"`(test_\w+)`", text))
    assert len(named) > 12
    missing = {name for name in named if f"def {name}(" not in tests}
    broken = {"SpendsTwice", "DropsZeros", "VotesPerStep", "ThresholdByTruth", "CountsUnnoticed"}
    missing |= {name for name in broken if name not in text or f"class {name}(" not in tests}
    assert not missing


def test_every_claim_has_code_that_exists() -> None:
    """Code that is named on the page is there."""
    if not PAGE.exists():
        pytest.skip("the documents are not at hand")
    code = sources("src")
    for name in (
        "Shares",
        "divide",
        "last",
        "_ask",
        "steps",
        "nearest",
        "Run",
        "smallest_threshold",
    ):
        assert re.search(rf"(def|class) {name}\b", code), name
