"""Mechanisms that break their promise, each in one way: the audit must find them out.

The broken noise goes through the real mechanisms, so that what is audited is the real code with one
mistake in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

from sacofa import Mechanism, Noise, Outcome, Promise, Spend, Unit, VariantCounts
from sacofa.mechanisms.protocol import Progress
from sacofa.privacy.noise import Ints
from sacofa.privacy.reals import Real, power, precision
from sacofa.queries.histogram import Histogram
from sacofa.semantics.allowed import all_sequences
from sacofa.unit import ONE_CASE


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
            with localcontext(precision(digits)):
                return probability(digits) * (1 + power(Fraction(1))(digits)) / 2

        return super().binomial(trials, continuous)


def half(real: Real) -> Real:
    """Half of a number."""
    return lambda digits: real(digits) / 2


@dataclass(frozen=True, kw_only=True)
class WithNoise:
    """A real mechanism that is given other noise than it asks for."""

    mechanism: Mechanism
    noise: type[Noise]

    @property
    def name(self) -> str:
        return f"{self.mechanism.name} with {self.noise.__name__}"

    @property
    def unit(self) -> Unit:
        return self.mechanism.unit

    def settings(self) -> Mapping[str, object]:
        return self.mechanism.settings()

    def promise(self) -> Promise:
        return self.mechanism.promise()

    def run(
        self, variants: VariantCounts, noise: Noise, progress: Progress | None = None
    ) -> Outcome:
        return self.mechanism.run(variants, self.noise(noise.bits))


@dataclass(frozen=True, kw_only=True)
class TrueThreshold(WithNoise):
    """A real mechanism after which only variants with enough true cases are kept."""

    noise: type[Noise] = Noise
    least: int

    def run(
        self, variants: VariantCounts, noise: Noise, progress: Progress | None = None
    ) -> Outcome:
        found = super().run(variants, noise).variants
        true = dict(zip(variants.sequences(), variants.counts.tolist(), strict=True))
        kept = [true.get(ids, 0) >= self.least for ids in found.sequences()]
        return Outcome(
            variants=VariantCounts.from_arrays(
                found.activities, found.activity_ids, found.lengths, found.counts * kept, found.complete
            )
        )


@dataclass(frozen=True, kw_only=True)
class ShowsCells:
    """The histogram of `certified` by itself, in two stages with low thresholds.

    Inside `certified` the thresholds are so high that what happens at them is rarely seen.
    """

    epsilon: Fraction = Fraction(1)
    max_length: int = 1
    unit: Unit = ONE_CASE

    name = "histogram"

    def settings(self) -> Mapping[str, object]:
        return {"epsilon": self.epsilon}

    def promise(self) -> Promise:
        return Promise(looks=(Spend(what="counts of all sequences", epsilon=self.epsilon),))

    def run(
        self, variants: VariantCounts, noise: Noise, progress: Progress | None = None
    ) -> Outcome:
        names = variants.activities
        histogram = Histogram(variants, noise, self.epsilon)
        for threshold in (3, 1):
            histogram.show(all_sequences(names, self.max_length), threshold)
        return Outcome(variants=VariantCounts.of({}, names), transcript={"named": histogram.shown})
