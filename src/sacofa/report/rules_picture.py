"""A diagram of rules: the order of activities, from the start to the end.

An arrow from a to b means that a never comes after b, although b may come after a. It is solid if
one of the two requires the other, and dashed if each can happen alone. Transitive arrows are
omitted. Graphviz computes the layout.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..evaluate.extras import optional_module
from ..rules.rules import Rules
from ..rules.show import never_happens
from ..synthesis.margins import Place, Step
from .page import render

LETTER_WIDTH, LINE_HEIGHT, PADDING, START_SIZE = 6.9, 15.0, 10.0, 22.0
"""Sizes in points: a letter, a line, the padding of a box, and the start."""
MARGIN = 6.0
"""The margin of the diagram."""


@dataclass(frozen=True, kw_only=True)
class Box:
    """An activity, or the start, which has no name."""

    name: Place
    once: bool
    """Whether a case has the activity at most once."""

    @property
    def lines(self) -> list[str]:
        """The name, broken into at most three short lines."""
        name = " ".join((self.name or "").split())
        return textwrap.wrap(name, 22, max_lines=3, placeholder=" …") or [""]

    @property
    def size(self) -> tuple[float, float]:
        """The width and height of its lines."""
        if self.name is None:
            return START_SIZE, START_SIZE
        letters = max(6, *map(len, self.lines))
        return round(letters * LETTER_WIDTH + 26, 1), LINE_HEIGHT * len(self.lines) + PADDING


def draw_rules(rules: Rules) -> str:
    """Draw rules as SVG. Needs pygraphviz."""
    once = {name for a, name in enumerate(rules.activities) if rules.never_follows[a, a]}
    steps = _order(rules)
    # The start comes first, as the empty name.
    places = sorted({place for step in steps for place in step}, key=lambda name: name or "")
    boxes = [Box(name=name, once=name in once) for name in places]
    return render("rules.svg.j2", source=str(rules.source), margin=MARGIN, **_layout(boxes, steps))


def _order(rules: Rules) -> dict[Step, bool]:
    """Return the arrows of the diagram, and whether each is solid."""
    possible = ~never_happens(rules)
    order = rules.never_precedes & ~rules.never_follows & possible[:, None] & possible[None, :]
    np.fill_diagonal(order, False)
    needed = (rules.always_follows | rules.always_precedes.T) & order
    shown = order & ~((order.astype(np.float32) @ order.astype(np.float32)) > 0)
    names = rules.activities
    steps: dict[Step, bool] = {
        (names[a], names[b]): bool(needed[a, b]) for a, b in np.argwhere(shown).tolist()
    }
    # If every activity may begin a case, arrows to those with nothing before them are enough.
    first = possible & rules.starts & ~(shown.any(axis=0) & rules.starts.all())
    steps |= {(None, names[a]): True for a in np.flatnonzero(first).tolist()}
    # An activity without arrows still has a box.
    placed = {place for step in steps for place in step}
    free = [names[a] for a in np.flatnonzero(possible).tolist() if names[a] not in placed]
    return steps | {(None, name): False for name in free}


def _layout(boxes: list[Box], steps: Mapping[Step, bool]) -> dict[str, object]:
    """Lay out boxes and arrows with Graphviz, whose y axis points up.

    Names are replaced by numbers, so that Graphviz cannot interpret them.
    """
    if not boxes:
        return {"width": 28, "height": 28, "boxes": [], "arrows": []}
    pygraphviz = optional_module("pygraphviz", extra="map")
    graph = pygraphviz.AGraph(directed=True, rankdir="TB", nodesep="0.35", ranksep="0.5")
    graph.node_attr.update(fixedsize="true", shape="box", label="")
    graph.edge_attr.update(arrowsize="0.7")
    ids = {box.name: f"n{i:06}" for i, box in enumerate(boxes)}
    for box in boxes:
        # Graphviz measures boxes in inches, and everything else in points.
        width, height = (f"{size / 72:.4f}" for size in box.size)
        graph.add_node(ids[box.name], width=width, height=height)
    # Solid arrows come first.
    ordered = sorted(steps, key=lambda step: (not steps[step], ids[step[0]], ids[step[1]]))
    for first, second in ordered:
        graph.add_edge(ids[first], ids[second], weight=1 + steps[first, second])
    graph.layout(prog="dot")
    _, _, right, top = map(float, graph.graph_attr["bb"].split(","))
    middles = (graph.get_node(ids[box.name]).attr["pos"].split(",") for box in boxes)
    # Graphviz gives the tip of an arrow, then its curve: a point, and three for each piece.
    curves = (graph.get_edge(ids[a], ids[b]).attr["pos"].split()[1:] for a, b in ordered)
    return {
        "width": round(right),
        "height": round(top),
        "boxes": [
            (box, float(x), top - float(y)) for box, (x, y) in zip(boxes, middles, strict=True)
        ],
        "arrows": [
            (steps[step], f"M{start}C{' '.join(points)}")
            for step, (start, *points) in zip(ordered, curves, strict=True)
        ],
    }
