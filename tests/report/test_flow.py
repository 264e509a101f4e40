"""Steps are counted right, and every level of a map hangs together."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacofa.kernel.variants import VariantCounts
from sacofa.report.flow import (
    MOST_STEPS,
    Flow,
    Step,
    choose_levels,
    count_flow,
    list_steps,
    widest_ways,
)
from sacofa.report.page import FOLDER

names = st.sampled_from("abcdefg")
variants = st.dictionaries(st.lists(names, max_size=7).map(tuple), st.integers(1, 50), max_size=12)


@given(variants, variants)
def test_steps_are_those_of_a_literal_count(
    finished: dict[tuple[str, ...], int], cut: dict[tuple[str, ...], int]
) -> None:
    """Counting with arrays gives what counting case by case gives."""
    steps: Counter[Step] = Counter()
    events: Counter[str] = Counter()
    for log, done in ((finished, True), (cut, False)):
        for variant, count in log.items():
            places = [None, *variant, *([None] if done else [])]
            for first, second in itertools.pairwise(places):
                steps[first, second] += count
            for name in variant:
                events[name] += count
    flow = count_flow(VariantCounts.of(finished, "abcdefg", truncated=cut))
    assert dict(flow.steps) == dict(steps)
    assert dict(flow.activities) == dict(events)
    assert list(flow.steps.values()) == sorted(flow.steps.values(), reverse=True)


@given(variants)
def test_on_every_level_each_activity_lies_on_a_way_from_start_to_end(
    log: dict[tuple[str, ...], int],
) -> None:
    """Nothing floats, and each level shows all of the one before and more."""
    flow = count_flow(VariantCounts.of(log, "abcdefg"))
    levels = choose_levels(flow)
    assert bool(levels) == bool(flow.steps)
    for level in levels:
        places = {place for step in level for place in step if place is not None}
        assert places <= _reached(level)
        assert places <= _reached({(second, first) for first, second in level})
    for less, more in itertools.pairwise(levels):
        assert less < more
    if levels and len(flow.steps) <= MOST_STEPS:
        assert levels[-1] == set(flow.steps)


def test_the_script_of_a_report_finds_the_same_widest_paths() -> None:
    """What sliders show hangs together by the same steps as the map without scripts does.

    The graphs have few counts, so that many paths are equally wide.
    """
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not installed (Debian: apt-get install nodejs)")
    draw = Random(36)
    graphs = [_graph(draw, size, most) for size in (3, 6, 12) for most in (2, 9, 999) * 40]
    script = (
        (FOLDER / "choose.js").read_text(encoding="utf-8")
        + """
        const graphs = JSON.parse(require("node:fs").readFileSync(0));
        console.log(JSON.stringify(graphs.map(({ steps, wanted }) =>
          [false, true].map((back) => [...widestWays(steps, wanted, back)]))));
    """
    )
    numbered = [
        {
            "steps": [[_place(a), _place(b), count] for (a, b), count in steps.items()],
            "wanted": [_place(place) for place in wanted],
        }
        for steps, wanted in graphs
    ]
    done = subprocess.run(
        [node, "-e", script], input=json.dumps(numbered), capture_output=True, text=True, check=True
    )
    for (steps, wanted), found in zip(graphs, json.loads(done.stdout), strict=True):
        for back, ways in zip((False, True), found, strict=True):
            expected = widest_ways(steps, wanted, back=back)
            assert {(a, b) for a, b, _ in ways} == {(_place(a), _place(b)) for a, b in expected}
            assert _widths(expected, steps, back) == {
                place: width
                for place, width in _widths(set(steps), steps, back).items()
                if place in {p for step in expected for p in step}
            }


def test_the_widest_path_is_found_when_a_narrow_one_is_seen_first() -> None:
    """An activity that is seen by a step of 1 is shown with the path of 590 that leads to it."""
    steps: dict[Step, int] = {
        (None, "a"): 600,
        ("a", "b"): 590,
        ("b", "c"): 590,
        ("a", "c"): 1,
        ("c", None): 591,
    }
    assert widest_ways(steps, ["c"], back=False) == {(None, "a"), ("a", "b"), ("b", "c")}


def test_a_map_of_everything_is_not_drawn_where_it_would_say_nothing() -> None:
    """A flow with thousands of steps, even ones too, has levels of a readable size."""
    for count in (1, 0):
        log = {(f"x{i}", f"y{i % 37}", f"z{i % 41}"): 1000 - i * count for i in range(900)}
        levels = choose_levels(count_flow(VariantCounts.of(log)))
        assert levels
        assert all(len(level) <= MOST_STEPS for level in levels)


def test_the_table_holds_what_vanished_too() -> None:
    """A step that only the original has is listed with a count of 0."""
    before = count_flow(VariantCounts.of({("a", "b"): 3}))
    after = count_flow(VariantCounts.of({("a",): 2}))
    lines = {
        (line.first, line.second): (line.before, line.count) for line in list_steps(after, before)
    }
    assert lines == {
        (None, "a"): (3, 2),
        ("a", "b"): (3, 0),
        ("b", None): (3, 0),
        ("a", None): (0, 2),
    }
    assert list_steps(Flow(activities={}, steps={}, cases=0)) == ()


def _graph(draw: Random, size: int, most: int) -> tuple[dict[Step, int], list[str]]:
    """Random steps between so many activities, and those of them that should be reached."""
    places = [f"{i:02}" for i in range(size)]
    ends: list[str | None] = [None, *places]
    steps: dict[Step, int] = {
        (a, b): draw.randint(1, most) for a in ends for b in ends if draw.random() < 0.4
    }
    return steps, draw.sample(places, draw.randint(1, size))


def _place(name: str | None) -> int:
    return -1 if name is None else int(name)


def _widths(shown: set[Step], steps: dict[Step, int], back: bool) -> dict[str, int]:
    """The width of the widest path to each place along the steps shown, by plain iteration."""
    widths: dict[str | None, int] = {None: sum(steps.values())}
    for _ in steps:
        for step in shown:
            here, there = reversed(step) if back else step
            if there is not None and here in widths:
                widths[there] = max(widths.get(there, 0), min(widths[here], steps[step]))
    return {place: width for place, width in widths.items() if place is not None}


def _reached(steps: set[Step] | frozenset[Step]) -> set[str]:
    reached: set[str] = set()
    edge: set[str | None] = {None}
    while edge:
        found = {b for a, b in steps if a in edge and b is not None} - reached
        reached |= found
        edge = set(found)
    return reached
