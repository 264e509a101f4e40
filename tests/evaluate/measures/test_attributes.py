"""Measures of attributes: known answers on logs that can be counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from sacofa.evaluate import Evaluator
from sacofa.evaluate.measures.attributes import (
    activity_distances,
    decision_accuracy,
    pair_distances,
    value_distances,
)
from sacofa.kernel.cases import CaseBatch, Cases, Values


def batch(cases: list[tuple[int, list[tuple[str, int]]]]) -> CaseBatch:
    """Cases with an attribute of their own and one of their events; cell 2 is missing."""
    events = [event for _, case in cases for event in case]
    return CaseBatch(
        activities=("a", "b"),
        activity_ids=np.array(["ab".index(name) for name, _ in events], dtype=np.int32),
        offsets=np.cumsum([0, *(len(case) for _, case in cases)], dtype=np.int64),
        complete=np.ones(len(cases), dtype=np.bool_),
        attributes=(
            Values(
                name="case:c", of_case=True, cells=np.array([c for c, _ in cases], np.int32), size=3
            ),
            Values(
                name="e", of_case=False, cells=np.array([v for _, v in events], np.int32), size=3
            ),
        ),
    )


LOG = batch([(0, [("a", 0), ("b", 2)])] * 30 + [(1, [("a", 1), ("b", 1)])] * 30)


def test_a_log_is_no_distance_from_itself() -> None:
    """And a decision tree learns what decides."""
    assert value_distances(LOG, LOG) == {"case:c": 0, "e": 0}
    assert activity_distances(LOG, LOG) == {"e": 0}
    assert pair_distances(LOG, LOG, [(0, 1)]) == {"case:c, e": 0}
    pytest.importorskip("sklearn")
    assert decision_accuracy(LOG, LOG, [(0, 1)]) == 1


def test_known_distances() -> None:
    """Values that moved, an activity that is lost, and pairs that were torn apart."""
    other = batch([(0, [("a", 0)])] * 45 + [(1, [("a", 1)])] * 15)
    assert value_distances(LOG, other)["case:c"] == pytest.approx(0.25)
    assert value_distances(LOG, other)["e"] == pytest.approx(abs(1 / 3 - 0.75))
    # Activity a has two thirds of the values and is a quarter off, b has none any more.
    assert activity_distances(LOG, other)["e"] == pytest.approx(2 / 3 * 0.25 + 1 / 3)
    torn = batch([(0, [("a", 1)])] * 30 + [(1, [("a", 0)])] * 30)
    assert pair_distances(LOG, torn, [(0, 1)]) == {"case:c, e": 1}
    pytest.importorskip("sklearn")
    assert decision_accuracy(LOG, torn, [(0, 1)]) == 0


def test_an_evaluation_shows_each_beside_its_limit() -> None:
    """Means among the measures, and every attribute and pair by itself."""
    cases = Cases(variants=LOG.variants(), by_case=LOG, has_times=False, pairs=((0, 1),))
    evaluator = Evaluator(cases)
    measures = evaluator.measure(cases)
    assert measures["values"] == measures["values_by_activity"] == measures["value_pairs"] == 0
    details = evaluator.attributes(cases)
    assert list(details) == ["case:c", "e", "e, by activity", "case:c, e"]
    assert all(off == 0 <= limit < 0.5 for off, limit in details.values())
    assert "values" not in Evaluator(LOG.variants()).measure(LOG.variants())
