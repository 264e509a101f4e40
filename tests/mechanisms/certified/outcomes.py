"""Exact likelihood ratios of outcomes, worked out on the production code itself.

A run is given its noise by hand. Everything that it sees after noise is the outcome. For a
neighbouring log the noise that leads to the same outcome is worked out, look by look; where
there is none, the outcome is impossible there. Every draw is discrete Laplace noise with a known
ε, so the ratio of the two likelihoods is known exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sacofa.mechanisms.certified.certified import Certified
from sacofa.mechanisms.certified.chain import UniformSampler
from sacofa.mechanisms.certified.run import Run
from sacofa.privacy.bits import SeededBits
from sacofa.privacy.noise import Noise
from sacofa.queries.session import Looks
from sacofa.variants import VariantCounts

Ints = NDArray[np.int64]


class ByHand(Noise):
    """Noise that was chosen by hand; what post-processing draws comes from a fixed seed."""

    def __init__(self, noise: list[Ints]) -> None:
        super().__init__(SeededBits(11))
        self.given = list(noise)
        self.epsilons: list[Fraction] = []

    def laplace(self, epsilon: Fraction, size: int) -> Ints:
        """The next values by hand; zeros after the last."""
        self.epsilons.append(epsilon)
        place = len(self.epsilons) - 1
        if place >= len(self.given):
            return np.zeros(size, dtype=np.int64)
        if len(self.given[place]) != size:
            raise ImpossibleError
        return self.given[place].copy()


class ImpossibleError(Exception):
    """No noise leads this log to the outcome."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run with noise by hand came to."""

    seen: list[Ints]
    """Everything that was seen after noise, in order."""
    asked_for: list[list[object]]
    """The candidates that the cases voted for."""
    epsilons: list[Fraction]
    """1/scale of the noise of each."""
    released: VariantCounts


def run_by_hand(
    mechanism: Certified, log: VariantCounts, noise: list[Ints], looks: type[Looks] = Looks
) -> Outcome:
    """Run with noise by hand."""
    hand = ByHand(noise)
    asked = looks(log, hand, mechanism.unit.max_cases)
    ran = Run(mechanism, asked, UniformSampler(hand)).release()
    seen = [
        np.array(list(answer.values())) if isinstance(answer, dict) else np.asarray(answer)
        for answer in ran.transcript.values()
    ]
    asked_for = [list(answer) for answer in ran.transcript.values() if isinstance(answer, dict)]
    return Outcome(seen=seen, asked_for=asked_for, epsilons=hand.epsilons, released=ran.variants)


def log_ratio(
    mechanism: Certified,
    log: VariantCounts,
    neighbour: VariantCounts,
    noise: list[Ints],
    looks: type[Looks] = Looks,
) -> float:
    """ln of how much likelier an outcome is for the log than for its neighbour; ∞ if impossible."""
    outcome = run_by_hand(mechanism, log, noise, looks)
    first = [*noise, *(np.zeros_like(v) for v in outcome.seen[len(noise) :])]
    second: list[Ints] = []
    try:
        for seen in outcome.seen:
            # With no noise on this look, what is seen is the truth of the neighbour.
            truth = run_by_hand(mechanism, neighbour, second, looks).seen[len(second)]
            if truth.shape != seen.shape:
                return math.inf
            second.append(seen - truth)
        again = run_by_hand(mechanism, neighbour, second, looks)
    except ImpossibleError:
        return math.inf
    if any(not np.array_equal(a, b) for a, b in zip(outcome.seen, again.seen, strict=True)):
        return math.inf
    # The candidates and the release are made of what is seen, and of nothing else.
    assert again.asked_for == outcome.asked_for
    assert again.released == outcome.released
    return float(
        sum(
            epsilon * int((np.abs(b) - np.abs(a)).sum())
            for epsilon, a, b in zip(outcome.epsilons, first, second, strict=True)
        )
    )


def some_noise(
    mechanism: Certified, log: VariantCounts, number: int, looks: type[Looks] = Looks
) -> Iterator[list[Ints]]:
    """Noise of many sizes and signs for each look of a run, worked out look by look."""
    draw = np.random.default_rng(4)
    for i in range(number):
        noise: list[Ints] = []
        while True:
            outcome = run_by_hand(mechanism, log, noise, looks)
            if len(noise) == len(outcome.seen):
                break
            scale = float(1 / outcome.epsilons[len(noise)])
            size = len(outcome.seen[len(noise)])
            sign = (1, -1, draw.choice([-1, 1], size))[i % 3]
            reach = int(scale * (1 + i % 4)) + 3
            noise.append(np.asarray(sign * draw.integers(2, reach, size)).astype(np.int64))
        yield noise
