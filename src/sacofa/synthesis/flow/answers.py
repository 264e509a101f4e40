"""What single noisy answers about control flow say.

* `shrink`: what a cell likely holds, given all cells of its answer;
* `count_cases`: the number of cases, by every answer that each case is in;
* `choose_length`: where cases are truncated, if no length is declared;
* `activities_there` and others: which activities stand out from noise, and which repeat.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import ceil, sqrt

import numpy as np

from ...kernel.laws import Law
from ...kernel.queries.flow import (
    FULL_WEIGHT,
    VOTE_UNITS,
    ActivityVotes,
    CaseCount,
    CaseLengths,
    NearestCandidate,
)
from ...kernel.queries.protocol import Answer
from ..numerics import MAX_ROUNDS, Floats, Ints
from ..thresholds import LAPLACE, VARIANCE, NoiseShape, smallest_threshold
from .tuning import TUNING


def shrink(answers: Floats, shape: NoiseShape = LAPLACE) -> tuple[Floats, Floats]:
    """What each cell is expected to hold, and the variance of that, all in noise scales.

    Most pairs never happen, and most candidates are nobody's nearest. The highest answers of such
    cells are noise. How many cells are empty and how full the others are is learned from all
    answers together: the distribution under which they are likeliest, given the shape of noise
    (empirical Bayes; Kiefer and Wolfowitz, 1956).
    """
    fine, clear = TUNING.parts_per_scale, TUNING.clear_cell
    places = np.rint(np.clip(answers, shape.lowest, clear) * fine).astype(np.int64)
    hidden = answers < clear
    seen, places = np.unique(places, return_inverse=True)
    cells = np.bincount(places, hidden)
    numbers = np.arange(fine * (clear + 1) + 1) / fine
    chances = np.exp(shape.log_density(seen[:, None] / fine - numbers))
    # Half of the cells are empty and anything else is as likely, to begin with.
    prior = np.full(numbers.size, 1 / (2 * numbers.size - 2))
    prior[0] = 1 / 2
    for _ in range(MAX_ROUNDS if hidden.any() else 0):
        prior *= (cells / (chances @ prior)) @ chances / cells.sum()
    # How likely each number is, given each answer.
    likely = chances * prior / (chances @ prior)[:, None]
    means = likely @ numbers
    variances = likely @ numbers**2 - means**2
    return np.where(hidden, means[places], answers), np.where(hidden, variances[places], VARIANCE)


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
    # The variance of noise is two squares of its scale.
    return epsilon**2 / (2 * cells)


def cases_margin(variance: Fraction, shape: NoiseShape = LAPLACE) -> int:
    """The margin of error (95 %) of the number of cases: of a release, and of a plan for it.

    A sum of several answers stays within it more often than one.
    """
    return ceil(shape.sure * sqrt(variance))


def bin_edges(longest: int) -> list[int]:
    """The upper ends of the bins of lengths, each half as long again, up to a public bound."""
    edges = [1]
    while edges[-1] < longest:
        edges.append(min(longest, edges[-1] + (edges[-1] + 1) // 2))
    return edges


def choose_length(edges: list[int], votes: Ints, law: Law, cases: int) -> tuple[int, bool]:
    """Choose the smallest upper end that few enough cases exceed, as far as noise lets one see.

    Bins whose votes noise alone could explain count as empty. Some bins are added for what it
    hides. Where it hides the lengths of too many of so many cases, the choice is no smaller than
    where nothing is seen. Tell also whether that was what decided.
    """
    seen = _seen(edges, votes, law)
    shown = int(seen.sum())
    longer = shown - np.cumsum(seen)
    enough = longer * TUNING.longer_cases.denominator <= shown * TUNING.longer_cases.numerator
    chosen = edges[min(int(enough.argmax()) + TUNING.spare_lengths, len(edges) - 1)]
    hidden = (
        cases - shown
    ) * TUNING.hidden_cases.denominator > cases * TUNING.hidden_cases.numerator
    if not shown or (hidden and chosen < unseen_length(edges)):
        return unseen_length(edges), True
    return chosen, False


def known_length(longest: int) -> int | None:
    """The length that is chosen whatever is answered; None: that depends on the answer."""
    # So few bins are all within the margin of the first.
    return (
        longest
        if len(bin_edges(longest)) <= TUNING.spare_lengths + 1 and longest <= TUNING.unseen_length
        else None
    )


def mean_length(edges: list[int], votes: Ints, law: Law) -> float | None:
    """The mean of the lengths that stand out from noise; None where none does."""
    seen = _seen(edges, votes, law)
    return float(np.average(edges, weights=seen)) if seen.any() else None


def unseen_length(edges: list[int]) -> int:
    """The choice where noise hides all lengths, or would hide them."""
    return min(TUNING.unseen_length, edges[-1])


def _seen(edges: list[int], votes: Ints, law: Law) -> Ints:
    """The votes of bins that stand out from noise.

    A false bin of cases a hundred times as long would ruin the release: it takes more to believe
    in lengths that leave out several bins.
    """
    near, far = (
        smallest_threshold(law, len(edges), false)
        for false in (TUNING.false_lengths, TUNING.false_far_lengths)
    )
    seen = np.where(votes >= near, votes, 0)
    last = int(votes.argmax())
    for i in range(last + 1, len(votes)):
        if i - last > TUNING.spare_lengths + 1 and votes[i] < far:
            seen[i] = 0
        if seen[i]:
            last = i
    return seen


def part_of_votes(asked: Ints, kept: Ints, cases: int, *, euclidean: bool) -> float:
    """The part of its votes that a case gives to the kept ones of all activities.

    Each of n Euclidean votes is 1/√n: their sum says how many there are, but not of how many cases.
    """
    whole = float(asked.sum()) if euclidean else float(VOTE_UNITS * cases)
    part = min(max(float(kept.sum()) / max(whole, 1.0), 1 / len(asked)), 1.0)
    return sqrt(part) if euclidean else part


def step_weights(votes: Ints, law: Law, query: ActivityVotes) -> tuple[int, ...]:
    """What the steps of each activity count in the votes for steps: the less, the commoner it is.

    A case has one vote, and what nearly all cases do needs little of it to be known. So a case
    that does something rare gives most of its vote to that: else what a twentieth of the cases does
    drowns in noise.
    """
    # A case gives so many times as many votes to what it repeats.
    power, repeats = 1 + query.euclidean, query.for_repeats
    times = max(int(repeats / (VOTE_UNITS**power - repeats**power) ** (1 / power)), 1)
    return tuple(
        max(
            round(
                FULL_WEIGHT
                * TUNING.common_scales
                / max(total * law.epsilon, Fraction(TUNING.common_scales))
            ),
            TUNING.min_step_weight,
        )
        for total in (votes[:, 0] + votes[:, 1] // times).tolist()
    )


def activities_there(votes: Ints, law: Law) -> list[int]:
    """Choose the activities that stand out from noise; at least one, if there is any.

    The more there are to choose from, the more votes it takes.
    """
    if not len(votes):
        return []
    total, most = votes.sum(axis=1), votes.max(axis=1)
    bound = smallest_threshold(law, len(votes), TUNING.false_activities)
    # Two cells have half as much noise again as one.
    places: list[int] = np.flatnonzero((most >= bound) | (2 * total >= 3 * bound)).tolist()
    return places or [int(total.argmax())]


def activities_once(votes: Ints, law: Law) -> frozenset[int]:
    """Find the activities that cases do not repeat, as far as noise lets one see."""
    bound = ceil(1 / law.epsilon)
    places: list[int] = np.flatnonzero(votes[:, 1] < bound).tolist()
    return frozenset(places)
