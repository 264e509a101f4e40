"""A picture of rules: what comes before what, from the beginning to the end.

An arrow from a to b says that a never comes after b, though b may come after a. It is drawn through
where one of the two needs the other, and broken where both can do without. Arrows that follow from
others are left out.
"""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import NDArray

from ..rules.rules import Rules
from ..rules.show import never_happens
from ..synthesis.margins import Step
from .layout import Box, lay_out
from .maps import pair as point

Bools = NDArray[np.bool_]

STYLE = (
    "text{font:13px system-ui,sans-serif;text-anchor:middle;fill:#1c2733}"
    "rect{fill:#eef3f8;stroke:#5b7083;rx:6px}.once rect{fill:#fff}"
    "path{fill:none;stroke:#5b7083;stroke-width:1.4}.may path{stroke-dasharray:4 4}"
    "polygon{fill:#5b7083}circle{fill:#1c2733}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}rect{fill:#243447;stroke:#8aa0b4}"
    ".once rect{fill:#16202b}path{stroke:#8aa0b4}polygon{fill:#8aa0b4}circle{fill:#e6edf3}}"
)


def draw_rules(rules: Rules) -> str:
    """Draw rules as SVG; needs Graphviz."""
    there = ~never_happens(rules)
    order = rules.never_precedes & ~rules.never_follows & there[:, None] & there[None, :]
    np.fill_diagonal(order, False)
    needs = (rules.always_follows | rules.always_precedes.T) & order
    # What a third activity between the two says already is not drawn again.
    between = (order.astype(np.float32) @ order.astype(np.float32)) > 0
    shown = order & ~between
    names = rules.activities
    steps: dict[Step, int] = {
        (names[a], names[b]): 2 if needs[a, b] else 1 for a, b in np.argwhere(shown).tolist()
    }
    # Where anything may begin a case, arrows to what has nothing before it are enough.
    first = there & rules.starts & ~(shown.any(axis=0) & rules.starts.all())
    for a in np.flatnonzero(first).tolist():
        steps[None, names[a]] = 2
    for a in np.flatnonzero(there).tolist():
        # An activity without any order still has its box.
        if not any(names[a] in step for step in steps):
            steps[None, names[a]] = 1
    once = {name for a, name in enumerate(names) if rules.never_follows[a, a]}
    return _svg(steps, once, str(rules.source))


def _svg(steps: dict[Step, int], once: set[str], source: str) -> str:
    parts = []
    width = height = 40.0
    if steps:
        layout = lay_out(steps)
        width, height = layout.width, layout.height
        for step, arrow in layout.arrows.items():
            start, *rest = arrow.curve
            x, y = arrow.curve[-1]
            dx, dy = (arrow.tip[0] - x) * 0.4, (arrow.tip[1] - y) * 0.4
            head = " ".join(map(point, (arrow.tip, (x - dy, y + dx), (x + dy, y - dx))))
            kind = "must" if steps[step] == 2 else "may"
            path = f"M{point(start)}C{' '.join(map(point, rest))}"
            parts.append(f'<g class="{kind}"><path d="{path}"/><polygon points="{head}"/></g>')
        for (name, _), box in layout.boxes.items():
            parts.append(_box(name, box, name in once))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img"><title>{_text(source)}</title>'
        f"<style>{STYLE}</style>{''.join(parts)}</svg>\n"
    )


def _box(name: str | None, box: Box, once: bool) -> str:
    if name is None:
        return f'<circle cx="{box.x:g}" cy="{box.y:g}" r="8"><title>start</title></circle>'
    corner = f'x="{box.x - box.width / 2:.1f}" y="{box.y - box.height / 2:.1f}"'
    top = box.y - 15 * (len(box.lines) - 1) / 2 + 4.5
    lines = "".join(
        f'<text x="{box.x:g}" y="{top + 15 * i:.1f}">{_text(line)}</text>'
        for i, line in enumerate(box.lines)
    )
    often = "at most once" if once else "any number of times"
    return (
        f'<g class="{"once" if once else "often"}"><title>{_text(name)}: {often}</title>'
        f'<rect {corner} width="{box.width:g}" height="{box.height:g}"/>{lines}</g>'
    )


def _text(text: str) -> str:
    """Text for XML; what XML cannot hold is left out."""
    kept = "".join(c for c in text if c.isprintable())
    return escape(kept.encode("utf-8", "ignore").decode("utf-8"))
