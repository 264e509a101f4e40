"""Directly-follows pairs are counted right, and the table of a report lists all of them."""

from __future__ import annotations

import itertools
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from sacofa.kernel.variants import VariantCounts
from sacofa.report.flow import Flow, count_flow, list_steps
from sacofa.synthesis.margins import Step

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
