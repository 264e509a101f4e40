"""Small logs with times, and what is answered about them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sacofa.kernel.bits import SeededBits
from sacofa.kernel.cases import CaseBatch
from sacofa.kernel.noise import Noise
from sacofa.kernel.queries.durations import DAY, HOUR, MINUTE
from sacofa.kernel.queries.flow import VOTE_UNITS
from sacofa.kernel.variants import VariantCounts
from sacofa.synthesis.times.ask import TimeSettings, time_queries
from sacofa.synthesis.times.courses import TimeAnswer, TimeAnswers

from ...kernel.queries.batches import batch

BEGIN = int(np.datetime64("2021-03-01", "us").astype(np.int64))


def counted(log: CaseBatch) -> VariantCounts:
    """The variants of a log."""
    return log.variants()


def answer(
    log: CaseBatch,
    variants: VariantCounts,
    settings: TimeSettings,
    *,
    epsilon: Fraction = Fraction(45, 100),
    noise: Noise | None = None,
    service: bool = False,
) -> TimeAnswers:
    """Ask all questions; without noise, the answers are true."""
    found = {}
    for name, (query, price) in time_queries(variants, settings, epsilon, service=service).items():
        table = query.table(log)
        if noise is not None:
            table = table + noise.laplace(price / VOTE_UNITS, len(query.cells))
        found[name] = TimeAnswer(query, table, price)
    return TimeAnswers(**found)  # type: ignore[arg-type]


def office(cases: int, seed: int = 1) -> CaseBatch:
    """Requests that are checked within minutes and decided after days, at working hours.

    Half of them are fast; only slow ones are sent back.
    """
    draws = np.random.default_rng(seed)
    log = []
    for _ in range(cases):
        time = BEGIN + int(draws.integers(300)) * DAY + 9 * HOUR + int(draws.integers(6 * HOUR))
        slow = draws.random() < 0.5
        case = [(0, time, time)]
        time += int(draws.integers(2, 5) * MINUTE)
        case.append((1, time - MINUTE, time))
        if slow:
            time += int(draws.integers(8, 25)) * DAY
            case.append((2, time - HOUR, time))
        time += int(draws.integers(1, 3)) * HOUR
        case.append((3, time - HOUR, time))
        log.append(case)
    return batch(log)


def seeded(seed: int) -> Noise:
    """Noise that a seed determines."""
    return Noise(SeededBits(seed))
