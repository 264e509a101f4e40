"""A release as a notebook shows it: the promise, the most frequent variants, a map."""

from __future__ import annotations

from html import escape
from itertools import islice

from ..release.anonymize import Release
from .explorer import list_variants
from .flow import count_flow
from .maps import Map, draw_map
from .promise import say_promise

SHOWN = 10
"""So many variants are shown."""


def notebook_html(release: Release) -> str:
    """Make a piece of HTML that stands by itself; it may be published with the release."""
    certificate, explorer = release.certificate, list_variants(release.variants)
    epsilon = "no finite ε" if certificate.epsilon is None else f"ε = {certificate.epsilon}"
    head = (
        f"<p><b>{explorer.cases:,} released cases, {epsilon} ({escape(certificate.mechanism)})"
        f"</b></p><p>{escape(say_promise(certificate))}</p>"
    )
    verdict = "" if certificate.verdict is None else f"<p>{escape(str(certificate.verdict))}</p>"
    names = explorer.activities
    rows = "".join(
        f'<tr><td style="text-align:right">{row.count:,}</td>'
        f'<td style="text-align:left">{_names(names, row.ids, row.complete)}</td></tr>'
        for row in islice(explorer.rows, SHOWN)
    )
    more = len(release.variants) - SHOWN
    left = f"<p>and {more:,} more variants</p>" if more > 0 else ""
    table = f"<table><tr><th>cases</th><th>variant</th></tr>{rows}</table>{left}"
    return f"<div>{head}{verdict}{table}{_map(release)}</div>"


def _names(activities: tuple[str, ...], ids: tuple[int, ...], complete: bool) -> str:
    shown = " → ".join(escape(activities[i]) for i in ids[:30])
    more = f" … and {len(ids) - 30:,} more" if len(ids) > 30 else ""
    return (shown or "(no events)") + more + ("" if complete else " …")


def _map(release: Release) -> str:
    level = draw_map(count_flow(release.variants)) if release.variants.cases else None
    return "" if level is None else _svg(level.maps[0])


def _svg(drawn: Map) -> str:
    parts = []
    for arrow in drawn.arrows:
        x, y = arrow.label
        parts.append(
            f'<path d="{arrow.path}" fill="none" stroke="#789" stroke-width="{arrow.thick}"/>'
            f'<polygon points="{arrow.head}" fill="#789"/>'
            f'<text x="{x:.0f}" y="{y:.0f}" font-size="10" fill="#345">{arrow.count:,}'
            f"<title>{escape(arrow.what)}</title></text>"
        )
    for box in drawn.boxes:
        lines = "".join(
            f'<tspan x="{box.x:.0f}" dy="{1.2 if i else 0}em">{escape(line)}</tspan>'
            for i, line in enumerate((*box.lines, f"{box.count:,}"))
        )
        parts.append(
            f'<rect x="{box.left}" y="{box.top}" width="{box.width:.0f}" height="{box.height:.0f}" '
            f'rx="6" fill="#eef4f4" stroke="#366"/><text x="{box.x:.0f}" y="{box.top + 14:.0f}" '
            f'font-size="11" fill="#122" text-anchor="middle">{lines}'
            f"<title>{escape(box.name)}</title></text>"
        )
    return (
        f'<svg viewBox="0 0 {drawn.width:.0f} {drawn.height:.0f}" role="img" '
        f'aria-label="process map" style="max-width:100%;max-height:40em">{"".join(parts)}</svg>'
    )
