"""The semantics that votes buy: which activity may come directly after which.

Everything here reads noisy votes only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import nlargest
from itertools import pairwise
from math import inf, log, sqrt

import numpy as np

from ...kernel.language import Ids
from ...kernel.laws import Law
from ...kernel.queries.flow import FULL_WEIGHT, VOTE_UNITS, StepVotes
from ...rules.allowed import Steps
from ...rules.rules import Rules
from ..numerics import Bools, Floats, Ints
from ..thresholds import LAPLACE, SHAPES, NoiseShape, smallest_threshold
from .answers import shrink
from .tuning import TUNING

Way = list[tuple[int, int]]
"""The steps from the beginning of a case to its end."""


@dataclass(frozen=True, eq=False, kw_only=True)
class StepOdds:
    """How likely it is that cases take a step, by the votes for it."""

    votes: Floats
    """[a, b]: the votes for b directly after a, in noise scales; the last row begins and the last
    column ends."""
    weights: Ints
    """[a, b]: what the step counted when cases divided their votes."""
    cases: float
    """The votes that all cases have together, in noise scales."""
    power: int = 1
    """A case divides its votes by the norm of the weights of its pairs: L1 or L2."""
    shape: NoiseShape = LAPLACE
    """The shape of the noise."""

    def beside(self, sequence: Ids) -> Floats:
        """[a, b]: log odds that cases which differ from a sequence take a step of their own.

        The sequence's own steps are taken anyway: their odds are 0.
        """
        end = len(self.votes) - 1
        own = tuple(np.array(list(pairwise((end, *sequence, end)))).T)
        norm = (self.weights[own] ** self.power).sum() ** (1 / self.power)
        each = (self.cases * self.weights / norm).astype(np.float64)
        odds = self.of(self.votes, each, TUNING.change_shares)
        odds[own] = 0.0
        return odds

    def of(self, votes: Floats, each: Floats, shares: Sequence[float]) -> Floats:
        """Log odds that one of these shares of the cases, each as likely, takes each pair.

        If all cases take it, it has `each` votes more than noise.
        """
        chances = np.zeros(votes.shape)
        for share in shares:
            more = np.minimum(share * each, TUNING.clear_step)
            chances += np.exp(self.shape.log_ratio(votes, more)) / len(shares)
        result: Floats = np.log(chances)
        return result


@dataclass(frozen=True, eq=False, kw_only=True)
class KeptSteps:
    """The steps that passed, with a weight each; the last row begins and the last column ends."""

    weights: Ints
    """[a, b]: how often b comes directly after a; 0 where it may not."""
    likeliest: tuple[Ids, ...] = ()
    """The sequences that votes for steps make likely, the likeliest first."""
    others: Floats | float = 0.0
    """[a, b]: how often b likely comes directly after a where that did not pass."""
    odds: StepOdds | None = None
    """How likely each step is, whether it passed or not."""

    @property
    def allowed(self) -> Bools:
        """[a, b]: whether b may come directly after a."""
        result: Bools = self.weights > 0
        return result

    @property
    def likely(self) -> Floats:
        """[a, b]: how often b likely comes directly after a, whether that passed or not."""
        result: Floats = np.add(self.weights, self.others, dtype=np.float64)
        return result

    def count_trigrams(self) -> int:
        """How many there are of the following."""
        allowed = self.allowed
        return int(allowed[:, :-1].sum(axis=0) @ allowed[:-1].sum(axis=1))

    def trigrams(self, most: int) -> Iterator[Ids]:
        """Every two steps in a row: an activity between what may come before and after it.

        Of more than `most`, all that may come after the heaviest pairs.
        """
        allowed = self.allowed
        if self.count_trigrams() > most:
            number = allowed.sum(axis=1)
            order = np.argsort(-self.weights[:, :-1], axis=None, kind="stable")
            for a, b in zip(*np.divmod(order, len(allowed) - 1), strict=True):
                most -= number[b] if number[b] > 1 else 0
                if not allowed[a, b] or most < 0:
                    return
                if number[b] > 1:
                    yield from ((int(a), int(b), c) for c in np.flatnonzero(allowed[b]).tolist())
            return
        for b in range(len(allowed) - 1):
            after = np.flatnonzero(allowed[b]).tolist()
            for a in np.flatnonzero(allowed[:, b]).tolist():
                yield from ((a, b, c) for c in after)

    def as_steps(self, activities: Sequence[str]) -> Steps:
        """The same steps, as languages of sequences are made of."""
        allowed = self.allowed
        return Steps(
            activities=tuple(activities),
            starts=allowed[-1, :-1],
            follows=allowed[:-1, :-1],
            ends=allowed[:-1, -1],
            empty=bool(allowed[-1, -1]),
        )


def keep_steps(
    votes: Ints,
    law: Law,
    false_steps: Fraction,
    rules: Rules | None = None,
    *,
    query: StepVotes | None = None,
    cases: int = 0,
) -> KeptSteps:
    """Keep the steps that likely have votes and that lie on a way from beginning to end.

    A step passes if its votes pass a threshold, which that part of false steps does, expected, and
    if it likely has votes, given how many other steps do: of a few hundred false ones even a small
    part would crowd out the few true ones of an orderly process. A few steps per activity pass in
    any case. The likeliest way passes as well, and some way leads from the beginning through each
    activity to the end. The weight of a step is what it likely has: what passed by chance has less.
    `law` is that of the noise of a vote. `query` says how cases divided their votes; left out, each
    step counted in full. `cases` is how many there are.
    """
    query = StepVotes(len(votes) - 1) if query is None else query
    weights, epsilon = query.step_weights(), law.epsilon
    possible = np.ones(votes.shape, dtype=np.bool_) if rules is None else rules.possible_steps()
    if query.once:
        # Cases voted as if nothing were repeated, so that nothing leads to itself. But a case
        # without events goes from the beginning to the end: that cell stays.
        np.fill_diagonal(possible[:-1, :-1], False)
    odds = StepOdds(
        votes=np.where(possible, votes * float(epsilon), -np.inf),
        weights=weights,
        cases=float(cases * VOTE_UNITS * epsilon),
        power=1 + query.euclidean,
        shape=SHAPES[type(law)],
    )
    # As if all steps had counted in full.
    votes = votes * FULL_WEIGHT // weights
    # Steps that rules forbid need no threshold: the fewer are possible, the lower it is.
    cells = int(possible.sum())
    threshold = smallest_threshold(law, cells, false_steps * cells)
    expected = np.zeros(votes.shape)
    expected[possible] = shrink(odds.votes[possible], odds.shape)[0]
    lowest = np.iinfo(np.int64).min
    there = np.where(possible, votes, lowest)
    passed = (there >= threshold) & (expected >= TUNING.least_expected)
    passed |= there >= _fewest(votes[possible], len(votes) - 1, rules)
    # Noise may hide a part of what most cases do, so the likeliest way passes.
    ways = likeliest_ways(odds)
    for way in ways[:1]:
        passed[tuple(np.array(way).T)] = True
    balance(votes, passed, possible, int(1 / epsilon))
    connect(there, passed)
    # Rules may leave no way for some activities. A step is of use if its source is reached from the
    # beginning and its target reaches the end; both have the last place, so turning the arrows
    # around turns the one into the other.
    passed &= _reached(passed)[:, None] & _reached(passed.T)[None, :]
    expected *= FULL_WEIGHT / (weights * float(epsilon))
    return KeptSteps(
        weights=np.where(passed, np.maximum(np.rint(expected), 1), 0).astype(np.int64),
        others=np.where(passed, 0.0, expected),
        likeliest=tuple(dict.fromkeys(tuple(b for _, b in way[:-1]) for way in ways)),
        odds=odds,
    )


def _fewest(votes: Ints, activities: int, rules: Rules | None) -> int:
    """The threshold that lets as many steps pass as a process of so many activities needs.

    Where noise hides nearly all steps, a list of the few that are left has nothing to choose from.
    """
    wanted = activities + 1 if rules is None else TUNING.steps_with_rules * activities
    highest = np.sort(votes)[::-1][:wanted]
    return max(int(highest[-1]), 1) if len(highest) else 1


def balance(votes: Ints, passed: Bools, possible: Bools, scale: int) -> None:
    """Let more steps pass where votes that enter an activity do not leave it, or the reverse.

    Each time an activity happens in a case, the steps to it and from it get the same votes. So
    if less comes in than goes out, some steps to it were hidden by noise: the strongest
    of the rest pass until no more is missing than noise of this scale explains.
    """
    for a in range(len(votes) - 1):
        into, out = (int(votes[:, a][passed[:, a]].sum()), int(votes[a][passed[a]].sum()))
        line, lets, may, short = (
            (votes[:, a], passed[:, a], possible[:, a], out - into)
            if into < out
            else (votes[a], passed[a], possible[a], into - out)
        )
        slack = TUNING.balance_slack * scale * sqrt(2 * (passed[:, a].sum() + passed[a].sum()))
        for i in np.argsort(-line, kind="stable").tolist():
            if short <= slack or line[i] < TUNING.balance_slack * scale:
                break
            if may[i] and not lets[i] and i != a:
                lets[i] = True
                short -= int(line[i])


def connect(votes: Ints, passed: Bools) -> None:
    """Let the strongest steps pass that connect each activity to the beginning and to the end.

    An activity all of whose steps noise hides would vanish, however many cases have it. Steps that
    are not possible have the lowest number for their votes. This is Prim's algorithm: of all steps
    that lead from what is reached to what is not, the strongest is next.
    """
    lowest = np.iinfo(np.int64).min
    # Turning the arrows around turns ways from the beginning into ways to the end.
    for line, lets in ((votes, passed), (votes.T, passed.T)):
        reached = np.zeros(len(line), dtype=np.bool_)
        strongest = np.full(len(line), lowest)
        sources = np.zeros(len(line), dtype=np.int64)
        new = [len(line) - 1]
        while new:
            source = new.pop()
            if not reached[source]:
                reached[source] = True
                sources[line[source] > strongest] = source
                strongest = np.maximum(strongest, line[source])
                new += np.flatnonzero(lets[source] & ~reached).tolist()
            target = int(np.where(reached, lowest, strongest).argmax())
            if not new and not reached[target] and strongest[target] > lowest:
                lets[sources[target], target] = True
                new.append(target)


def likeliest_ways(odds: StepOdds) -> list[Way]:
    """The steps of the likeliest ways, whatever the length of cases is, the likeliest first.

    The longer cases are, the fewer votes a step of theirs has. If many cases take a way, all of
    its steps have about as many: one that has more, by chance, does not make up for others. What
    comes next is one of many activities that it could be, and has to make up for the root of their
    number.
    """
    others = len(odds.votes) - 1
    if not others or not odds.cases:
        return []
    # What most votes say comes directly after each, as if all steps had counted in full; in the
    # last place the end.
    full = odds.votes * FULL_WEIGHT / odds.weights
    most = np.argsort(-full[:, :-1], axis=1, kind="stable")[:, : TUNING.branches]
    end = np.full((len(full), 1), others, dtype=most.dtype)
    branches = np.concatenate([most, end], axis=1)
    votes = np.take_along_axis(odds.votes, branches, axis=1)
    weights = np.take_along_axis(odds.weights, branches, axis=1)
    found: list[tuple[float, Way]] = []
    for length in TUNING.path_lengths:
        norm = FULL_WEIGHT * (length + 1) ** (1 / odds.power)
        each = (odds.cases * weights / norm).astype(np.float64)
        scores = odds.of(votes, each, TUNING.path_shares) - log(others) / 2
        scores[np.isneginf(votes)] = -np.inf
        found += _best_ways(branches, scores, 2 * length, TUNING.branches)
    return [way for _, way in sorted(found, reverse=True)]


def _best_ways(
    branches: Ints, scores: Floats, longest: int, number: int
) -> list[tuple[float, Way]]:
    """The best ways from beginning to end, by what their steps score in sum.

    None comes to an activity twice. All such ways are too many: the best are followed.
    """
    end = len(branches) - 1
    places, values = branches.tolist(), scores.tolist()
    ways: list[tuple[float, tuple[int, ...]]] = [(0.0, (end,))]
    best: list[tuple[float, tuple[int, ...]]] = []
    for _ in range(min(end, longest)):
        longer = [
            (whole + score, (*way, a))
            for whole, way in ways
            for a, score in zip(places[way[-1]], values[way[-1]], strict=True)
            # The beginning has the number of the end, so that nothing ends here.
            if a not in way and score > -inf
        ]
        ways = nlargest(TUNING.open_paths, longer)
        ended = [(whole + values[way[-1]][-1], (*way, end)) for whole, way in ways]
        best = nlargest(number, best + [way for way in ended if way[0] > -inf])
    return [(whole, list(pairwise(way))) for whole, way in best]


def _reached(passed: Bools) -> Bools:
    """Which rows can be reached from the last one."""
    reached = np.zeros(len(passed), dtype=np.bool_)
    reached[-1] = True
    found, before = 1, 0
    # As many rounds as the longest way has steps, each one product of matrices.
    while found > before:
        reached |= reached @ passed
        found, before = int(np.count_nonzero(reached)), found
    return reached
