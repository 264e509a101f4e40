"""Who knows both logs sees how much nearer every answer is to one of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from sacofa import Certified, Laplace, Noise, Unit, VariantCounts
from sacofa.audit import Pair, audit, built_in_pairs, pairs_around, persons_around
from sacofa.audit.likelihood import ALL, NEARER, UNIT, LikelihoodRatioAttack, ZeroNoise, views_for
from sacofa.audit.views import VIEWS
from sacofa.examples import running_example
from sacofa.privacy.bits import SeededBits

from .broken import HalfTheScale, WithNoise

LOG = running_example()
ONE = Certified(epsilon=Fraction(1), min_candidates=12)
THREE = replace(ONE, unit=Unit(max_cases=3))
RICH = VariantCounts.of({(): 2_000, ("a",): 2_000, ("a", "b"): 40}, ("a", "b"))
JOBS: dict[str, tuple[Certified, Pair]] = {
    **{pair.name: (ONE, pair) for pair in pairs_around(LOG, 3)},
    "person": (THREE, persons_around(LOG, 3)),
    "length given": (replace(ONE, max_length=4), pairs_around(LOG, 3)[0]),
    "shown by name": (replace(ONE, max_length=2), pairs_around(RICH, 3)[1]),
}


@pytest.mark.parametrize("job", JOBS)
def test_without_noise_every_look_knows_the_log(job: str) -> None:
    """Answers without noise are as far from the other log as one unit can make them, ε in all."""
    mechanism, pair = JOBS[job]
    view = LikelihoodRatioAttack(mechanism, pair)
    for log, sign in ((pair.smaller, -1), (pair.larger, 1)):
        outcome = mechanism.run(log, ZeroNoise(SeededBits(1)))
        seen = view(outcome)
        # A cell of the histogram that is not shown is not compared.
        tables = set(outcome.transcript) - {"named"}
        compared = {rest[0] for name, *rest in seen if name == NEARER}
        assert compared - {"named"} == {*tables, ALL}
        assert all(sign * seen[NEARER, name] >= 0 for name in tables)
        # Votes for steps that do not share evenly leave a remainder.
        if job == "shown by name":
            assert seen[NEARER, "named"] == sign
        paid = 1 - (mechanism.shares.named if "named" in outcome.transcript else 0)
        assert 0.9 * paid * UNIT < sign * seen[NEARER, ALL] <= paid * UNIT + 1


@pytest.mark.parametrize("job", JOBS)
def test_answers_are_compared_with_those_of_both_logs(job: str) -> None:
    """The comparison is |x − smaller| − |x − larger|, with the tables that the mechanism asks."""
    mechanism, pair = JOBS[job]
    view = LikelihoodRatioAttack(mechanism, pair)
    for seed in range(10):
        outcome = mechanism.run(pair.larger, Noise(SeededBits(seed)))
        seen = view(outcome)
        noisy = int(outcome.transcript["size"][0])  # type: ignore[index]
        one, other = (abs(noisy - log.cases) for log in (pair.smaller, pair.larger))
        assert seen[NEARER, "size"] == one - other
        assert all(seen[name] == value for name, value in VIEWS["transcript"](outcome).items())
        # No two neighbours are further apart than one unit moves a table.
        unit = mechanism.unit.max_cases
        for name, most in (("size", 1), ("search", 1), ("last", 1), ("steps", 1_000)):
            assert abs(seen[NEARER, name]) <= most * unit
        assert abs(seen[NEARER, ALL]) <= UNIT + 1


def test_only_certified_is_known_so_well() -> None:
    """All other mechanisms are looked at as they are."""
    pair = built_in_pairs(2)[0]
    assert views_for(Laplace(level_epsilon=1, max_length=1, prune=1), pair) is VIEWS
    assert isinstance(views_for(ONE, pair)["transcript"], LikelihoodRatioAttack)


def test_around_a_log_a_thousand_runs_see_much_of_epsilon() -> None:
    """Candidates differ from run to run: who knows both logs sees more than who does not."""
    pairs = [pair for pair in pairs_around(LOG, 3) if pair.name in ("frequent", "no events")]
    informed = audit(ONE, pairs, runs=1_000, seed=3)
    plain = audit(ONE, pairs, runs=1_000, seed=3, views=VIEWS)
    for knowing, other in zip(informed, plain, strict=True):
        assert not knowing.refuted
        if knowing.view == "transcript":
            assert other.certified + 0.2 < knowing.certified < 1
            assert NEARER in knowing.evidence


def test_around_a_log_half_the_noise_is_found() -> None:
    """Where it knows the tables, the audit refutes a real release of a small log as well."""
    broken = WithNoise(mechanism=ONE, noise=HalfTheScale)
    pair = next(pair for pair in pairs_around(LOG, 3) if pair.name == "no events")
    views = {"transcript": LikelihoodRatioAttack(ONE, pair)}
    assert audit(broken, [pair], views=views, runs=2_000, seed=3)[0].refuted
