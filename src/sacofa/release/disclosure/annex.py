"""The sections as Markdown or HTML: an annex to an impact assessment, for people.

A page is one file that loads nothing else. Texts of the certificate and of people are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from ...base.files import write_text
from ...errors import Statement
from ...messages import render
from .sections import Section

STYLE = """
:root{color-scheme:light dark;--line:#8886}
body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem}h2{font-size:1.1rem;margin:1.6rem 0 .3rem}p{margin:.3rem 0}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.25rem .5rem;border-bottom:1px solid var(--line);
font-weight:normal;overflow-wrap:anywhere}
th{min-width:9rem}td{min-width:7rem}
@media print{body{margin:0;max-width:none}}
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
TITLE = Statement("heading.title")
SPECIAL = re.compile(r"([\\`*_{}\[\]<>#+!|$~])")


def write_annex(
    sections: Sequence[Section], path: str | Path, *, language: str, form: str, force: bool
) -> None:
    """Write sections to a file, as `markdown` or `html`."""
    make = {"markdown": to_markdown, "html": to_html}[form]
    write_text(path, make(sections, language), force)


def to_markdown(sections: Sequence[Section], language: str) -> str:
    """The sections as Markdown."""

    def plain(statement: Statement) -> str:
        """Text for one line: what would be markup is escaped."""
        return SPECIAL.sub(r"\\\1", " ".join(render(statement, language).split()))

    lines = [f"# {plain(TITLE)}", ""]
    for section in sections:
        lines += [f"## {plain(section.heading)}", ""]
        if section.statements:
            lines += [*(f"* {plain(said)}" for said in section.statements), ""]
        if section.rows:
            rows = (f"| {plain(left)} | {plain(right)} |" for left, right in section.rows)
            lines += ["| | |", "|---|---|", *rows, ""]
    return "\n".join(lines)


def to_html(sections: Sequence[Section], language: str) -> str:
    """The sections as one page."""

    def html(statement: Statement) -> str:
        """Text of a page: what would be markup is escaped."""
        return escape(render(statement, language))

    body = [f"<h1>{html(TITLE)}</h1>"]
    for section in sections:
        body.append(f'<section id="{escape(section.key)}"><h2>{html(section.heading)}</h2>')
        body += [f"<p>{html(said)}</p>" for said in section.statements]
        if section.rows:
            rows = "".join(
                f'<tr><th scope="row">{html(left)}</th><td>{html(right)}</td></tr>'
                for left, right in section.rows
            )
            body.append(f"<table>{rows}</table>")
        body.append("</section>")
    return (
        f'<!DOCTYPE html>\n<html lang="{language}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html(TITLE)}</title><style>{STYLE}</style></head>\n<body><main>\n"
        + "\n".join(body)
        + "\n</main></body></html>\n"
    )
