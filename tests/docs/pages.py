"""The documents as tests see them: pages, their fenced blocks and their links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = DOCS / "reference" / "cli.md"

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
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
