"""Writes measured figures into the pages, from benchmarks/figures.json.

    python docs/make/figures.py

A page shows figures between two comments, `<!-- figures: NAME -->` and `<!-- end of figures -->`;
what stands there is written anew. `python benchmarks/figures.py` measures.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import tables_of_papers as papers
import tables_of_releases as releases
import tables_of_speed as speed
from measured import Figures

ROOT = Path(__file__).parents[2]
FILE = ROOT / "benchmarks" / "figures.json"
BLOCK = re.compile(r"<!-- figures: ([\w-]+) -->\n.*?<!-- end of figures -->", re.DOTALL)

BLOCKS: dict[str, Callable[[Figures], Iterator[str]]] = {
    "equal-in-short": releases.equal_in_short,
    "equal": releases.equal,
    "speed": speed.speed,
    "asked": releases.asked,
    "wide": releases.wide,
    "generated": releases.generated,
    "delta": releases.delta,
    "verdict": releases.verdict,
    "times": releases.times,
    "doctors": releases.doctors,
    "pripel": releases.pripel,
    "attributes": releases.attributes,
    "seconds": releases.seconds,
    "learnt-rules": releases.learnt_rules,
    "kinds-of-rules": releases.kinds_of_rules,
    "means-of-rules": releases.means_of_rules,
    "originals": papers.originals,
    "reproduction": papers.reproduction,
    "claims": papers.claims,
    "authors": papers.authors,
    "periods": releases.periods,
    "coverage": releases.coverage,
    "hospital": releases.hospital,
    "hospital-rules": releases.hospital_rules,
    "scale": speed.scale,
    "cost": speed.cost,
}


def write_block(name: str, entries: dict[str, dict[str, Any]]) -> str:
    """A block with its comments: figures, and how they were measured."""
    figures = Figures(entries)
    lines = list(BLOCKS[name](figures))
    source = figures.source()
    # After a sentence in the same paragraph; under a table apart from it.
    lines += [source] if not lines[-1].startswith("|") else ["", source]
    text = "\n".join(lines)
    return f"<!-- figures: {name} -->\n\n{text}\n\n<!-- end of figures -->"


def write_page(text: str, entries: dict[str, dict[str, Any]]) -> str:
    """A page with its blocks of figures written anew."""
    return BLOCK.sub(lambda found: write_block(found[1], entries), text)


def pages() -> list[Path]:
    """Every page that may show figures."""
    return [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]


def main() -> None:
    """Write all pages."""
    entries = json.loads(FILE.read_text(encoding="utf-8"))
    for page in pages():
        before = page.read_text(encoding="utf-8")
        after = write_page(before, entries)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(page.relative_to(ROOT))


if __name__ == "__main__":
    main()
