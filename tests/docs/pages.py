"""The documents as tests see them: pages, their blocks of code and their links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = DOCS / "reference" / "cli.md"

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r"(?:\A|(?<=\n\n))(?: {4}[^\n]*\n(?:\n(?= {4}))*)+")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    text: str
    line: int


def all_pages() -> list[Path]:
    """Every page of the documentation, and the documents beside the code."""
    return sorted(DOCS.rglob("*.md")) + sorted(ROOT.glob("*.md"))


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [
        Block(found[1], found[2], text.count("\n", 0, found.start()) + 1)
        for found in FENCE.finditer(text)
    ]


def indented(text: str) -> list[Block]:
    """The blocks of a page that are code by their indentation alone: nothing says what they are."""
    # Fenced blocks are emptied, not removed, so that lines keep their numbers.
    plain = FENCE.sub(lambda found: "." + "\n" * found[0].count("\n"), text)
    return [
        Block(
            "",
            re.sub(r"^ {4}", "", found[0], flags=re.MULTILINE),
            plain.count("\n", 0, found.start()) + 1,
        )
        for found in INDENTED.finditer(plain)
    ]


def links(text: str) -> Iterator[str]:
    """Where the links and pictures of a page lead; code is not looked at."""
    plain = re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))
    for found in LINK.finditer(plain):
        yield found[1]


def anchors(text: str) -> set[str]:
    """The anchors of the headings of a page, as code hosts and MkDocs name them."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    return {
        re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", heading.replace("`", "").lower()).strip())
        for heading in headings
    }
