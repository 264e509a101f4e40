"""What analysts ask, against counting by hand and on random logs."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa.evaluate.measures import flow
from sacofa.kernel.variants import VariantCounts

MEASURES = [
    flow.steps_distance, flow.trigrams_distance, flow.activity_error,
    flow.repetition_error, flow.eventually_error, flow.length_error,
    flow.starts_distance, flow.ends_distance,
]  # fmt: skip
LOGS = st.dictionaries(
    st.lists(st.sampled_from("abc"), max_size=5).map(tuple), st.integers(1, 9), min_size=1
).map(VariantCounts.of)


def shares(log: VariantCounts, asked: object) -> float:
    """The share of cases for which something holds, counted one by one."""
    return sum(n for case, n in log if asked(case)) / log.cases  # type: ignore[operator]


@given(log=LOGS)
@settings(max_examples=50, deadline=None)
def test_a_log_is_no_different_from_itself(log: VariantCounts) -> None:
    """Nothing is off, and all top steps are kept."""
    assert all(measure(log, log) == 0 for measure in MEASURES)
    assert flow.top_steps_kept(log, log) == 1


@given(one=LOGS, other=LOGS)
@settings(max_examples=200, deadline=None)
def test_shares_of_cases_are_those_counted_by_hand(
    one: VariantCounts, other: VariantCounts
) -> None:
    """Presence, repetition and order of two activities, over what 1 % of the original shows."""
    questions = {
        flow.activity_error: [lambda case, a=a: a in case for a in "abc"],
        flow.repetition_error: [lambda case, a=a: case.count(a) > 1 for a in "abc"],
        flow.eventually_error: [
            lambda case, a=a, b=b: a in case and b in case[case.index(a) + 1 :]
            for a in "abc"
            for b in "abc"
        ],
    }
    for measure, asked in questions.items():
        errors = [
            abs(shares(one, question) - shares(other, question))
            for question in asked
            if shares(one, question) >= 0.01
        ]
        assert measure(one, other) == pytest.approx(np.mean(errors) if errors else 0)


@given(one=LOGS, other=LOGS)
@settings(max_examples=200, deadline=None)
def test_steps_are_those_counted_by_hand(one: VariantCounts, other: VariantCounts) -> None:
    """Frequencies of pairs with start and end; the distance is between 0 and 1 and symmetric."""

    def steps(log: VariantCounts) -> Counter[tuple[str, str]]:
        found: Counter[tuple[str, str]] = Counter()
        for case, n in log:
            path = ("start", *case, "end")
            for pair in pairwise(path):
                found[pair] += n
        return found

    left, right = steps(one), steps(other)
    pairs = {*left, *right}
    expected = sum(abs(left[pair] / left.total() - right[pair] / right.total()) for pair in pairs)
    assert flow.steps_distance(one, other) == pytest.approx(expected / 2)
    assert flow.steps_distance(one, other) == pytest.approx(flow.steps_distance(other, one))


def test_lengths_and_ends() -> None:
    """Cases half as long, and other first activities."""
    one = VariantCounts.of({("a", "b"): 10})
    other = VariantCounts.of({("a",): 5, ("b",): 5})
    assert flow.length_error(one, other) == 0.5
    assert flow.starts_distance(one, other) == 0.5
    assert flow.ends_distance(one, other) == 0.5
    assert flow.length_error(one, VariantCounts.of({})) == 1
