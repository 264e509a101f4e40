"""Runs of a mechanism, each on one of two logs that a fair coin chooses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, pairwise
from multiprocessing import get_context
from typing import TypeVar

import numpy as np

from ..errors import SacofaError
from ..kernel.bits import Bits, SeededBits, SystemBits, Words
from ..kernel.noise import Noise
from ..mechanisms.protocol import Mechanism, perform
from .guess import Guesser
from .pairs import Pair
from .views import Feature, Features, View
from .weights import Ints, Sample

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
    seen = {name: _Seen() for name in batch.views}
    for side, shown in batch.play():
        sides.append(side)
        for name, features in shown.items():
            seen[name].add(features)
    flags = np.array(sides, dtype=np.bool_)
    return {name: Sample(sides=flags, columns=one.columns()) for name, one in seen.items()}


class _Seen:
    """Collects the features of many runs, to be sorted once at the end."""

    def __init__(self) -> None:
        self._ids: defaultdict[Feature, int] = defaultdict(count().__next__)
        self._features: list[int] = []
        self._values: list[int] = []
        self._ends: list[int] = [0]

    def add(self, features: Features) -> None:
        """Add the next run."""
        self._features.extend(map(self._ids.__getitem__, features))
        self._values.extend(features.values())
        self._ends.append(len(self._values))

    def columns(self) -> dict[Feature, tuple[Ints, Ints]]:
        """Return for each feature the runs that had it, and its values there."""
        ids = np.array(self._features, dtype=np.int64)
        values = np.array(self._values)
        runs = np.repeat(np.arange(len(self._ends) - 1), np.diff(self._ends))
        order = np.argsort(ids, kind="stable")
        runs, values = runs[order], values[order]
        bounds = pairwise([0, *np.cumsum(np.bincount(ids, minlength=len(self._ids))).tolist()])
        return {
            feature: (runs[start:end], values[start:end])
            for feature, (start, end) in zip(self._ids, bounds, strict=True)
        }


@dataclass(frozen=True)
class GuessCounter:
    """Number of right guesses, and of all guesses."""

    right: int = 0
    guesses: int = 0

    def __add__(self, other: GuessCounter) -> GuessCounter:
        return GuessCounter(self.right + other.right, self.guesses + other.guesses)


def count_guesses(batch: Batch, guessers: Mapping[str, Guesser]) -> dict[str, GuessCounter]:
    """Run, and count how often each guesser is right."""
    guessed = dict.fromkeys(guessers, GuessCounter())
    for side, shown in batch.play():
        for name, guesser in guessers.items():
            guess = guesser.guess(shown[name])
            if guess is not None:
                guessed[name] += GuessCounter(int(guess == side), 1)
    return guessed


@contextmanager
def processes(workers: int) -> Iterator[Executor | None]:
    """Start worker processes; None if one process is enough."""
    if workers <= 1:
        yield None
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


Result = TypeVar("Result")


def work(
    pool: Executor | None,
    job: Callable[[Batch], Result],
    batches: Sequence[Batch],
    done: Callable[[int], None],
) -> list[Result]:
    """Do a job on every batch, and call `done` with the number of runs of each."""
    doing = map(job, batches) if pool is None else pool.map(job, batches)
    results = []
    for batch, result in zip(batches, doing, strict=True):
        results.append(result)
        done(batch.runs)
    return results
