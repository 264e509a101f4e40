"""A query and a mechanism from outside the package: run, certified, audited like any other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sacofa import anonymize
from sacofa.audit.pairs import Pair
from sacofa.audit.views import ALL, NEARER, LikelihoodRatioAttack
from sacofa.kernel.accounting import Spend
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.cases import Cases
from sacofa.kernel.noise import Noise
from sacofa.kernel.queries.protocol import Ints, Part
from sacofa.kernel.session import Session
from sacofa.kernel.unit import Unit
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms import Promise
from sacofa.mechanisms.protocol import Capabilities, Mechanism, Output, Progress, perform
from sacofa.mechanisms.released import ReleasedLog

PATIENT = Unit(person="patient", max_cases=2)


@dataclass(frozen=True)
class FirstActivities:
    """How many cases begin with each activity; the last cell is for those without events."""

    activities: int

    name = "first"
    what = "the first activities of cases"
    sensitivity = l2_sensitivity = 1
    by_case = False

    @property
    def cells(self) -> range:
        """A cell for each activity, and one more."""
        return range(self.activities + 1)

    def table(self, part: Part) -> Ints:
        """The table of one part."""
        table = np.zeros(self.activities + 1, dtype=np.int64)
        for ids, count in zip(part.sequences(), part.counts.tolist(), strict=True):
            table[ids[0] if ids else -1] += count
        return table


@dataclass(frozen=True)
class Toy(Mechanism):
    """Releases the first activity of every case, and nothing else."""

    epsilon: Fraction

    name = "toy"
    capabilities = Capabilities(distributed=True)

    def settings(self) -> Mapping[str, object]:
        """The settings that the certificate repeats."""
        return {"epsilon": self.epsilon}

    def promise(self, unit: Unit) -> Promise:
        """One query, for all of ε."""
        spend = Spend(what="the first activities of cases", amount=self.epsilon, line="first")
        return Promise(accesses=(spend,))

    def run(self, session: Session, progress: Progress | None = None) -> Output:
        """Ask once."""
        size = len(session.activities)
        votes = session.ask(FirstActivities(size), self.epsilon, "first")
        lengths = [1] * size + [0]
        counts = np.maximum(votes, 0)
        variants = VariantCounts.from_arrays(
            session.activities, range(size), lengths, counts, unit=session.unit
        )
        return Output(log=ReleasedLog(variants=variants))


LOG = {("a", "b"): 700, ("b",): 200, (): 100}


def test_a_mechanism_from_outside_is_run_and_certified() -> None:
    """`anonymize` takes it; the certificate has its name, its price and its unit."""
    release = anonymize(VariantCounts.of(LOG, unit=PATIENT), Toy(Fraction(1, 3)), seed=1)
    found = dict(release.variants)
    for variant, count in {("a",): 700, ("b",): 200}.items():
        assert abs(found[variant] - count) < 60
    # Cases without events are not released, and the certificate says how many there were.
    assert () not in found
    assert release.certificate.mechanism == "toy"
    assert release.certificate.epsilon == Fraction(1, 3)
    assert release.certificate.unit == PATIENT


def test_a_query_from_outside_is_audited() -> None:
    """The attacker who knows both logs makes likelihoods of its answers, and finds all of ε."""
    smaller = VariantCounts.of(LOG, unit=PATIENT)
    larger = VariantCounts.of({**LOG, ("b",): 202}, unit=PATIENT)
    pair = Pair(name="person", what="a person with two cases", smaller=smaller, larger=larger)
    pair.check_neighbours()
    attack = LikelihoodRatioAttack(pair)
    mechanism, noise = Toy(Fraction(2)), Noise(SeededBits(2))
    told: dict[bool, list[int]] = {}
    for side, log in ((False, smaller), (True, larger)):
        seen = [attack(perform(mechanism, Cases(variants=log), noise)) for _ in range(2_000)]
        told[side] = [one[NEARER, "first"] for one in seen]
        # Two cases more, at 1/scale 1 each: together all of ε, in parts of 1/10,000.
        assert all(one[NEARER, ALL] == 10_000 * one[NEARER, "first"] for one in seen)
    assert max(told[True]) == 2 and min(told[False]) == -2
    # An answer that says most for the larger log comes e^2 times as often from it.
    most = {side: values.count(2) for side, values in told.items()}
    assert 5.5 < most[True] / most[False] < 10
