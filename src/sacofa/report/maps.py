"""Process maps that are drawn before a page is opened: for readers without scripts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import MissingExtraError
from ..synthesis.margins import Step
from .flow import Flow, choose_levels
from .layout import Arrow, Layout, Point, lay_out

ENOUGH = 0.8
"""The map shows this much of all steps, or as much as can be read."""


@dataclass(frozen=True, kw_only=True)
class DrawnBox:
    """An activity, the start or the end on a map."""

    x: float
    y: float
    width: float
    height: float
    name: str
    lines: tuple[str, ...]
    count: int
    kind: str
    """box, start or end; with what happened to it: vanished, appeared or nothing."""

    @property
    def left(self) -> float:
        """The left edge."""
        return round(self.x - self.width / 2, 1)

    @property
    def top(self) -> float:
        """The upper edge."""
        return round(self.y - self.height / 2, 1)


@dataclass(frozen=True, kw_only=True)
class DrawnArrow:
    """A step on a map."""

    path: str
    """The curve, as SVG writes it."""
    head: str
    """The three corners of the head."""
    label: Point
    count: int
    thick: float
    what: str
    """The step in words."""
    kind: str
    """vanished, appeared or nothing; and unsure where the count is within its margin of error."""


@dataclass(frozen=True, kw_only=True)
class Map:
    """A process map at one level of detail."""

    width: float
    height: float
    boxes: tuple[DrawnBox, ...]
    arrows: tuple[DrawnArrow, ...]
    share: float
    """How much of all steps it shows."""


@dataclass(frozen=True, kw_only=True)
class Level:
    """The same level of detail for every flow on the page, with the same places."""

    maps: tuple[Map, ...]
    activities: int
    steps: int


def draw_map(
    *flows: Flow, enough: float = ENOUGH, margins: Mapping[Step, int] | None = None
) -> Level | None:
    """Draw one flow, or an original and its release, with the least detail that shows enough.

    This is the map that readers without scripts see.

    Args:
        flows: A release, or an original and its release.
        enough: The share of all steps that the map shows at least, if that many can be read.
        margins: The margin of error of each step of the release, as far as it is known.

    Returns:
        The maps, all with the same places; None if Graphviz is not installed.
    """
    steps = {step for flow in flows for step in flow.steps}
    most = {step: max(flow.steps.get(step, 0) for flow in flows) for step in steps}
    shown = _choose(flows, enough)
    if not shown:
        return None
    try:
        layout = lay_out({step: most[step] for step in shown})
    except MissingExtraError:
        return None
    maps = tuple(
        _draw(flow, layout, _kinds(flow, flows, margins or {}), max(most.values()))
        for flow in flows
    )
    names = {place for step in shown for place in step if place is not None}
    return Level(maps=maps, activities=len(names), steps=len(shown))


def _choose(flows: tuple[Flow, ...], enough: float) -> frozenset[Step]:
    levels = choose_levels(*flows)
    for shown in levels:
        shares = (
            sum(flow.steps.get(step, 0) for step in shown) / (sum(flow.steps.values()) or 1)
            for flow in flows
        )
        if min(shares) >= enough:
            return shown
    return levels[-1] if levels else frozenset()


def _kinds(
    flow: Flow, flows: tuple[Flow, ...], margins: Mapping[Step, int]
) -> Mapping[Step | str, str]:
    """Mark what only one of two flows has, and what noise alone may have put into a release."""
    original, released = flows[0] if len(flows) > 1 else None, flows[-1]
    kinds: dict[Step | str, list[str]] = {}
    if original is not None:
        other, word = (released, "vanished") if flow is original else (original, "appeared")
        for step in flow.steps.keys() - other.steps.keys():
            kinds.setdefault(step, []).append(word)
        for name in flow.activities.keys() - other.activities.keys():
            kinds.setdefault(name, []).append(word)
    if flow is released:
        for step, count in flow.steps.items():
            if count <= margins.get(step, 0):
                kinds.setdefault(step, []).append("unsure")
    return {what: " ".join(words) for what, words in kinds.items()}


def _draw(flow: Flow, layout: Layout, kinds: Mapping[Step | str, str], most: int) -> Map:
    boxes = []
    for (place, is_end), box in layout.boxes.items():
        if place is None:
            name = kind = "end" if is_end else "start"
            count = flow.cases
        elif place in flow.activities:
            name, count = place, flow.activities[place]
            kind = f"box {kinds.get(place, '')}".strip()
        else:
            continue
        boxes.append(
            DrawnBox(
                x=box.x,
                y=box.y,
                width=box.width,
                height=box.height,
                name=name,
                lines=box.lines,
                count=count,
                kind=kind,
            )
        )
    arrows = []
    for step, arrow in layout.arrows.items():
        count = flow.steps.get(step, 0)
        if count:
            arrows.append(_draw_arrow(step, arrow, count, most, kinds.get(step, "")))
    shown = sum(flow.steps.get(step, 0) for step in layout.arrows)
    return Map(
        width=layout.width,
        height=layout.height,
        boxes=tuple(boxes),
        arrows=tuple(reversed(arrows)),
        share=shown / (sum(flow.steps.values()) or 1),
    )


def _draw_arrow(step: Step, arrow: Arrow, count: int, most: int, kind: str) -> DrawnArrow:
    thick = round(1 + 4.5 * math.sqrt(count / most), 1)
    first, *rest = arrow.curve
    path = f"M{pair(first)}C{' '.join(map(pair, rest))}"
    x, y = arrow.curve[-1]
    along = (arrow.tip[0] - x, arrow.tip[1] - y)
    length = math.hypot(*along) or 1.0
    wide = (3.2 + thick * 0.75) / length
    corners = (
        arrow.tip,
        (x - along[1] * wide, y + along[0] * wide),
        (x + along[1] * wide, y - along[0] * wide),
    )
    return DrawnArrow(
        path=path,
        head=" ".join(map(pair, corners)),
        label=arrow.label,
        count=count,
        thick=thick,
        what=f"{step[0] or 'start'} → {step[1] or 'end'}",
        kind=kind,
    )


def pair(point: Point) -> str:
    return ",".join(f"{part:.1f}".removesuffix(".0") for part in point)
