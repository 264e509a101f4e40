"""What stands behind ± in a report holds in 95 of 100 runs, and half of it would not."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sacofa.examples.hospital import hospital
from sacofa.mechanisms import Certified
from sacofa.mechanisms.paper import Laplace
from sacofa.privacy.accounting import Spend
from sacofa.queries.distance import nearest
from sacofa.queries.times import Arrivals, CycleTime
from sacofa.release.anonymize import Release, anonymize
from sacofa.report.flow import count_flow
from sacofa.report.sureness import Within, find_within, share_within
from sacofa.variants import VariantCounts

from .releases import leaking, of


@pytest.fixture(scope="module")
def runs() -> list[Release]:
    """A few runs on the hospital's log."""
    return [anonymize(hospital(), Certified(epsilon=1), seed=seed) for seed in range(3)]


def _off_by_step(release: Release) -> np.ndarray:
    before, after = count_flow(hospital()).steps, count_flow(release.variants).steps
    return np.array([abs(count - before.get(step, 0)) for step, count in after.items()])


def _off_by_variant(release: Release) -> np.ndarray:
    """A released variant stands for the cases nearest to it: compared with their number."""
    log, released = hospital(), release.variants
    place = {name: i for i, name in enumerate(log.activities)}
    ids = [tuple(place[released.activities[i]] for i in each) for each in released.sequences()]
    found = nearest(list(log.sequences()), ids, len(log.activities))
    return np.abs(released.counts - np.bincount(found, log.counts, minlength=len(ids)))


def test_steps_and_variants_are_within(runs: list[Release]) -> None:
    """Nearly all; a third of the range is not enough, so it is not just wide."""
    steps = np.concatenate([_off_by_step(run) / (find_within(run).step or 1) for run in runs])
    variants = np.concatenate(
        [_off_by_variant(run) / (find_within(run).variant or 1) for run in runs]
    )
    for off in (steps, variants):
        assert (off <= 1).mean() >= 0.92
        assert (off <= 1 / 3).mean() < 0.92
    assert all(abs(run.variants.cases - 4000) <= (find_within(run).cases or 0) for run in runs)


def test_persons_take_more_noise(runs: list[Release]) -> None:
    """With m cases a person, every range is m times as wide, up to rounding."""
    run = runs[0]
    unit = replace(run.certificate.unit, person="who", max_cases=5)
    wide = find_within(replace(run, certificate=replace(run.certificate, unit=unit)))
    narrow = find_within(run)
    for name in ("cases", "variant", "step", "activity"):
        assert getattr(wide, name) == pytest.approx(5 * getattr(narrow, name), abs=5)


def test_the_papers_mechanisms_have_one_price_a_level() -> None:
    """ln 20 over it for a count; without a promise, or without any case, nothing is said."""
    laplace = Laplace(level_epsilon=Fraction(1, 2), max_length=30, prune=20)
    assert find_within(anonymize(hospital(), laplace)).variant == 6
    assert find_within(leaking()) == Within()
    assert find_within(of(hospital().where(np.zeros(len(hospital()), dtype=bool)))) == Within()


def test_shares_of_times_follow_from_their_price() -> None:
    """ln 20 over ε and the number of cases; what was not asked has no range."""
    release = of(VariantCounts.of({("a",): 100}), Spend(what=CycleTime.what, epsilon=Fraction(1)))
    assert share_within(release, CycleTime.what) == pytest.approx(0.03, abs=1e-3)
    assert share_within(release, Arrivals.what) is None
