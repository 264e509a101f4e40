"""The number of cases, by every answer that each case is in.

Not only the number of cases was asked. Wherever each case gives all its votes to the cells of a
query, their sum tells the number as well, with the noise of all cells. Everything here reads noisy
answers only.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import log, sqrt

import numpy as np

from ...queries.flow import VOTE_UNITS, CaseCount, CaseLengths, NearestCandidate
from ...queries.protocol import Answer

SURE = log(20) / sqrt(2)
"""Laplace noise stays within so many standard deviations in 95 of 100 runs; a sum of several, more
often."""


def count_cases(answers: Iterable[Answer]) -> tuple[int, Fraction]:
    """The number of cases, and the variance of that; each answer counts by how exact it is."""
    precision = weighted = Fraction(0)
    for answer in answers:
        query = answer.query
        if isinstance(query, CaseCount | CaseLengths | NearestCandidate):
            units = VOTE_UNITS if isinstance(query, CaseLengths) else 1
            values: list[int] = np.asarray(answer.values).ravel().tolist()
            # The variance of Laplace's noise is two squares of its scale.
            exact = (units * answer.epsilon) ** 2 / (2 * len(values))
            precision += exact
            weighted += exact * Fraction(sum(values), units)
    return max(round(weighted / precision), 1), 1 / precision


def cases_within(variance: Fraction) -> float:
    """How far the number of cases is off at most, in 95 of 100 runs."""
    return SURE * sqrt(variance)
