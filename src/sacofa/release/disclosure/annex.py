"""The sections as Markdown or HTML: an annex to an impact assessment, for people.

A page is one file that asks nobody for anything. Whatever stands in a certificate, or was said by
people, is text and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from ...base.files import write_whole
from .sections import Section
from .words import HEADINGS, Language

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
SPECIAL = re.compile(r"([\\`*_{}\[\]<>#+!|$~])")


def write_annex(
    sections: Sequence[Section], path: str | Path, *, language: Language, form: str, force: bool
) -> None:
    """Write sections to a file, as `markdown` or `html`."""
    make = {"markdown": to_markdown, "html": to_html}[form]
    with write_whole(path, force) as part:
        part.write_text(make(sections, language), encoding="utf-8")


def to_markdown(sections: Sequence[Section], language: Language) -> str:
    """The sections as Markdown."""
    lines = [f"# {_plain(HEADINGS['title'].say(language))}", ""]
    for section in sections:
        lines += [f"## {_plain(section.heading)}", ""]
        lines += [f"* {_plain(sentence)}" for sentence in section.sentences]
        if section.sentences:
            lines.append("")
        if section.rows:
            lines += ["| | |", "|---|---|"]
            lines += [f"| {_plain(left)} | {_plain(right)} |" for left, right in section.rows]
            lines.append("")
    return "\n".join(lines)


def to_html(sections: Sequence[Section], language: Language) -> str:
    """The sections as one page."""
    title = escape(HEADINGS["title"].say(language))
    body = [f"<h1>{title}</h1>"]
    for section in sections:
        body.append(f'<section id="{escape(section.key)}"><h2>{escape(section.heading)}</h2>')
        body += [f"<p>{escape(sentence)}</p>" for sentence in section.sentences]
        if section.rows:
            rows = "".join(
                f'<tr><th scope="row">{escape(left)}</th><td>{escape(right)}</td></tr>'
                for left, right in section.rows
            )
            body.append(f"<table>{rows}</table>")
        body.append("</section>")
    return (
        f'<!DOCTYPE html>\n<html lang="{language}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{STYLE}</style></head>\n<body><main>\n"
        + "\n".join(body)
        + "\n</main></body></html>\n"
    )


def _plain(text: str) -> str:
    """Text for one line of Markdown: what would be markup is escaped."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))
