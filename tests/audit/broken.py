"""Mechanisms that break their promise, each in one way: the audit must find them out.

The broken noise goes through the real mechanisms, so that what is audited is the real code with one
mistake in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

from sacofa import Unit, VariantCounts
from sacofa.kernel import Noise, Session, Spend
from sacofa.kernel.attributes import Attribute
from sacofa.kernel.noise import Ints
from sacofa.kernel.queries.flow import VOTE_UNITS, CaseLengths
from sacofa.kernel.queries.histogram import open_histogram
from sacofa.kernel.queries.protocol import Part, Query
from sacofa.kernel.reals import GUARD, WIDE, Real, power
from sacofa.mechanisms import Mechanism, Output, Promise
from sacofa.mechanisms.protocol import Capabilities, Progress
from sacofa.mechanisms.released import ReleasedLog
from sacofa.rules.allowed import all_sequences


class HalfTheScale(Noise):
    """Noise of half the scale that was asked for."""

    def laplace(self, epsilon: Fraction, size: int) -> Ints:
        return super().laplace(2 * epsilon, size)


class NoZeroCells(Noise):
    """Cells that no case has are never shown."""

    def survivors(self, cells: int, epsilon: Fraction, threshold: int) -> Ints:
        return np.zeros(0, dtype=np.int64)

    def binomial(self, trials: int, probability: Real) -> int:
        return 0


class OffByOne(Noise):
    """Cells that no case has, and that are shown, are one too high.

    Discrete Laplace noise is a difference of two such values: there the mistake cancels out.
    """

    def geometric(self, epsilon: Fraction, size: int) -> Ints:
        return super().geometric(epsilon, size) + 1


class ContinuousTail(Noise):
    """Survivors are drawn with the tail of the continuous distribution, exp(−ε·t) / 2."""

    def survivors(self, cells: int, epsilon: Fraction, threshold: int) -> Ints:
        number = super().binomial(cells, half(power(epsilon * threshold)))
        return np.sort(self.choose(number, cells))

    def binomial(self, trials: int, probability: Real) -> int:
        # P(noise ≥ t) = exp(−t) / (1 + exp(−1)) at ε = 1, which is where tests use it.
        def continuous(digits: int) -> Decimal:
            with localcontext(WIDE, prec=digits + GUARD):
                return probability(digits) * (1 + power(Fraction(1))(digits)) / 2

        return super().binomial(trials, continuous)


def half(real: Real) -> Real:
    """Half of a number."""
    return lambda digits: real(digits) / 2


class WithOtherNoise(Session):
    """A session that draws other noise than it says."""

    def __init__(self, session: Session, noise: type[Noise]) -> None:
        vars(self).update(vars(session))
        self.noise = noise(session.noise.bits)


@dataclass(frozen=True, kw_only=True)
class WithNoise(Mechanism):
    """A real mechanism that is given other noise than it asks for."""

    mechanism: Mechanism
    noise: type[Noise]

    @property
    def capabilities(self) -> Capabilities:
        return self.mechanism.capabilities

    def for_log(self, *, timed: bool, attributes: tuple[Attribute, ...] = ()) -> WithNoise:
        adapted = self.mechanism.for_log(timed=timed, attributes=attributes)
        return replace(self, mechanism=adapted)

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{self.mechanism.name} with {self.noise.__name__}"

    def settings(self) -> Mapping[str, object]:
        return self.mechanism.settings()

    def promise(self, unit: Unit) -> Promise:
        return self.mechanism.promise(unit)

    def run(self, session: Session, progress: Progress | None = None) -> Output:
        return self.mechanism.run(WithOtherNoise(session, self.noise))


@dataclass(frozen=True)
class LengthsAsVotes(CaseLengths):
    """Gives a case as many whole votes as it has events, and calls that one vote."""

    def table(self, part: Part) -> Ints:
        votes = VOTE_UNITS * part.lengths * part.counts
        table = np.zeros(len(self.edges), dtype=np.int64)
        np.add.at(table, np.searchsorted(self.edges[:-1], part.lengths), votes)
        return table


class WithLengthsAsVotes(Session):
    """A session that asks for lengths in that way."""

    def __init__(self, session: Session) -> None:
        vars(self).update(vars(session))

    def ask(self, query: Query, epsilon: Fraction, line: str) -> Ints:
        if isinstance(query, CaseLengths):
            query = LengthsAsVotes(query.edges)
        return super().ask(query, epsilon, line)


@dataclass(frozen=True, kw_only=True)
class WeighsByLength(WithNoise):
    """A real mechanism in which long cases have more votes, where lengths are asked."""

    noise: type[Noise] = Noise

    def run(self, session: Session, progress: Progress | None = None) -> Output:
        return self.mechanism.run(WithLengthsAsVotes(session))


@dataclass(frozen=True, kw_only=True)
class TrueThreshold(WithNoise):
    """A real mechanism after which only variants with enough true cases are kept."""

    noise: type[Noise] = Noise
    least: int

    def run(self, session: Session, progress: Progress | None = None) -> Output:
        secret = session._variants
        assert isinstance(secret, VariantCounts)
        found = super().run(session).log.variants
        true = dict(zip(secret.sequences(), secret.counts.tolist(), strict=True))
        kept = [true.get(ids, 0) >= self.least for ids in found.sequences()]
        variants = VariantCounts.from_arrays(
            found.activities,
            found.activity_ids,
            found.lengths,
            found.counts * kept,
            found.complete,
        )
        return Output(log=ReleasedLog(variants=variants))


@dataclass(frozen=True, kw_only=True)
class ShowsCells(Mechanism):
    """The histogram of `certified` by itself, in two stages with low thresholds.

    Inside `certified` the thresholds are so high that what happens at them is rarely seen.
    """

    epsilon: Fraction = Fraction(1)
    max_length: int = 1

    name = "histogram"

    def settings(self) -> Mapping[str, object]:
        return {"epsilon": self.epsilon}

    def promise(self, unit: Unit) -> Promise:
        return Promise(accesses=(Spend(what="all sequences", amount=self.epsilon, line="cells"),))

    def run(self, session: Session, progress: Progress | None = None) -> Output:
        histogram = open_histogram(session, self.epsilon, "cells")
        for threshold in (3, 1):
            histogram.show(all_sequences(session.activities, self.max_length), threshold)
        return Output(log=ReleasedLog(variants=VariantCounts.of({}, session.activities)))
