"""What MkDocs does to a page before it is turned into HTML (see `hooks` in mkdocs.yml).

* `<!-- include: SECURITY.md -->` takes a document that lies beside the code into the site.
* A link that leaves the documentation for the code says the path; where `repo_url` is set it leads
  there. On a code host such links lead to the file by themselves.
* The first sentences of a page are its description, for search engines and previews.
* What people look for most comes first in the search.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(((?:\.\./)+[^)#\s]+)(?:#[^)]*)?\)")
INCLUDE = re.compile(r"<!-- include: (\S+) -->")
BESIDE = {"SECURITY.md": "security.md", "CONTRIBUTING.md": "contributing.md",
          "CHANGELOG.md": "changelog.md"}  # fmt: skip
"""Documents beside the code, and the pages that take them in."""
BOOST = {"reference/python/release.md": 4, "how-to/choose-epsilon.md": 40, "tutorial.md": 2,
         "changelog.md": 0.2, "contributing.md": 0.3}  # fmt: skip
"""Pages that a search puts higher, or lower."""
ENOUGH = 60
"""A description has so many letters."""
NOT_PROSE = re.compile(r"^(#|!\[|\||```|<|:::|---|\*\*?$)")


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Take in, link and describe."""
    text = INCLUDE.sub(lambda found: included(found[1]), markdown)
    folder = (DOCS / page.file.src_uri).parent
    text = LINK.sub(lambda found: linked(found, folder, config.repo_url), text)
    page.meta.setdefault("description", describe(text))
    page.meta["search"] = {"boost": BOOST.get(page.file.src_uri, 1)}
    return text


def included(name: str) -> str:
    """A document that lies beside the code, with its links as they are in the site."""
    text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](")
    for other, page in BESIDE.items():
        text = text.replace(f"]({other}", f"]({page}")
    return text


def linked(match: re.Match[str], folder: Path, project: str | None) -> str:
    """A link to a file of the repository by its path; one within the pages, or dead, stays."""
    target = (folder / match[2]).resolve()
    if target.is_relative_to(DOCS) or not target.exists():
        return match[0]
    path = target.relative_to(ROOT).as_posix()
    if path in BESIDE:
        up = "../" * len(folder.relative_to(DOCS).parts)
        return f"[{match[1]}]({up}{BESIDE[path]})"
    words = f"`{path}`" if path.endswith(match[1].strip("`")) else f"{match[1]} (`{path}`)"
    return f"[{words}]({project.rstrip('/')}/blob/main/{path})" if project else words


def describe(text: str) -> str:
    """The first sentences of prose, without markup: as few as say something."""
    found = ""
    for paragraph in re.split(r"\n\s*\n", text):
        if NOT_PROSE.match(paragraph):
            continue
        words = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", paragraph)
        words = " ".join(re.sub(r"[*`]", "", words).split())
        for sentence in re.split(r"(?<=[.!?]) (?=[A-Z`])", words):
            found = f"{found} {sentence}".strip()
            if len(found) >= ENOUGH:
                return found.rstrip(":")
    return found
