"""Claims with δ: bounds that keep their confidence, and attacks on Gaussian noise.

The mechanisms here ask one query each, so that thousands of runs take little time. What `certified`
asks is checked exactly in tests/mechanisms/certified/test_privacy_delta.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sacofa.audit import Claim, Finding, Pair, audit, built_in_pairs, persons_pair, timed_pairs
from sacofa.audit.bounds import prove_rho, rho_of
from sacofa.audit.views import ALL, NEARER, LikelihoodRatioAttack, compare
from sacofa.errors import SettingError
from sacofa.kernel import Cases, Noise, Session, Spend, Unit, VariantCounts
from sacofa.kernel.accounting import ZCDP
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.laws import DiscreteGaussian, DiscreteLaplace, Law
from sacofa.kernel.queries.flow import VOTE_UNITS, CaseCount, StepVotes
from sacofa.kernel.queries.histogram import AllSequences, Histogram
from sacofa.kernel.queries.protocol import Query
from sacofa.kernel.queries.times import Gaps
from sacofa.mechanisms import Mechanism, Output, Promise, perform
from sacofa.mechanisms.protocol import Progress
from sacofa.mechanisms.released import ReleasedLog
from sacofa.rules.allowed import all_sequences

MILLIONTH = Fraction(1, 10**6)
FOUR = ZCDP(Fraction(4), MILLIONTH)
SELECTS = ZCDP(Fraction(4), MILLIONTH, MILLIONTH / 10)
CLAIM = Claim(epsilon=Fraction(4), delta=MILLIONTH, in_rho=True)


# Bounds.


def wrong_audits(prove: Callable[[int], float], true: float, runs: int, chance: float) -> float:
    """How often a bound on `right` right guesses is above what is true, exactly."""
    rights = np.arange(runs + 1)
    above = [prove(int(right)) > true + 1e-9 for right in rights]
    return float(stats.binom.pmf(rights, runs, chance) @ above)


@pytest.mark.parametrize("delta", [Fraction(1, 20), Fraction(1, 1000)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1)])
def test_no_mechanism_with_delta_fools_the_bound(epsilon: Fraction, delta: Fraction) -> None:
    """The worst ones give a run away with δ, else answer at random with odds of e^ε.

    Guessing in all runs, and only in those that are given away; without δ the bound is too high.
    """
    runs, claim = 400, Claim(epsilon=epsilon, delta=delta)
    p = float(delta) + (1 - float(delta)) / (1 + math.exp(-float(epsilon)))

    def always(right: int) -> float:
        return claim.prove(right, runs, runs, 0.05)

    def seldom(right: int) -> float:
        return claim.prove(right, right, runs, 0.05)

    def careless(right: int) -> float:
        return Claim(epsilon=epsilon).prove(right, right, runs, 0.05)

    assert wrong_audits(always, float(epsilon), runs, p) <= 0.05
    assert wrong_audits(seldom, float(epsilon), runs, float(delta)) <= 0.05
    if delta * runs > 1:
        assert wrong_audits(careless, float(epsilon), runs, float(delta)) > 0.9


def test_delta_costs_hardly_any_evidence() -> None:
    """At 10⁻⁶, ten thousand runs prove nearly what they prove of a claim without δ."""
    runs = 10_000
    pure, claim = (Claim(epsilon=Fraction(1), delta=delta) for delta in (Fraction(0), MILLIONTH))
    for right, guesses in ((7_600, 10_000), (70, 75), (10_000, 10_000)):
        bounds = [one.prove(right, guesses, runs, 1e-6) for one in (pure, claim)]
        assert bounds[0] - 0.6 < bounds[1] < bounds[0]
    assert claim.prove(1, 1, runs, 1e-6) == claim.prove(0, 0, runs, 0.05) == 0


@given(st.floats(1e-4, 8), st.floats(-6, 6), st.floats(-6, 6))
def test_no_guess_shows_more_than_rho(rho: float, upper: float, lower: float) -> None:
    """Whatever the thresholds on a normal answer are, what they prove is at most ρ."""
    shift = math.sqrt(2 * rho)
    high, low = shift / 2 + max(upper, lower), shift / 2 + min(upper, lower)
    right = (stats.norm.sf(high - shift) + stats.norm.cdf(low)) / 2
    wrong = (stats.norm.sf(high) + stats.norm.cdf(low - shift)) / 2
    if wrong > 0:
        assert rho_of(np.array(right), np.array(wrong)) <= rho * (1 + 1e-6) + 1e-12


@pytest.mark.parametrize("rho", [0.02, 0.3])
def test_some_guess_shows_most_of_rho(rho: float) -> None:
    """One threshold shows 2/π of it, or more; an order of its own, α, is not forgotten."""
    right = stats.norm.cdf(math.sqrt(2 * rho) / 2)
    shown = float(rho_of(np.array(right), np.array(1 - right)))
    assert 0.6 * rho < shown <= rho
    assert np.log(right**3 / (1 - right) ** 2 + (1 - right) ** 3 / right**2) / 2 > rho


@pytest.mark.parametrize("rho", [0.02, 0.3])
@pytest.mark.parametrize("threshold", [0.0, 1.5])
def test_a_bound_on_rho_is_too_high_in_at_most_one_audit_of_twenty(
    rho: float, threshold: float
) -> None:
    """Over audits of a two-sided threshold: what the shown probabilities allow is the truth."""
    shift, runs = math.sqrt(2 * rho), 500
    right = stats.norm.sf(threshold - shift / 2)
    wrong = stats.norm.sf(threshold + shift / 2)
    true = float(rho_of(np.array(right), np.array(wrong)))
    rng = np.random.default_rng(1)
    counts = rng.multinomial(runs, [right, wrong, max(1 - right - wrong, 0)], size=1_000)
    bounds = [prove_rho(int(r), int(w), runs, 0, 0.05) for r, w, _ in counts]
    assert np.mean(np.array(bounds) > true) <= 0.05
    plain = rho_of(np.maximum(counts[:, 0], 1) / runs, np.maximum(counts[:, 1], 1) / runs)
    assert np.mean(plain > true) > 0.3


def test_what_so_many_runs_refute() -> None:
    """Gaussian noise of that ε has the right guesses that refute the claim; 2 % less has not."""
    runs = 4_000
    least = CLAIM.least_refuted(runs, runs, 1e-6, by_rho=True)
    for factor, refuted in ((1.01, True), (0.98, False)):
        rho = float(ZCDP(Fraction(least * factor), MILLIONTH).amount)
        right = round(runs * stats.norm.cdf(math.sqrt(2 * rho) / 2))
        assert (CLAIM.prove(right, runs, runs, 1e-6, by_rho=True) > 4) == refuted
    assert math.isinf(CLAIM.least_refuted(20, 4_000, 1e-6, by_rho=True))


# Attacks.


@dataclass(frozen=True, kw_only=True)
class OneQuery(Mechanism):
    """One query, for all of ρ."""

    budget: ZCDP = FOUR
    asks: Callable[[Session], Query] = lambda session: CaseCount()
    session: type[Session] = Session
    name = "one query"

    def settings(self) -> Mapping[str, object]:
        return {}

    def promise(self, unit: Unit) -> Promise:
        spend = Spend(what="one query", amount=self.budget.amount, line="all")
        return Promise(accesses=(spend,), budget=self.budget)

    def run(self, session: Session, progress: Progress | None = None) -> Output:
        asking = self.session.__new__(self.session)
        vars(asking).update(vars(session))
        asking.ask(self.asks(session), self.budget.amount, "all")
        return Output(log=ReleasedLog(variants=VariantCounts.of({}, session.activities)))


@dataclass(frozen=True, kw_only=True)
class OneHistogram(OneQuery):
    """The variants of the log, published individually."""

    budget: ZCDP = SELECTS
    lowest: int | None = None
    """A threshold instead of that of the session."""

    def run(self, session: Session, progress: Progress | None = None) -> Output:
        opened = session.open(AllSequences(), self.budget.amount, "all")
        if self.lowest is not None:
            opened = replace(opened, threshold=self.lowest)
        shown = Histogram(opened).show(all_sequences(session.activities, 2), 1)
        session.show(AllSequences(), shown, opened.law)
        return Output(log=ReleasedLog(variants=VariantCounts.of({}, session.activities)))


class HalfTheNoise(Session):
    """σ/2."""

    def noise_on(self, sensitivity: int, epsilon: Fraction) -> Law:
        return super().noise_on(sensitivity, 4 * epsilon)


class ForOneCase(Session):
    """Noise for one case of a person."""

    def noise_on(self, sensitivity: int, epsilon: Fraction) -> Law:
        return self.budget.law(sensitivity, epsilon)


class ForTheRoot(Session):
    """Noise as if all cases of a person had their votes in different cells."""

    def noise_on(self, sensitivity: int, epsilon: Fraction) -> Law:
        return self.budget.law(sensitivity, epsilon * self.unit.max_cases)


@dataclass(frozen=True)
class Spread(StepVotes):
    """Votes that are bounded in sum, and charged as if a case spread them over 16 cells."""

    l2_sensitivity = VOTE_UNITS // 4


class WrongConversion(ZCDP):
    """Takes ρ for what it costs in pure ε, whatever δ is."""

    @property
    def amount(self) -> Fraction:  # type: ignore[override]
        return self.epsilon**2 / 2


def steps(kind: type[StepVotes], *, euclidean: bool) -> Callable[[Session], Query]:
    """A query for steps."""
    return lambda session: kind(len(session.activities), euclidean=euclidean)


def gaps(session: Session) -> Query:
    """A query for waits."""
    return Gaps(activities=2, steps=((0, 1),), rungs=(0, 0, 0), euclidean=True)


def pair_of(name: str) -> Pair:
    """A built-in pair."""
    return next(pair for pair in built_in_pairs(3) if pair.name == name)


def worst(mechanism: Mechanism, pair: Pair, runs: int = 1_200) -> Finding:
    """What the attack on the answers finds."""
    views = {"transcript": LikelihoodRatioAttack(pair)}
    (finding,) = audit(mechanism, [pair], runs=runs, seed=1, views=views)
    return finding


NEW, PERSON = pair_of("new variant"), persons_pair(3)
SOUND: dict[str, tuple[Mechanism, Pair]] = {
    "count": (OneQuery(), NEW),
    "steps": (OneQuery(asks=steps(StepVotes, euclidean=True)), pair_of("long case")),
    "person": (OneQuery(asks=steps(StepVotes, euclidean=True)), PERSON),
    "times": (OneQuery(asks=gaps), timed_pairs()[0]),
}


@pytest.mark.parametrize("how", SOUND)
def test_gaussian_noise_of_the_claim_is_not_refuted(how: str) -> None:
    """Most of the claim is used."""
    finding = worst(*SOUND[how])
    assert (finding.claimed, finding.delta, finding.by_rho) == (4, MILLIONTH, True)
    assert not finding.refuted
    assert 1.2 < finding.certified < 4


BROKEN: dict[str, tuple[Mechanism, Pair]] = {
    "half the noise": (OneQuery(session=HalfTheNoise), NEW),
    "half the noise of times": (OneQuery(asks=gaps, session=HalfTheNoise), timed_pairs()[0]),
    "a wrong conversion": (OneQuery(budget=WrongConversion(Fraction(4), MILLIONTH)), NEW),
    "bounded in L1, charged in L2": (OneQuery(asks=steps(Spread, euclidean=False)), NEW),
    "one case of a person": (
        OneQuery(session=ForOneCase, asks=steps(StepVotes, euclidean=True)),
        PERSON,
    ),
    "a person's cases apart": (
        OneQuery(session=ForTheRoot, asks=steps(StepVotes, euclidean=True)),
        PERSON,
    ),
    "a threshold of 1": (OneHistogram(lowest=1), NEW),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_mechanism_is_refuted(how: str) -> None:
    """Beyond any doubt: half the noise, a wrong conversion or norm, too low a threshold."""
    finding = worst(*BROKEN[how])
    assert finding.refuted and finding.verdict == "refuted"
    assert (finding.claimed, finding.delta) == (4, MILLIONTH)


def test_variants_that_are_published_individually_are_not_refuted() -> None:
    """A new variant is hidden by the threshold; of a frequent one, the count shows."""
    assert not worst(OneHistogram(), NEW).refuted
    many = VariantCounts.of({("a",): 100}, ["a", "b"])
    pair = Pair.adding("frequent", "a case of a frequent variant", many, ("a",))
    finding = worst(OneHistogram(), pair)
    assert not finding.refuted and 1.2 < finding.certified < 4


def test_a_claim_without_a_budget_is_attacked_too() -> None:
    """A claimed ε and δ: unnoised answers refute any, and δ alone nothing."""
    views = {"transcript": LikelihoodRatioAttack(NEW)}
    for claimed, refuted in ((Fraction(1, 2), True), (Fraction(4), False)):
        (finding,) = audit(
            OneQuery(session=HalfTheNoise),
            [NEW],
            claimed=claimed,
            delta=Fraction(1, 1000),
            runs=800,
            seed=1,
            views=views,
        )
        assert (finding.claimed, finding.delta, finding.by_rho) == (
            claimed,
            Fraction(1, 1000),
            False,
        )
        assert finding.refuted == refuted
    with pytest.raises(SettingError, match="delta"):
        audit(OneQuery(), [NEW], claimed=1, delta=1)


@pytest.mark.parametrize("law", [DiscreteGaussian(Fraction(7, 3)), DiscreteLaplace(Fraction(1, 3))])
def test_answers_are_compared_by_their_exact_likelihoods(law: Law) -> None:
    """The logarithm of the ratio of both probabilities, for either noise."""

    def logarithm(x: int) -> float:
        if isinstance(law, DiscreteGaussian):
            return -x * x / (2 * float(law.sigma_squared))
        return -abs(x) * float(law.epsilon)

    beyond, added = np.array([3, -2, 0, 7]), np.array([1, 0, -4, 5])
    nearer, weight = compare(law, beyond, added)
    ratio = sum(
        logarithm(b - a) - logarithm(b)
        for b, a in zip(beyond.tolist(), added.tolist(), strict=True)
    )
    assert nearer * weight == pytest.approx(ratio)


def test_the_evidence_of_a_gaussian_answer_has_the_moments_of_its_rho() -> None:
    """On the larger log the log-likelihood ratio has mean ρ and variance 2ρ, in tables as well."""
    mechanism, attack = SOUND["steps"][0], LikelihoodRatioAttack(NEW)
    noise, rho = Noise(SeededBits(5)), float(FOUR.amount)
    seen = [
        attack(perform(mechanism, Cases(variants=NEW.larger), noise))[NEARER, ALL] / 10_000
        for _ in range(1_500)
    ]
    assert np.mean(seen) == pytest.approx(rho, abs=6 * math.sqrt(2 * rho / 1_500))
    assert np.var(seen) == pytest.approx(2 * rho, rel=0.25)


def test_the_page_tells_what_so_many_runs_can_show_at_a_delta() -> None:
    """Every row of the second table in docs/audit.md is what comes out."""
    page = (Path(__file__).parents[2] / "docs" / "audit.md").read_text(encoding="utf-8")
    table = page.split("| runs on each log | refute a claim of (1, 10⁻⁶) from |")[1]
    rows = [line.split("|")[1:-1] for line in table.split("\n\n")[0].splitlines()[2:]]
    claim = Claim(epsilon=Fraction(1), delta=MILLIONTH, in_rho=True)
    assert len(rows) >= 3
    for runs, least in rows:
        number = int(runs.replace(",", ""))
        assert least.strip() == f"{claim.least_refuted(number, number, 1e-6, by_rho=True):.2f}"
