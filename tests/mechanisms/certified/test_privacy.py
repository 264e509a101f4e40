"""The ε of `certified` is true: no outcome is more than e^ε times as likely for a neighbour."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from sacofa.mechanisms.certified.certified import Certified
from sacofa.privacy.reals import tail
from sacofa.queries.distance import Ids
from sacofa.queries.session import VOTE_UNITS, Ints, Looks
from sacofa.semantics import Rules
from sacofa.unit import Unit
from sacofa.variants import VariantCounts

from .outcomes import log_ratio, run_by_hand, some_noise

NAMES = ("a", "b")
CASES = [case for length in range(4) for case in product(NAMES, repeat=length)]
LOGS: list[dict[tuple[str, ...], int]] = [
    {},
    {("a",): 1},
    {("a", "b"): 3, ("b",): 1},
    {(): 2, ("a", "a", "a"): 2, ("b", "a"): 1},
]
EPSILON = Fraction(3, 2)


def neighbours(log: dict[tuple[str, ...], int], cases: int = 1) -> list[VariantCounts]:
    """The log with a few more cases, of each kind."""
    return [VariantCounts.of({**log, case: log.get(case, 0) + cases}, NAMES) for case in CASES[::3]]


def largest_ratio(mechanism: Certified, looks: type[Looks] = Looks, cases: int = 1) -> float:
    """The largest ratio (its logarithm, in ε) over logs, neighbours, directions and outcomes."""
    worst = 0.0
    for log in LOGS:
        secret = VariantCounts.of(log, NAMES)
        for neighbour in neighbours(log, cases):
            for first, second in ((secret, neighbour), (neighbour, secret)):
                for noise in some_noise(mechanism, first, 3, looks):
                    ratio = log_ratio(mechanism, first, second, noise, looks)
                    worst = max(worst, ratio / float(mechanism.epsilon))
                    if math.isinf(worst):
                        return worst
    return worst


SHORT = Certified(epsilon=EPSILON, max_length=2, min_candidates=5)
SETTINGS = {
    "length given": SHORT,
    "length chosen": replace(SHORT, max_length=None, longest=3),
    "rules given": replace(SHORT, rules=Rules.free(NAMES)),
}


@pytest.mark.parametrize("mechanism", SETTINGS.values(), ids=SETTINGS)
def test_no_outcome_gives_a_case_away(mechanism: Certified) -> None:
    """Every ratio is at most e^ε, and some is as large: nothing is wasted."""
    worst = largest_ratio(mechanism)
    assert worst <= 1 + 1e-9
    assert worst > 1 - 1e-9


def test_persons_with_several_cases_are_protected() -> None:
    """Neighbours that differ by three cases are as hard to tell apart, at the same price."""
    mechanism = replace(SHORT, unit=Unit(max_cases=3))
    assert 1 - 1e-9 < largest_ratio(mechanism, cases=3) <= 1 + 1e-9
    assert largest_ratio(SHORT, cases=3) > 2


class SpendsTwice(Looks):
    """Asks for the last vote twice, each at its full price."""

    def nearest(self, name: str, candidates: Sequence[Ids], price: Fraction) -> Ints:
        super().nearest(f"{name} again", candidates, price)
        return super().nearest(name, candidates, price)


class DropsZeros(Looks):
    """Adds no noise to cells that no case is in."""

    def _ask(self, what: str, name: str, true: Ints, price: Fraction, sensitivity: int = 1) -> Ints:
        noisy = super()._ask(what, name, true, price, sensitivity)
        noisy[true == 0] = 0
        return noisy


class ThresholdByTruth(Looks):
    """Hides noisy votes where too few cases truly voted."""

    def _ask(self, what: str, name: str, true: Ints, price: Fraction, sensitivity: int = 1) -> Ints:
        noisy = super()._ask(what, name, true, price, sensitivity)
        noisy[true < 2] = 0
        return noisy


class VotesPerStep(Looks):
    """Gives a case all its votes for each of its steps."""

    def _ask(self, what: str, name: str, true: Ints, price: Fraction, sensitivity: int = 1) -> Ints:
        if name == "steps":
            size = len(self.activities) + 1
            true = np.zeros((size, size), dtype=np.int64)
            for ids, count in zip(self._secret.sequences(), self._secret.counts, strict=True):
                path = (size - 1, *ids, size - 1)
                for a, b in pairwise(path):
                    true[a, b] += VOTE_UNITS * count
            true = true.ravel()
        return super()._ask(what, name, true, price, sensitivity)


class CountsUnnoticed(Looks):
    """Lets the true number of cases slip into the order of the answers."""

    def _ask(self, what: str, name: str, true: Ints, price: Fraction, sensitivity: int = 1) -> Ints:
        noisy = super()._ask(what, name, true, price, sensitivity)
        noisy[:] = np.roll(noisy, int(self._secret.cases))
        return noisy


@pytest.mark.parametrize(
    "broken", [SpendsTwice, DropsZeros, ThresholdByTruth, VotesPerStep, CountsUnnoticed]
)
def test_the_check_notices_what_is_broken(broken: type[Looks]) -> None:
    """The same check fails on mechanisms that spend too much or look without paying."""
    assert largest_ratio(SHORT, broken) > 1.2


def test_shares_that_add_up_to_more_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the last vote takes more than what is left, the check fails."""
    from sacofa.mechanisms.certified.budget import Division

    monkeypatch.setattr(Division, "last", lambda self, named: self.counts)
    # Another mechanism of the same settings: SHORT may have worked out its prices before.
    assert largest_ratio(replace(SHORT)) > 1.05


def test_the_release_itself_is_private() -> None:
    """The exact chance of each release differs by at most e^ε between neighbours.

    All looks but the last are held fixed; the last vote is added up over all noise that matters.
    """
    mechanism = Certified(epsilon=Fraction(4), max_length=1)
    logs = [VariantCounts.of({("a",): n, (): 2}, ("a",)) for n in (3, 4)]
    noise = next(some_noise(mechanism, logs[0], 1))
    start = run_by_hand(mechanism, logs[0], noise)
    epsilon = start.epsilons[-1]
    reach = 12

    def chance(x: int) -> float:
        return float(tail(epsilon, x)(30) - tail(epsilon, x + 1)(30))

    chances: list[dict[tuple[tuple[str, int], ...], float]] = []
    for log in logs:
        fixed = []
        for seen in start.seen[:-1]:
            truth = run_by_hand(mechanism, log, fixed).seen[len(fixed)]
            fixed.append(seen - truth)
        total: dict[tuple[tuple[str, int], ...], float] = {}
        cells = len(start.seen[-1])
        assert cells == 2
        for z in product(range(-reach, reach + 1), repeat=cells):
            released = run_by_hand(mechanism, log, [*fixed, np.array(z)]).released
            key = tuple(("".join(variant), count) for variant, count in released)
            total[key] = total.get(key, 0) + chance(z[0]) * chance(z[1])
        assert sum(total.values()) > 1 - 1e-8
        chances.append(total)
    one, other = chances
    ratios = [
        abs(math.log(one[key] / other[key])) for key in one if min(one[key], other.get(key, 0)) > 0
    ]
    assert len(ratios) > 3
    # What lies beyond the noise that was added up is below e^(-20).
    assert max(ratios) <= float(epsilon) + 1e-6
    assert max(ratios) > 0.95 * float(epsilon)
