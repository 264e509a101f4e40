"""What holds for every mechanism: what is charged is what was promised, and pays for the noise."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from sacofa import anonymize
from sacofa.errors import PromiseError
from sacofa.kernel.accounting import Leak, Spend, total_epsilon
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.cases import Cases
from sacofa.kernel.noise import Noise
from sacofa.kernel.queries.protocol import Ints
from sacofa.kernel.unit import ONE_CASE, Unit
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms import Certified, Laplace, Mechanism, Sacofa, perform
from sacofa.mechanisms.protocol import Promise
from sacofa.rules import Rules

NAMES = ("a", "b", "c")
LOGS = {
    "no cases": VariantCounts.of({}, NAMES),
    "a few": VariantCounts.of({("a", "b"): 4, ("a",): 1}, NAMES),
    "many": VariantCounts.of({("a", "b", "c"): 60_000, ("a", "c"): 40_000}, NAMES),
}
PRICE = Fraction(2, 7)
PUBLIC = Rules.free(NAMES)
MECHANISMS: dict[str, Mechanism] = {
    "certified": Certified(epsilon=PRICE),
    "certified, length given": Certified(epsilon=PRICE, max_length=3),
    "certified, rules": Certified(epsilon=PRICE, max_length=3, rules=PUBLIC),
    "laplace": Laplace(level_epsilon=PRICE, max_length=4, prune=20),
    "laplace that stops early": Laplace(level_epsilon=PRICE, max_length=4, prune=10**9),
    "sacofa": Sacofa(level_epsilon=PRICE, max_length=4, prune=20),
    "sacofa, public rules": Sacofa(level_epsilon=PRICE, max_length=4, prune=20, rules=PUBLIC),
    "sacofa, counted": Sacofa(level_epsilon=PRICE, max_length=4, prune=20, max_violations=3),
}
UNITS = {"case": ONE_CASE, "person": Unit(person="patient", max_cases=3)}


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)
def test_what_is_spent_is_what_was_promised(
    mechanism: Mechanism, unit: Unit, log: VariantCounts
) -> None:
    """Line by line and in sum, whatever the log is; every leak is named; the certificate agrees."""
    bound = replace(log, unit=unit)
    # These logs have no times: what counts is the promise of the mechanism as it is run on them.
    promised = mechanism.for_log(timed=False).promise(unit).accesses
    outcome = perform(mechanism, Cases(variants=bound), Noise(SeededBits(3)))
    assert total_epsilon(outcome.spent) == total_epsilon(promised)
    for access in promised:
        mine = [spent for spent in outcome.spent if spent.line == access.line]
        if isinstance(access, Leak):
            assert mine == [access]
        else:
            spends = [spent.amount for spent in mine if isinstance(spent, Spend)]
            assert sum(spends, Fraction(0)) == access.amount
    certificate = anonymize(bound, mechanism, seed=3).certificate
    assert certificate.epsilon == total_epsilon(promised)
    assert certificate.spent == outcome.spent
    assert outcome.log.variants.unit == unit


class PromisesMore(Laplace):
    """Promises a query that it never asks."""

    def promise(self, unit: Unit) -> Promise:
        """One line more than the levels."""
        promise = super().promise(unit)
        more = Spend(what="something else", amount=Fraction(1), line="more")
        return replace(promise, accesses=(*promise.accesses, more))


def test_a_run_that_charges_less_than_was_promised_releases_nothing() -> None:
    """Its certificate would name a query that nobody asked."""
    mechanism = PromisesMore(level_epsilon=PRICE, max_length=2, prune=1)
    with pytest.raises(PromiseError, match="not spent: more"):
        perform(mechanism, Cases(variants=LOGS["a few"]), Noise(SeededBits(3)))


class Recorded(Noise):
    """Remembers the 1/scale of all Laplace noise, and of what empty cells are drawn with."""

    def __init__(self) -> None:
        super().__init__(SeededBits(3))
        self.laplace_epsilons: list[Fraction] = []
        self.empty_epsilons: set[Fraction] = set()

    def laplace(self, epsilon: Fraction, size: int) -> Ints:
        """Noise as ever."""
        self.laplace_epsilons.append(epsilon)
        return super().laplace(epsilon, size)

    def survivors(self, cells: int, epsilon: Fraction, threshold: int) -> Ints:
        """Survivors as ever."""
        self.empty_epsilons.add(epsilon)
        return super().survivors(cells, epsilon, threshold)


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)
def test_noise_is_what_the_price_pays_for(mechanism: Mechanism) -> None:
    """Each query's noise has 1/scale of its price by sensitivity and cases of a unit, and no more.

    Of a log that is large enough for every query. Prices are taken from what was charged.
    """
    for max_cases in (1, 3):
        unit = Unit(person="patient", max_cases=max_cases)
        noise = Recorded()
        outcome = perform(mechanism, Cases(variants=replace(LOGS["many"], unit=unit)), noise)
        paid = {
            (spent.amount if isinstance(spent, Spend) else Fraction(0)) / max_cases
            for spent in outcome.spent
        }
        allowed = {price / sensitivity for price in paid for sensitivity in (1, 1000)}
        assert noise.laplace_epsilons and set(noise.laplace_epsilons) <= allowed
        assert noise.empty_epsilons <= allowed
        assert {answer.epsilon for answer in outcome.answers} <= set(noise.laplace_epsilons)
