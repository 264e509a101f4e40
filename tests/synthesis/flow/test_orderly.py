"""Rare disorder goes, and the core lies inside the release."""

from __future__ import annotations

from fractions import Fraction

from sacofa import Certified
from sacofa.kernel import Cases, Noise
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms import perform
from sacofa.synthesis.flow.release import drop_disorder, mark_core, orders_of
from sacofa.synthesis.flow.tuning import TUNING

from ...mechanisms.certified.mixture import log_of


def test_rare_orders_are_dropped_and_frequent_ones_stay() -> None:
    """The rarer order of two activities, and a repeat, go below the least; others stay."""
    fitted = {(0, 1): 100.0, (1, 0): 5.0, (0, 0, 1): 4.0, (1, 2): 2.0}
    left = drop_disorder(fitted, 10.0, lambda kept: {ids: fitted[ids] for ids in kept})
    assert set(left) == {(0, 1), (1, 2)}
    assert drop_disorder(fitted, 3.0, lambda kept: {ids: fitted[ids] for ids in kept}) == fitted


def test_what_few_cases_do_may_come_in_both_orders() -> None:
    """An order goes only beside one that is much commoner, however few cases show both."""

    def left(before: float) -> set[tuple[int, ...]]:
        fitted = {(0, 1): before, (1, 0): 2.0, (0,): 500.0}
        return set(drop_disorder(fitted, 10.0, lambda kept: {ids: fitted[ids] for ids in kept}))

    assert left(TUNING.rarer * 2.0) == {(0, 1), (1, 0), (0,)}
    assert left(TUNING.rarer * 2.0 + 1) == {(0, 1), (0,)}


def test_a_way_back_is_no_disorder_of_its_own() -> None:
    """What lies between an activity and its repeat stays with it, and goes with it."""
    assert orders_of((0, 1, 0, 2)) == {(0, 1), (0, 0), (0, 2), (1, 2)}
    fitted = {(0, 2): 100.0, (0, 1, 2): 30.0, (0, 1, 0, 2): 12.0}

    def left(least: float) -> list[tuple[int, ...]]:
        return list(drop_disorder(fitted, least, lambda kept: {ids: fitted[ids] for ids in kept}))

    assert left(10.0) == list(fitted)
    assert left(15.0) == [(0, 2), (0, 1, 2)]


def test_the_core_lies_inside_the_release() -> None:
    """The core is some of the released variants, in good order."""
    released = VariantCounts.of({tuple("abc"): 90, tuple("acb"): 3, tuple("abbc"): 2, ("d",): 40})
    core = mark_core(released, Fraction(1), Fraction(11, 2))
    assert dict(released.where(core)) == {tuple("abc"): 90, ("d",): 40}
    log = log_of([300, 90, 5, 60, 0, 3, 2])
    outcome = perform(Certified(epsilon=1), Cases(variants=log), Noise(SeededBits(2)))
    assert outcome.log.core is not None and len(outcome.log.core) == len(outcome.log.variants)
    assert outcome.log.core.any()
