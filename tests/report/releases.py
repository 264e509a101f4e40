"""Releases that the tests of reports share."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from sacofa.base.batches import cases_of
from sacofa.examples import running_example
from sacofa.kernel.accounting import Access, Spend
from sacofa.kernel.cases import Cases
from sacofa.kernel.queries.times import Gaps
from sacofa.kernel.unit import ONE_CASE
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms.paper import Laplace, Sacofa
from sacofa.mechanisms.released import ReleasedLog
from sacofa.release import Release, anonymize
from sacofa.release.certificate import Certificate

HOSTILE = (
    "</script><script>document.title='owned'</script>",
    '"><img src=x onerror="document.title=1">',
    "{{ 7 * 7 }} {% raw %}",
    "<!--<script>",
    "a & b < c",
    "строка\u2028次",
)
"""Activity names that are markup, or would be if somebody forgot to escape them."""


def hospital(*, seed: int | None = None, level_epsilon: Fraction = Fraction(1, 5)) -> Release:
    """A release of the running example with a finite price."""
    mechanism = Laplace(level_epsilon=level_epsilon, max_length=5, prune=6)
    return anonymize(running_example(), mechanism, seed=seed)


def leaking() -> Release:
    """A release of the running example without any promise."""
    mechanism = Sacofa(level_epsilon=Fraction(1), max_length=5, prune_harmless=2, prune_harmful=2)
    return anonymize(running_example(), mechanism)


def of(variants: VariantCounts, *accesses: Access) -> Release:
    """A release that holds just these variants."""
    certificate = Certificate(
        mechanism="test",
        unit=ONE_CASE,
        spent=accesses or (Spend(what="counts", amount=Fraction(1)),),
        assumptions=("Names are public.",),
        not_promised=("Much.",),
        settings={"max_length": 30},
    )
    return Release(log=ReleasedLog(variants=variants), certificate=certificate)


def with_parts(release: Release, **parts: Any) -> Release:
    """A release in which parts of the log are others."""
    return replace(release, log=replace(release.log, **parts))


def timed() -> Release:
    """A release whose cases take an hour, half of them from one day, with names that are markup."""
    variants = VariantCounts.of({(HOSTILE[0], HOSTILE[1]): 4})
    begins = np.array([0, 40, 0, 40]) * 86_400
    times = np.stack([begins, begins + 3_600], axis=1).ravel()
    release = of(variants, Spend(what=Gaps.what, amount=Fraction(1)))
    return with_parts(release, times=times)


def slow() -> Cases:
    """The log behind it: there, cases take two hours and begin on one day."""
    variants = timed().variants
    batch = cases_of(variants, np.tile([0, 7_200_000_000], 4))
    return Cases(variants=variants, by_case=batch)


def large(variants: int, length: int, activities: int) -> Release:
    """A release with so many variants of one length."""
    names = [f"Activity number {i} of a long process" for i in range(activities)]
    draw = Random(variants)
    weights = [1 / (i + 1) for i in range(activities)]
    counts: dict[tuple[str, ...], int] = {}
    while len(counts) < variants:
        counts[tuple(draw.choices(names, weights, k=length))] = len(counts) + 1
    return of(VariantCounts.of(counts))


def without_packages(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    """Make packages impossible to import, whether they were imported before or not."""
    loaded = [name for name in sys.modules if name.partition(".")[0] in packages]
    for name in (*packages, *loaded):
        monkeypatch.setitem(sys.modules, name, None)
