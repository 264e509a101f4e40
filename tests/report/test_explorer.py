"""Variants come in the order people read them, and nothing is lost on the way."""

from __future__ import annotations

from sacofa.kernel.variants import VariantCounts
from sacofa.report.flow import MOST_STEPS, list_variants

from .releases import large


def test_frequent_variants_come_first() -> None:
    """Counts fall, and names come in the order of their events."""
    log = VariantCounts.of({("b", "a"): 2, ("a",): 7, ("a", "a", "c"): 2}, truncated={("a",): 1})
    explorer = list_variants(log)
    assert explorer.activities == ("a", "b", "c")
    assert [(row.count, row.ids, row.complete) for row in explorer.rows] == [
        (7, (0,), True),
        (2, (1, 0), True),
        (2, (0, 0, 2), True),
        (1, (0,), False),
    ]
    assert explorer.cases == 12
    assert explorer.left_out == 0


def test_beside_an_original_lost_and_invented_are_there() -> None:
    """Each sequence of either log is one row with both counts."""
    original = VariantCounts.of({("a", "b"): 5, ("a", "b", "c"): 3, ("d",): 1})
    released = VariantCounts.of({("x",): 2}, truncated={("a", "b"): 6})
    rows = {
        tuple(list_variants(released, original).activities[i] for i in row.ids): (
            row.before,
            row.count,
            row.complete,
        )
        for row in list_variants(released, original).rows
    }
    assert rows == {
        ("a", "b"): (5, 6, False),
        ("a", "b", "c"): (3, 0, True),
        ("d",): (1, 0, True),
        ("x",): (0, 2, True),
    }


def test_a_page_has_limits_and_says_so() -> None:
    """What has no room is counted."""
    variants = large(3000, 100, 40).variants
    explorer = list_variants(variants)
    assert sum(len(row.ids) for row in explorer.rows) <= MOST_STEPS
    assert len(explorer.rows) + explorer.left_out == len(variants)
    assert explorer.left_out > 0
