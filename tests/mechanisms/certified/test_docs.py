"""The pages on promises name code, tests and files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "privacy.md"
PAGES = [
    PAGE,
    *(
        ROOT / "docs" / f"{name}.md"
        for name in ("certified", "explanation/votes", "explanation/mechanisms")
    ),
]


def sources(folder: str) -> str:
    """All Python and SQL text below a folder."""
    paths = (path for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".sql"))
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def rows() -> list[tuple[str, str]]:
    """The code and the tests of each claim, from all tables with these three columns."""
    if not PAGE.exists():
        pytest.skip("the documents are not at hand")
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    cells = [line.strip("|").split("|") for line in lines if line.startswith("| ")]
    claims = [row for row in cells if len(row) == 3 and row[0].strip() != "claim"]
    return [(code, tests) for _, code, tests in claims]


def test_every_claim_has_a_test_that_exists() -> None:
    """Test functions and broken sessions named on the page are there."""
    tests = sources("tests")
    named = re.findall(r"`(\w+)`", " ".join(tests for _, tests in rows()))
    assert len({*named}) > 25
    assert not [name for name in named if not re.search(rf"(def|class) {name}\(", tests)]
    for _, wanted in rows():
        assert "`test_" in wanted or "ratio test" in wanted


def test_every_claim_has_code_that_exists() -> None:
    """Code that is named on the page is there."""
    code = sources("src")
    named = re.findall(r"`(\w+)`", " ".join(code for code, _ in rows()))
    assert len({*named}) > 10
    assert not [name for name in named if not re.search(rf"(def|class|MACRO) {name}\b", code)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_file_that_is_linked_exists(page: Path) -> None:
    """Links to code and tests lead somewhere."""
    if not page.exists():
        pytest.skip("the documents are not at hand")
    links = re.findall(r"\]\(([^)#:]+\.(?:py|sql))\)", page.read_text(encoding="utf-8"))
    assert links or page.stem == "certified"
    assert not [link for link in links if not (page.parent / link).exists()]
