"""Where the boxes and arrows of a process map go, computed by Graphviz.

Graphviz sees numbers in place of names, so that no name can mean anything to it.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import MissingExtraError
from ..synthesis.margins import Place, Step

LETTER, LINE = 6.9, 15.0
"""The room that a letter and a line of text take, in points."""
MARGIN = 6.0
Point = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Box:
    """Where an activity, the start or the end goes."""

    x: float
    """The middle."""
    y: float
    """The middle."""
    width: float
    height: float
    lines: tuple[str, ...]
    """The name, broken into lines; nothing for the start and the end."""


@dataclass(frozen=True, kw_only=True)
class Arrow:
    """Where a step goes."""

    curve: tuple[Point, ...]
    """The points of a Bézier curve: one, then three for each piece."""
    tip: Point
    """Where the arrow points to."""
    label: Point
    """The middle of its number."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where everything on a map goes."""

    width: float
    height: float
    boxes: Mapping[tuple[Place, bool], Box]
    """By activity; the flag is True for the end."""
    arrows: Mapping[Step, Arrow]


def break_name(name: str) -> tuple[str, ...]:
    """Break a name into at most three short lines; the rest is left to the table."""
    return tuple(textwrap.wrap(" ".join(name.split()), 22, max_lines=3, placeholder=" …")) or ("",)


def lay_out(steps: Mapping[Step, int]) -> Layout:
    """Lay out a map, frequent steps as straight as can be."""
    try:
        import pygraphviz
    except ImportError:
        raise MissingExtraError("the process map (pygraphviz)", "map") from None
    graph = pygraphviz.AGraph(
        directed=True, strict=False, rankdir="TB", nodesep="0.35", ranksep="0.42"
    )
    graph.node_attr.update(fixedsize="true", shape="box", label="")
    graph.edge_attr.update(arrowsize="0.7")
    ends = sorted({end for step in steps for end in _ends(step)}, key=_order)
    ids = {end: f"n{i}" for i, end in enumerate(ends)}
    names = {end: break_name(end[0]) if end[0] is not None else () for end in ends}
    for end in ends:
        width, height = _size(names[end])
        graph.add_node(ids[end], width=f"{width / 72:.4f}", height=f"{height / 72:.4f}")
    for number, (step, count) in enumerate(sorted(steps.items(), key=_step_order)):
        first, second = (ids[end] for end in _ends(step))
        graph.add_edge(
            first,
            second,
            key=f"e{number}",
            label=_room(f"{count:,}"),
            weight=1 + int(math.log2(count)),
        )
    graph.layout(prog="dot")
    return _read(graph, ids, names, [step for step, _ in sorted(steps.items(), key=_step_order)])


def _read(
    graph: Any,
    ids: Mapping[tuple[Place, bool], str],
    names: Mapping[tuple[Place, bool], tuple[str, ...]],
    steps: list[Step],
) -> Layout:
    """Take the places that Graphviz found; its y axis points up, ours points down."""
    _, _, right, top = map(float, graph.graph_attr["bb"].split(","))

    def place(text: str) -> Point:
        x, y = text.split(",")
        return round(float(x) + MARGIN, 1), round(top - float(y) + MARGIN, 1)

    boxes = {}
    for end, key in ids.items():
        x, y = place(graph.get_node(key).attr["pos"])
        width, height = _size(names[end])
        boxes[end] = Box(x=x, y=y, width=width, height=height, lines=names[end])
    arrows = {}
    for number, step in enumerate(steps):
        first, second = (ids[end] for end in _ends(step))
        edge = graph.get_edge(first, second, f"e{number}")
        tip, *curve = edge.attr["pos"].split()
        arrows[step] = Arrow(
            curve=tuple(map(place, curve)),
            tip=place(tip.removeprefix("e,")),
            label=place(edge.attr["lp"]),
        )
    return Layout(
        width=math.ceil(right + 2 * MARGIN),
        height=math.ceil(top + 2 * MARGIN),
        boxes=boxes,
        arrows=arrows,
    )


def _ends(step: Step) -> tuple[tuple[Place, bool], tuple[Place, bool]]:
    return (step[0], False), (step[1], step[1] is None)


def _size(lines: tuple[str, ...]) -> tuple[float, float]:
    if not lines:
        return 22.0, 22.0
    letters = max(6, *(len(line) for line in lines))
    return round(letters * LETTER + 26, 1), LINE * (len(lines) + 1) + 10


def _room(number: str) -> str:
    """An empty table as large as a number: Graphviz needs to know no font."""
    wide = math.ceil(len(number) * 6.2 + 4)
    size = f'fixedsize="true" width="{wide}" height="14"'
    return f'<<table border="0" {size}><tr><td></td></tr></table>>'


def _order(end: tuple[Place, bool]) -> tuple[bool, str, bool]:
    return end[0] is not None, end[0] or "", end[1]


def _step_order(item: tuple[Step, int]) -> tuple[int, str, str]:
    return -item[1], item[0][0] or "", item[0][1] or ""
