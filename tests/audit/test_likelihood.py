"""Who knows both logs sees how much nearer every answer is to one of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sacofa import Certified, Laplace, VariantCounts
from sacofa.audit import Pair, audit, built_in_pairs, pairs_around, persons_around
from sacofa.audit.views import ALL, NEARER, UNIT, VIEWS, LikelihoodRatioAttack, views_for
from sacofa.examples import running_example
from sacofa.kernel import Cases, Noise
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.noise import Ints
from sacofa.mechanisms import Mechanism, Outcome, perform

from .broken import HalfTheScale, WithNoise

LOG = running_example()
ONE = Certified(epsilon=Fraction(1), min_candidates=12, max_candidates=12)
TWO = replace(ONE, epsilon=Fraction(2), max_length=2)
FOUR = replace(ONE, epsilon=Fraction(4))
"""What a larger ε shows, fewer runs see."""
RICH = VariantCounts.of({(): 2_000, ("a",): 2_000, ("a", "b"): 40}, ("a", "b"))
JOBS: dict[str, tuple[Certified, Pair]] = {
    **{pair.name: (ONE, pair) for pair in pairs_around(LOG, 3)},
    "person": (ONE, persons_around(LOG, 3)),
    "length given": (replace(ONE, max_length=4), pairs_around(LOG, 3)[0]),
    "shown by name": (replace(ONE, max_length=2), pairs_around(RICH, 3)[1]),
}


class ZeroNoise(Noise):
    """No noise: who knows a log knows its answers."""

    def laplace(self, epsilon: Fraction, size: int) -> Ints:
        return np.zeros(size, dtype=np.int64)


def outcome_of(mechanism: Mechanism, log: VariantCounts, noise: Noise) -> Outcome:
    """Run a mechanism on a log."""
    return perform(mechanism, Cases(variants=log), noise)


@pytest.mark.parametrize("job", JOBS)
def test_without_noise_every_query_knows_the_log(job: str) -> None:
    """Answers without noise are as far from the other log as one unit can make them, ε in all."""
    mechanism, pair = JOBS[job]
    view = LikelihoodRatioAttack(pair)
    for log, sign in ((pair.smaller, -1), (pair.larger, 1)):
        outcome = outcome_of(mechanism, log, ZeroNoise(SeededBits(1)))
        seen = view(outcome)
        # A cell of the histogram that is not shown is not compared.
        tables = set(outcome.transcript) - {"named"}
        compared = {rest[0] for name, *rest in seen if name == NEARER}
        assert compared - {"named"} == {*tables, ALL}
        assert all(sign * seen[NEARER, name] >= 0 for name in tables)
        # Votes for steps that do not share evenly leave a remainder.
        if job == "shown by name":
            assert seen[NEARER, "named"] == sign
        paid = 1 - (mechanism.shares.frequent if "named" in outcome.transcript else 0)
        assert 0.9 * paid * UNIT < sign * seen[NEARER, ALL] <= UNIT * paid + 1


@pytest.mark.parametrize("job", JOBS)
def test_answers_are_compared_with_those_of_both_logs(job: str) -> None:
    """The comparison is |x − smaller| − |x − larger|, with the tables that the mechanism asks."""
    mechanism, pair = JOBS[job]
    view = LikelihoodRatioAttack(pair)
    for seed in range(10):
        outcome = outcome_of(mechanism, pair.larger, Noise(SeededBits(seed)))
        seen = view(outcome)
        noisy = int(outcome.transcript["size"][0])  # type: ignore[index]
        one, other = (abs(noisy - log.cases) for log in (pair.smaller, pair.larger))
        assert seen[NEARER, "size"] == one - other
        assert all(seen[name] == value for name, value in VIEWS["transcript"](outcome).items())
        # No two neighbours are further apart than one unit moves a table.
        unit = pair.unit.max_cases
        for name, most in (("size", 1), ("search", 1), ("final", 1), ("steps", 1_000)):
            assert abs(seen[NEARER, name]) <= most * unit
        assert abs(seen[NEARER, ALL]) <= UNIT + 1


def test_levels_of_prefixes_are_compared_too() -> None:
    """The tables come from the queries: what a level shows is compared for any mechanism."""
    laplace = Laplace(level_epsilon=1, max_length=2, prune=1)
    pair = next(pair for pair in built_in_pairs(5) if pair.name == "threshold")
    view = LikelihoodRatioAttack(pair)
    for log, sign in ((pair.smaller, -1), (pair.larger, 1)):
        seen = view(outcome_of(laplace, log, ZeroNoise(SeededBits(1))))
        # The prefix, and its end.
        assert seen[NEARER, "prefixes"] == 2 * sign


def test_around_a_log_a_few_hundred_runs_see_much_of_epsilon() -> None:
    """Candidates differ from run to run: who knows both logs sees more than who does not."""
    pair = next(pair for pair in pairs_around(LOG, 3) if pair.name == "frequent")
    views = {**views_for(pair), "plain": VIEWS["transcript"]}
    findings = {f.view: f for f in audit(FOUR, [pair], runs=250, seed=3, views=views)}
    assert not any(finding.refuted for finding in findings.values())
    knowing = findings["transcript"]
    assert findings["plain"].certified + 0.5 < knowing.certified < 4
    assert NEARER in knowing.evidence


@pytest.mark.slow
def test_around_a_log_half_the_noise_is_found() -> None:
    """Where it knows the tables, the audit refutes a real release of a small log as well."""
    broken = WithNoise(mechanism=TWO, noise=HalfTheScale)
    pair = next(pair for pair in pairs_around(LOG, 3) if pair.name == "no events")
    views = {"transcript": LikelihoodRatioAttack(pair)}
    assert audit(broken, [pair], views=views, runs=2_000, seed=3)[0].refuted
