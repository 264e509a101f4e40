"""Steps are counted right, and every level of a map hangs together."""

from __future__ import annotations

import itertools
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from sacofa.report.flow import MOST_STEPS, Flow, Step, choose_levels, count_flow, list_steps
from sacofa.variants import VariantCounts

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


def _reached(steps: set[Step] | frozenset[Step]) -> set[str]:
    reached: set[str] = set()
    edge: set[str | None] = {None}
    while edge:
        found = {b for a, b in steps if a in edge and b is not None} - reached
        reached |= found
        edge = set(found)
    return reached
