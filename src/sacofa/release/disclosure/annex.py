"""The sections as Markdown or HTML: an annex to an impact assessment, for people.

A page is one file that loads nothing else. Texts of the certificate and of people are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ...base.files import write_text
from ...errors import Statement
from ...messages import render
from .sections import Section

SPECIAL = re.compile(r"([\\`*_{}\[\]<>#+!|$~])")


def write_annex(
    sections: Sequence[Section], path: str | Path, *, language: str, form: str, force: bool
) -> None:
    """Write sections to a file, as `markdown` or `html`."""
    make = {"markdown": to_markdown, "html": to_html}[form]
    write_text(path, make(sections, language), force)


def to_markdown(sections: Sequence[Section], language: str) -> str:
    """The sections as Markdown; each text in one line."""

    def escaped(text: str) -> str:
        return SPECIAL.sub(r"\\\1", " ".join(text.split()))

    return _fill("annex.md.j2", sections, language, escaped).removesuffix("\n")


def to_html(sections: Sequence[Section], language: str) -> str:
    """The sections as one page."""
    return _fill("annex.html.j2", sections, language, escape)


def _fill(
    template: str, sections: Sequence[Section], language: str, escaped: Callable[[str], str]
) -> str:
    """Fill a template; of each text, what would be markup is escaped."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["say"] = lambda said: escaped(render(said, language))
    title = Statement("heading.title")
    return environment.get_template(template).render(
        title=title, sections=sections, language=language
    )
