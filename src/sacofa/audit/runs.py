"""Runs of a mechanism, each on one of two logs that a fair coin chooses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import SacofaError
from ..kernel.bits import Bits, SeededBits, SystemBits, Words
from ..kernel.noise import Noise
from ..mechanisms.protocol import Mechanism, perform
from .guess import Guesser, Sample
from .pairs import Pair
from .views import Feature, Features, View

FAILED = "failed"
"""Name of the feature of a run that failed: whether it fails may depend on the log."""
BULK_WORDS = 8192
"""Number of random words that are fetched together."""


class BufferedBits:
    """Random words of another source, fetched in bulk, because a run needs few of them."""

    def __init__(self, source: Bits) -> None:
        self.reproducible = source.reproducible
        self._source = source
        self._left = source.words(0)

    def words(self, size: int) -> Words:
        """Return the next words."""
        if size > len(self._left):
            self._left = self._source.words(max(size, BULK_WORDS))
        # The rest of the last fetch is discarded, never used twice.
        words, self._left = self._left[:size], self._left[size:]
        return words


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Runs that one process makes.

    Attributes:
        mechanism: The mechanism.
        pair: The two logs.
        views: What the attacker observes, by name.
        runs: Number of runs.
        seed: Makes the noise repeatable; None uses the generator of the operating system.
    """

    mechanism: Mechanism
    pair: Pair
    views: Mapping[str, View]
    runs: int
    seed: int | None

    def play(self) -> Iterator[tuple[bool, Mapping[str, Features]]]:
        """Return for each run whether it was on the larger log, and the features of each view."""
        noise = Noise(BufferedBits(SystemBits() if self.seed is None else SeededBits(self.seed)))
        cases = self.pair.larger_cases
        mechanism = self.mechanism.for_log(timed=cases.timed, attributes=cases.attributes)
        for coin in noise.below(2, self.runs).tolist():
            log = self.pair.larger_cases if coin else self.pair.smaller_cases
            try:
                outcome = perform(mechanism, log, noise)
            except SacofaError as error:
                failed: Features = {(FAILED, type(error).__name__): 1}
                yield bool(coin), dict.fromkeys(self.views, failed)
            else:
                yield bool(coin), {name: view(outcome) for name, view in self.views.items()}


def observe(batch: Batch) -> dict[str, Sample]:
    """Make the runs of a batch and return the features of each view."""
    sides: list[bool] = []
    seen: dict[str, dict[Feature, tuple[list[int], list[int]]]] = {name: {} for name in batch.views}
    for run, (side, shown) in enumerate(batch.play()):
        sides.append(side)
        for name, features in shown.items():
            columns = seen[name]
            for feature, value in features.items():
                runs, values = columns.setdefault(feature, ([], []))
                runs.append(run)
                values.append(value)
    flags = np.array(sides, dtype=np.bool_)
    return {
        name: Sample(
            sides=flags,
            columns={f: (np.array(runs), np.array(values)) for f, (runs, values) in found.items()},
        )
        for name, found in seen.items()
    }


class Guessed(NamedTuple):
    """Number of right guesses, and of all guesses."""

    right: int
    guesses: int


def count_guesses(batch: Batch, guessers: Mapping[str, Guesser]) -> dict[str, Guessed]:
    """Run, and count how often each guesser is right."""
    guessed: dict[str, list[bool]] = {name: [] for name in guessers}
    for side, shown in batch.play():
        for name, guesser in guessers.items():
            guess = guesser.guess(shown[name])
            if guess is not None:
                guessed[name].append(guess == side)
    return {name: Guessed(sum(hits), len(hits)) for name, hits in guessed.items()}
