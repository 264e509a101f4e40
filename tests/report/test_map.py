"""Which activities and arrows a process map shows, and where they go, on random graphs.

The script of a report is the only code that chooses and places them. Node.js runs it here.
"""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
from collections.abc import Collection
from functools import lru_cache
from random import Random
from typing import Any

import pytest

from sacofa.report.page import FOLDER

END = -1
"""The start as the first of a pair, the end as the second."""
MOST_STEPS = 90
"""As in choose.js: more arrows cannot be told apart."""
Pair = tuple[int, int]
Graph = dict[Pair, int]
SHARES = (0.0, 0.3, 0.8, 1.0)
RUN = """
const { graphs, shares } = JSON.parse(require("node:fs").readFileSync(0));
const place = (node) => ({ place: node.place, x: node.x, y: node.y, width: node.box, height: node.height });
console.log(JSON.stringify(graphs.map(({ steps, events, wanted }) => {
  const flow = { steps, events };
  const chosen = shares.map((share) => chooseSteps(flow, wanted.length, share));
  const layout = layOut(chosen[2].map((step) => ({ from: step[0], to: step[1], raw: step, count: step[2] })), (step) => `${step.count}`);
  return {
    paths: [false, true].map((back) => [...widestWays(steps, wanted, back)]),
    chosen,
    layout: {
      width: layout.width, height: layout.height, boxes: layout.nodes.map(place),
      numbers: layout.edges.map((edge) => edge.number).map((bend) => ({ x: bend.x, y: bend.y, width: bend.width, height: bend.height })),
      arrows: [...layout.edges, ...layout.loops].map((edge) => edge.raw),
      curves: layout.edges.map((edge) => curveOf(layout, edge).path),
    },
  };
})));
"""  # noqa: E501


@lru_cache
def runs() -> list[tuple[Graph, list[int], dict[str, Any]]]:
    """Random graphs, the activities that are wanted, and what the script makes of them.

    Some graphs have few different counts, so that many paths are equally wide.
    """
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not installed (Debian: apt-get install nodejs)")
    draw = Random(36)
    graphs = [
        _graph(draw, size, most)
        for size in (1, 3, 6, 12)
        for most in (1, 2, 9, 999)
        for _ in range(30)
    ]
    names = [f"Activity {i} with a name" for i in range(12)]
    script = f"const data = {json.dumps({'activities': names})};\n" + "".join(
        (FOLDER / name).read_text(encoding="utf-8") for name in ("layout.js", "choose.js")
    )
    content = [
        {
            "steps": [[a, b, count] for (a, b), count in graph.items()],
            "events": [sum(n for (_, b), n in graph.items() if b == i) for i in range(len(names))],
            "wanted": wanted,
        }
        for graph, wanted in graphs
    ]
    done = subprocess.run(
        [node, "-e", script + RUN],
        input=json.dumps({"graphs": content, "shares": SHARES}),
        capture_output=True,
        text=True,
        check=True,
    )
    made = json.loads(done.stdout)
    return [(*graph, result) for graph, result in zip(graphs, made, strict=True)]


def test_the_path_to_an_activity_is_as_wide_as_any() -> None:
    """The width of a path is its least frequent step. Paths to the end are those of a mirror."""
    for graph, _, result in runs():
        for back, steps in zip((False, True), result["paths"], strict=True):
            shown = {(a, b) for a, b, _ in steps}
            widths, best = _widths(shown, graph, back), _widths(graph, graph, back)
            assert widths == {place: best[place] for place in widths}


def test_the_widest_paths_reach_all_that_can_be_reached() -> None:
    """From the start, and with back to the end; nothing else is on them."""
    for graph, wanted, result in runs():
        for back, steps in zip((False, True), result["paths"], strict=True):
            shown = {(a, b) for a, b, _ in steps}
            assert shown <= graph.keys()
            assert (
                _widths(graph, graph, back).keys() & set(wanted)
                <= _widths(shown, graph, back).keys()
            )


def test_every_activity_shown_hangs_together_with_start_and_end() -> None:
    """What can be reached at all among the most frequent activities is reached by the arrows."""
    for graph, wanted, result in runs():
        places = _frequent(graph, len(wanted))
        inside = {(a, b): n for (a, b), n in graph.items() if {a, b} <= places | {END}}
        for chosen in result["chosen"]:
            shown = {(a, b) for a, b, _ in chosen}
            assert shown <= inside.keys()
            for back in (False, True):
                assert _widths(shown, graph, back).keys() == _widths(inside, graph, back).keys()


def test_a_larger_share_of_paths_shows_more_and_all_shows_everything() -> None:
    """As far as that many arrows can be read."""
    for graph, wanted, result in runs():
        shown = [{(a, b) for a, b, _ in chosen} for chosen in result["chosen"]]
        assert all(less <= more for less, more in itertools.pairwise(shown))
        places = _frequent(graph, len(wanted)) | {END}
        inside = {(a, b) for a, b in graph if {a, b} <= places}
        assert shown[-1] == inside if len(inside) <= MOST_STEPS else len(shown[-1]) >= MOST_STEPS
        kept = sum(graph[step] for step in shown[2])
        enough = SHARES[2] * sum(graph[step] for step in inside)
        assert kept >= enough or len(shown[2]) >= MOST_STEPS


def test_boxes_and_numbers_lie_apart_and_inside() -> None:
    """Each arrow has a place, and none of the boxes and numbers lies on another one."""
    for _, _, result in runs():
        layout = result["layout"]
        assert sorted(layout["arrows"]) == sorted(result["chosen"][2])
        assert all("NaN" not in curve for curve in layout["curves"])
        drawn = [*layout["boxes"], *layout["numbers"]]
        for one in drawn:
            assert one["width"] / 2 <= one["x"] <= layout["width"] - one["width"] / 2
            assert one["height"] / 2 <= one["y"] <= layout["height"] - one["height"] / 2
        for one, other in itertools.combinations(drawn, 2):
            across = abs(one["x"] - other["x"]) >= (one["width"] + other["width"]) / 2 - 1e-6
            down = abs(one["y"] - other["y"]) >= (one["height"] + other["height"]) / 2 - 1e-6
            assert across or down


def _graph(draw: Random, size: int, most: int) -> tuple[Graph, list[int]]:
    """Random steps between activities, the most frequent first, and some activities."""
    places = list(range(size))
    ends = [END, *places]
    steps = {(a, b): draw.randint(1, most) for a in ends for b in ends if draw.random() < 0.6}
    ordered = dict(sorted(steps.items(), key=lambda item: -item[1]))
    return ordered, draw.sample(places, draw.randint(1, size))


def _frequent(graph: Graph, number: int) -> set[int]:
    """The activities with the most events."""
    events: dict[int, int] = {}
    for (_, second), count in graph.items():
        if second != END:
            events[second] = events.get(second, 0) + count
    return set(sorted(events, key=lambda place: (-events[place], place))[:number])


def _widths(shown: Collection[Pair], graph: Graph, back: bool) -> dict[int, int]:
    """The width of the widest path to each place along the steps shown, by plain iteration."""
    widths = {END: sum(graph.values())}
    for _ in graph:
        for step in shown:
            here, there = reversed(step) if back else step
            if there != END and here in widths:
                widths[there] = max(widths.get(there, 0), min(widths[here], graph[step]))
    return {place: width for place, width in widths.items() if place != END}
