"""The number of cases, by every answer that each case is in.

Not only the number of cases was asked. Wherever each case gives all its votes to the cells of a
query, their sum tells the number as well, with the noise of all cells. Everything here reads noisy
answers only.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import ceil, log, sqrt

import numpy as np

from ...kernel.queries.flow import VOTE_UNITS, CaseCount, CaseLengths, NearestCandidate
from ...kernel.queries.protocol import Answer

SURE = log(20) / sqrt(2)
"""Laplace noise stays within so many standard deviations in 95 of 100 runs; a sum of several, more
often."""


def count_cases(answers: Iterable[Answer]) -> tuple[int, Fraction]:
    """The number of cases, and the variance of that; each answer counts by how exact it is."""
    weighted = Fraction(0)
    exact: list[Fraction] = []
    for answer in answers:
        query = answer.query
        if isinstance(query, CaseCount | CaseLengths | NearestCandidate):
            units = VOTE_UNITS if isinstance(query, CaseLengths) else 1
            values: list[int] = np.asarray(answer.values).ravel().tolist()
            exact.append(precision(units * answer.epsilon, len(values)))
            weighted += exact[-1] * Fraction(sum(values), units)
    whole = sum(exact, Fraction(0))
    return max(round(weighted / whole), 1), 1 / whole


def precision(epsilon: Fraction, cells: int) -> Fraction:
    """How exactly the sum of so many cells tells the number of cases: 1 over its variance.

    `epsilon` is 1 over the scale of the noise of a cell, in cases.
    """
    # The variance of Laplace's noise is two squares of its scale.
    return epsilon**2 / (2 * cells)


def cases_margin(variance: Fraction) -> int:
    """The margin of error (95 %) of the number of cases: of a release, and of a plan for it."""
    return ceil(SURE * sqrt(variance))
