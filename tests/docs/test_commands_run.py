"""The commands in the documents do what the documents say: they are run."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from .pages import DOCS, Block, all_pages, blocks
from .shell import (
    RUN,
    STATUS,
    Shell,
    commands,
    printed_as,
    run_page,
    shows,
)

REFERENCE = sorted((DOCS / "reference" / "python").glob("*.md"))
# Everything but what is generated, and what a test of its own follows.
PAGES = [
    page
    for page in all_pages()
    if page.name not in ("cli.md", "CONTRIBUTING.md", "CHANGELOG.md")
    and page not in REFERENCE
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


def test_the_examples_of_the_reference_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each by itself, in one folder, and a second time over what the first left there."""
    pytest.importorskip("cryptography", reason="needs the extra sign")
    pytest.importorskip("pm4py", reason="needs the extra evaluate")
    monkeypatch.chdir(tmp_path)
    examples = [b for page in REFERENCE for b in blocks(page.read_text("utf-8"))]
    assert len(examples) >= len(REFERENCE)
    for example in 2 * examples:
        exec(compile(example.text, f"line {example.line}", "exec"), {})


@pytest.mark.parametrize("name", ["tutorial", "how-to/choose-epsilon", "ledger", "time", "report"])
def test_the_pages_hold_commands(name: str) -> None:
    """A page that is a walk through commands has some: else the test above would say nothing."""
    page = DOCS / f"{name}.md"
    assert len(_commands(page.read_text(encoding="utf-8"))) >= 3


def _commands(text: str) -> list[str]:
    return [
        c for block in blocks(text) if block.language in ("sh", "console") for c in commands(block)
    ]


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


def test_what_a_page_says_that_is_printed_is_compared(tmp_path: Path, shell: Shell) -> None:
    """Word for word, but for what the page leaves out."""
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo one\ntwo\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="and not\ntwo"):
        run_page(page, tmp_path, shell)
    block = Block("console", "$ a \\\n  b\n1\n$ c\n", 1)
    assert shows(block) == [("a \\\n  b", "1\n"), ("c", "")]
    assert printed_as("one … three\n…\nlast\n", "one two three\nx\ny\nlast  \n")
    assert not printed_as("one\n", "one\ntwo\n")
    assert not printed_as("…\nlast\n", "first\n")


REPEATABLE = re.compile(
    r"^sacofa (demo|anonymize|report|rules|generate|columns|combine|certificate|sign|key new)\b"
)


GUIDES = ["tutorial", "ledger", "periods", "certificates"]


@pytest.mark.parametrize(
    "page",
    [p for p in PAGES if p.stem in GUIDES or p.parent.name == "how-to"],
    ids=lambda p: p.stem,
)
def test_a_guide_can_be_followed_twice(page: Path) -> None:
    """What writes a file says that it may be there already; a ledger is begun anew."""
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"^(?:\$ )?sacofa ledger budget (\S+)", text, re.MULTILINE):
        assert re.search(rf"^(?:\$ )?rm -f .*{name}\*", text, re.MULTILINE), name
    for block in blocks(text):
        if block.language not in ("sh", "console"):
            continue
        for command in commands(block):
            if REPEATABLE.match(command) and re.search(r" (-o [^-]|sign |key new )", command):
                assert "--force" in command or STATUS.search(command), command
