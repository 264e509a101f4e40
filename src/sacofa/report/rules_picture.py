"""A picture of rules: which activity comes before which, from the start to the end.

An arrow from a to b says that a never comes after b, although b may come after a. It is solid if
one of the two needs the other, and dashed if each can happen without the other. An arrow that
follows from two others is left out. Graphviz computes the places.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import MissingExtraError
from ..rules.rules import Rules
from ..rules.show import never_happens
from ..synthesis.margins import Place, Step
from .page import render

LETTER_WIDTH, LINE_HEIGHT, PADDING = 6.9, 15.0, 10.0
"""The room that a letter and a line of text take, and that a box has around them, in points."""
START_SIZE = 22.0
PICTURE_MARGIN = 6.0
HEAD_WIDTH = 0.4
"""Half of the width of an arrowhead, as a share of its length."""
Point = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Box:
    """An activity, or the start."""

    name: Place
    x: float
    """The middle."""
    y: float
    """The middle."""
    lines: tuple[str, ...]
    """The name, broken into lines. Empty for the start."""
    once: bool
    """Whether a case has the activity at most once."""

    @property
    def width(self) -> float:
        """The width that its longest line needs."""
        letters = max(6, *(len(line) for line in self.lines)) if self.lines else 0
        return round(letters * LETTER_WIDTH + 26, 1) if self.lines else START_SIZE

    @property
    def height(self) -> float:
        """The height that its lines need."""
        return LINE_HEIGHT * len(self.lines) + PADDING if self.lines else START_SIZE

    @property
    def first_baseline(self) -> float:
        """The baseline of the first line."""
        return self.y - LINE_HEIGHT * (len(self.lines) - 1) / 2 + 4.5


@dataclass(frozen=True, kw_only=True)
class Arrow:
    """The order of two activities."""

    curve: tuple[Point, ...]
    """The points of a Bézier curve: one, then three for each piece."""
    tip: Point
    """The point of the arrowhead."""
    needed: bool
    """Whether one of the two activities needs the other."""

    @property
    def head(self) -> tuple[Point, ...]:
        """The corners of the arrowhead."""
        x, y = self.curve[-1]
        dx, dy = (self.tip[0] - x) * HEAD_WIDTH, (self.tip[1] - y) * HEAD_WIDTH
        return (self.tip, (x - dy, y + dx), (x + dy, y - dx))


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Where everything goes."""

    boxes: tuple[Box, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    width: float = 40.0
    height: float = 40.0


def draw_rules(rules: Rules) -> str:
    """Draw rules.

    Args:
        rules: The rules.

    Returns:
        The picture as SVG.

    Raises:
        MissingExtraError: pygraphviz is not installed.
    """
    once = {name for a, name in enumerate(rules.activities) if rules.never_follows[a, a]}
    return render("rules.svg.j2", picture=_lay_out(_order(rules), once), source=str(rules.source))


def _order(rules: Rules) -> dict[Step, bool]:
    """The arrows of the picture, and whether each is solid."""
    possible = ~never_happens(rules)
    order = rules.never_precedes & ~rules.never_follows & possible[:, None] & possible[None, :]
    np.fill_diagonal(order, False)
    needed = (rules.always_follows | rules.always_precedes.T) & order
    between = (order.astype(np.float32) @ order.astype(np.float32)) > 0
    shown = order & ~between
    names = rules.activities
    steps: dict[Step, bool] = {
        (names[a], names[b]): bool(needed[a, b]) for a, b in np.argwhere(shown).tolist()
    }
    for a in _first(rules, possible, shown):
        steps[None, names[a]] = True
    for a in np.flatnonzero(possible).tolist():
        # An activity that nothing orders still has its box.
        if not any(names[a] in step for step in steps):
            steps[None, names[a]] = False
    return steps


def _first(rules: Rules, possible: NDArray[np.bool_], shown: NDArray[np.bool_]) -> list[int]:
    """The activities that get an arrow from the start.

    If every activity may begin a case, arrows to those with nothing before them are enough.
    """
    first = possible & rules.starts & ~(shown.any(axis=0) & rules.starts.all())
    found: list[int] = np.flatnonzero(first).tolist()
    return found


def _lay_out(steps: Mapping[Step, bool], once: set[str]) -> Picture:
    """Put boxes and arrows where Graphviz says."""
    if not steps:
        return Picture()
    bounds, middles, curves = _positions(steps, once)
    _, _, right, top = map(float, bounds.split(","))

    def point(text: str) -> Point:
        """A place; the y axis of Graphviz points up, and that of SVG down."""
        x, y = text.split(",")
        return round(float(x) + PICTURE_MARGIN, 1), round(top - float(y) + PICTURE_MARGIN, 1)

    return Picture(
        boxes=tuple(_box(place, point(middle), once) for place, middle in middles.items()),
        arrows=tuple(_arrow(curve.split(), point, steps[s]) for s, curve in curves.items()),
        width=round(right + 2 * PICTURE_MARGIN),
        height=round(top + 2 * PICTURE_MARGIN),
    )


def _positions(
    steps: Mapping[Step, bool], once: set[str]
) -> tuple[str, dict[Place, str], dict[Step, str]]:
    """The bounds of the picture, the middles of boxes and the curves of arrows, as text.

    Graphviz sees numbers instead of names, so that a name can mean nothing to it.
    """
    try:
        import pygraphviz
    except ImportError:
        raise MissingExtraError("pygraphviz", "map") from None
    places: set[Place] = {place for step in steps for place in step}
    ids = {place: f"n{i}" for i, place in enumerate(sorted(places, key=_name))}
    graph = pygraphviz.AGraph(directed=True, rankdir="TB", nodesep="0.35", ranksep="0.5")
    graph.node_attr.update(fixedsize="true", shape="box", label="")
    graph.edge_attr.update(arrowsize="0.7")
    for place, id in ids.items():
        box = _box(place, (0.0, 0.0), once)
        # Graphviz measures boxes in inches, and everything else in points.
        graph.add_node(id, width=f"{box.width / 72:.4f}", height=f"{box.height / 72:.4f}")
    # Solid arrows come first.
    ordered = sorted(steps, key=lambda step: (not steps[step], *map(_name, step)))
    for first, second in ordered:
        graph.add_edge(ids[first], ids[second], weight=1 + steps[first, second])
    graph.layout(prog="dot")
    curves = {s: graph.get_edge(ids[s[0]], ids[s[1]]).attr["pos"] for s in ordered}
    middles = {place: graph.get_node(id).attr["pos"] for place, id in ids.items()}
    return graph.graph_attr["bb"], middles, curves


def _name(place: Place) -> str:
    """The name of an activity; nothing for the start."""
    return place or ""


def _arrow(parts: Sequence[str], point: Callable[[str], Point], needed: bool) -> Arrow:
    """An arrow from the text of Graphviz: the tip, then the curve."""
    tip, *curve = parts
    return Arrow(curve=tuple(map(point, curve)), tip=point(tip.removeprefix("e,")), needed=needed)


def _box(place: Place, middle: Point, once: set[str]) -> Box:
    lines = () if place is None else break_name(place)
    return Box(name=place, x=middle[0], y=middle[1], lines=lines, once=place in once)


def break_name(name: str) -> tuple[str, ...]:
    """Break a name into at most three short lines."""
    return tuple(textwrap.wrap(" ".join(name.split()), 22, max_lines=3, placeholder=" …")) or ("",)
