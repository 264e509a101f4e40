"""The commands in the documents do what the documents say: they are run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from .pages import DOCS, Block, all_pages, blocks
from .shell import RUN, Shell, commands, run_page, started_shell

# Everything but what is generated, and recipes that a test of their own follows.
PAGES = [
    page
    for page in all_pages()
    if page.name not in ("cli.md", "CONTRIBUTING.md", "CHANGELOG.md")
    and any(block.language in RUN for block in blocks(page.read_text(encoding="utf-8")))
]
NEEDS = {
    "tutorial": [("pm4py", "evaluate"), ("cryptography", "sign")],
    "certificates": [("cryptography", "sign")],
    "evaluation": [("pm4py", "evaluate")],
    "use-pm4py": [("pm4py", "evaluate")],
    "choose-epsilon": [("pm4py", "evaluate")],
    "run-on-spark": [("pyspark", "spark"), ("java", "")],
}


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """What all pages share."""
    with started_shell(tmp_path_factory.mktemp("shell")) as started:
        yield started


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_says_can_be_done(page: Path, tmp_path: Path, shell: Shell) -> None:
    """Every command and every Python block of a page ends as the page says."""
    for what, extra in NEEDS.get(page.stem, []):
        if extra:
            pytest.importorskip(what, reason=f"needs the extra {extra}")
        elif shutil.which(what) is None:
            pytest.skip(f"needs {what}")
    run_page(page, tmp_path, shell)


@pytest.mark.parametrize("name", ["tutorial", "how-to/choose-epsilon", "ledger", "time", "report"])
def test_the_pages_hold_commands(name: str) -> None:
    """A page that is a walk through commands has some: else the test above would say nothing."""
    page = DOCS / f"{name}.md"
    assert len(_commands(page.read_text(encoding="utf-8"))) >= 3


def _commands(text: str) -> list[str]:
    return [c for block in blocks(text) if block.language == "sh" for c in commands(block)]


def test_a_page_that_says_something_wrong_is_caught(tmp_path: Path, shell: Shell) -> None:
    """A command that fails, or ends with another status than the page says, is an error."""
    for number, text in enumerate(
        [
            "```sh\nsacofa --verion\n```\n",
            "```sh\nsacofa --version  # status 3\n```\n",
            "```console\n$ false\n```\n",
            "```python\nimport sacofa\nsacofa.anonymise\n```\n",
        ]
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        page = folder / "page.md"
        page.write_text(text, encoding="utf-8")
        with pytest.raises(AssertionError, match="ended with status"):
            run_page(page, folder, shell)


def test_commands_are_told_from_what_they_print() -> None:
    """Comments, output and what installs are passed over; long commands are joined."""
    console = Block("console", "$ sacofa plan \\\n    --epsilon 1\nε = 1\n$ echo 2\n", 1)
    assert commands(console) == ["sacofa plan \\\n    --epsilon 1", "echo 2"]
    shell = Block("sh", "# first\npip install .\nmake docs\n\ncat <<'END' > x\na\nEND\nls x\n", 1)
    assert commands(shell) == ["cat <<'END' > x\na\nEND", "ls x"]
