"""Makes links that leave the documentation for the code plain text: the site is only these pages.

On a code host such links lead to the file; in the site there is nothing they could lead to.
MkDocs calls `on_page_markdown` for every page (see `hooks` in mkdocs.yml).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1]
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(((?:\.\./)+[^)#\s]+)(?:#[^)]*)?\)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Replace links to files of the repository by what they say; a dead one stays, and fails."""
    folder = (DOCS / page.file.src_uri).parent

    def plain(match: re.Match[str]) -> str:
        target = (folder / match[2]).resolve()
        inside = target.is_relative_to(DOCS)
        return match[0] if inside or not target.exists() else match[1]

    return LINK.sub(plain, markdown)
