"""The ε of `certified` is true with times, too: exact ratios of outcomes on logs with times.

The pairs are those of the audit: a case that waits 11 years, one of the year 1 or 9999, one of many
events, one without times, and a person with three cases. As in test_privacy.py the ratio is exact
for the outcomes that are tried.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from sacofa.audit import Pair, timed_pairs, timed_persons_pair
from sacofa.kernel.queries.protocol import Ints, Query
from sacofa.kernel.session import Session
from sacofa.mechanisms.certified.certified import Certified

from . import outcomes
from .outcomes import ForgetsCases, breaks, listed, run_by_hand

SHORT = Certified(epsilon=Fraction(3, 2), max_length=2, min_candidates=3, max_candidates=3)
PAIRS = {pair.name: pair for pair in (*timed_pairs(), timed_persons_pair(3))}
ASKED = ["cycle time", "gaps", "elapsed", "arrivals", "week"]
WITH_STARTS = "long work"
"""The pair in which it is also asked when work began."""


def largest_ratio(pair: Pair, session: type[Session] = Session, noises: int = 2) -> float:
    """The largest ratio of a pair."""
    return outcomes.largest_ratio(SHORT, (pair.smaller_cases, pair.larger_cases), session, noises)


def test_times_are_among_what_is_tried() -> None:
    """Every question about times is asked, each with noise of its own, and times come out."""
    outcome = run_by_hand(SHORT, PAIRS["long wait"].larger_cases, listed([]))
    assert [query.name for query in outcome.asked_for][-5:] == ASKED  # type: ignore[attr-defined]
    assert len(outcome.epsilons) == len(outcome.seen)
    assert outcome.output.log.times is not None
    started = run_by_hand(SHORT, PAIRS[WITH_STARTS].larger_cases, listed([]))
    assert [query.name for query in started.asked_for][-6:] == [*ASKED, "service time"]  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_no_outcome_gives_a_case_away(name: str) -> None:
    """Every ratio is at most e^ε, and much of it is used where the case has times."""
    worst = largest_ratio(PAIRS[name])
    assert 0.4 < worst <= 1 + 1e-9
    if name in ("long wait", "person with times", WITH_STARTS):
        assert worst > 0.99


class LittleNoise(Session):
    """Draws a tenth of the noise that times need."""

    def ask(self, query: Query, epsilon: Fraction, line: str) -> Ints:
        if query.by_case:
            self._left[line] += 9 * epsilon
            epsilon = 10 * epsilon
        return super().ask(query, epsilon, line)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ASKED, "service time"])
def test_a_table_of_times_without_noise_is_noticed(name: str) -> None:
    """Whichever of the tables is given as it is, or shows only where cases are."""
    pair = PAIRS["long wait" if name in ASKED else WITH_STARTS]
    assert largest_ratio(pair, breaks(name, lambda noisy, true: true), noises=1) > 1.2
    assert largest_ratio(pair, breaks(name, lambda noisy, true: noisy * (true > 0)), 1) > 1.2


@pytest.mark.slow
def test_too_little_noise_on_times_is_noticed() -> None:
    """For a case, and for a person whose cases are taken for one."""
    assert largest_ratio(PAIRS["long wait"], LittleNoise, noises=1) > 1.2
    assert largest_ratio(PAIRS["person with times"], ForgetsCases, noises=1) > 1.2
