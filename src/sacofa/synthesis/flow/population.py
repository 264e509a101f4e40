"""A population of sampled sequences that is moved until it agrees with the noisy answers.

A chain of directly-follows pairs forgets what a case has already done. Inside parallel branches its
samples leave too early, repeat activities or lack some that every case has, and no weighting of
such samples repairs that. So the samples are moved. One activity after the other is taken out of
the samples and put back, or left out, as likely as a random field makes that:

    p(x) ∝ Π e^J(a, b) over the pairs (a, b) of x · Π e^φ(a) over its activities
                                                  · Π e^ψ(a) over each repetition

This is a heat bath (Gibbs sampler): presence and position of one activity are drawn from their
exact conditional distribution, given the rest of the sample. The potentials φ and ψ are those under
which the population gives the noisy answer about the activity. In between, a fit weighs the samples
by all answers; samples are selected by weight, as in sequential Monte Carlo, and the potentials of
pairs, J, move towards those of the weighted samples. Everything here reads noisy answers only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from ...kernel.language import Ids
from ..numerics import Bools, Floats, Ints, Uniform, add_up
from .tuning import TUNING


@dataclass(frozen=True, eq=False, kw_only=True)
class ActivityAnswers:
    """Noisy answers about activities, in cases."""

    once: Floats
    """Cases that do each activity once, each with its vote divided."""
    repeated: Floats
    """The same for cases that repeat it."""
    part_once: float
    """Part of the vote of a case for what it does once, if it repeats something."""
    part_repeated: float
    """Part of its vote for what it repeats, if it does others once."""
    power: float = 1.0
    """A case with n activities of a kind gives each 1/n**power of that part."""
    never_repeated: frozenset[int]
    """Activities that no case repeats, as far as noise lets one see."""


class Population:
    """Samples as the rows of a table: the begin, the events of a case, and its end."""

    def __init__(
        self,
        samples: Sequence[Ids],
        steps: Floats,
        answers: ActivityAnswers | None,
        longest: int,
        uniform: Uniform,
    ) -> None:
        """Take samples.

        Args:
            samples: Sampled sequences.
            steps: [a, b]: weight of b directly after a; the last row begins and the last column
                ends a case.
            answers: Noisy answers about activities; if omitted, samples are only selected.
            longest: Cases of that length are truncated, so no sample is made as long.
            uniform: Returns numbers between 0 and 1.
        """
        self.samples = list(samples)
        self._end = len(steps) - 1
        self._answers = answers
        self._longest = longest
        self._uniform = uniform
        shares = steps / np.maximum(steps.sum(axis=1, keepdims=True), 1)
        self._potentials = np.log(np.maximum(shares, TUNING.least_step))

    def evolve(self, start: Mapping[Ids, float], fitted: Mapping[Ids, float], size: int) -> None:
        """Select samples by their fitted numbers of cases, and move them.

        The potentials of pairs move as far as the fit moved the numbers from the start.
        """
        pool, weights, number = list(start), np.array(list(fitted.values())), len(self.samples)
        # Systematic resampling: the number of copies is the expected one, rounded up or down.
        sums = np.cumsum(weights)
        at = (np.arange(number) + self._uniform(1)[0]) * (sums[-1] / number)
        chosen = np.minimum(np.searchsorted(sums, at), len(weights) - 1)
        if self._answers is None:
            self.samples = [pool[i] for i in chosen.tolist()]
            return
        self._load(pool)
        before, after = self._pairs(np.array(list(start.values()))), self._pairs(weights)
        change = np.log((after + TUNING.smoothing) / (before + TUNING.smoothing))
        self._potentials += TUNING.pace * change
        mean_length = float(weights @ self._lengths) / float(weights.sum())
        stays = np.arange(number) % TUNING.one_stays == 0
        moved = [pool[i] for i in chosen[~stays].tolist()]
        self.samples = [pool[i] for i in chosen[stays].tolist()]
        if not moved:
            return
        self._load(moved)
        order = np.argsort(-(self._answers.once + self._answers.repeated), kind="stable")
        for activity in order[: TUNING.most_moved].tolist():
            # Votes tell how often activities happen beside others, not how long cases are.
            longer = (float(self._lengths.mean()) / max(mean_length, 1.0)) ** self._answers.power
            self._move_activity(activity, size / len(moved) * longer, self._answers)
        rows = zip(self._rows.tolist(), self._lengths.tolist(), strict=True)
        self.samples += [tuple(row[1 : length + 1]) for row, length in rows]

    def _load(self, samples: Sequence[Ids]) -> None:
        """Write the samples into a table."""
        self._lengths = np.array([len(ids) for ids in samples], dtype=np.int64)
        highest = int(self._lengths.max(initial=1))
        self._most = min(highest + TUNING.room, self._longest - 1)
        self._rows = np.full((len(samples), max(self._most, highest) + 2), self._end)
        columns = np.arange(self._rows.shape[1])
        there = (columns > 0) & (columns <= self._lengths[:, None])
        self._rows[there] = np.fromiter(chain.from_iterable(samples), np.int64)
        places = np.arange(len(samples))[:, None] * (self._end + 1) + self._rows
        counts = np.bincount(places.ravel(), minlength=len(samples) * (self._end + 1))
        self._counts = counts.reshape(len(samples), -1)[:, :-1].astype(np.int16)
        self._once = (self._counts == 1).sum(axis=1)
        self._again = (self._counts > 1).sum(axis=1)

    def _pairs(self, weights: Floats) -> Floats:
        """[a, b]: how often b comes directly after a in samples with these weights."""
        size = self._end + 1
        there = np.arange(self._rows.shape[1] - 1) <= self._lengths[:, None]
        codes = self._rows[:, :-1] * size + self._rows[:, 1:]
        each = np.broadcast_to(weights[:, None], codes.shape)
        return add_up(codes[there], each[there], size * size).reshape(size, size)

    def _move_activity(self, activity: int, each: float, answers: ActivityAnswers) -> None:
        """Sample presence and position of one activity in all samples."""
        counts = self._counts[:, activity]
        free = self._lengths < self._most
        if activity in answers.never_repeated:
            free &= counts <= 1
            taken = counts == 1
        else:
            # Otherwise one is added to a sample, or one of those that are there is taken out.
            taken = (counts >= 1) & (self._uniform(len(counts)) < 1 / 2)
        rows = np.flatnonzero(free)
        if not len(rows):
            return
        taken = taken[rows]
        base = counts[rows] - taken
        table = self._take_out(rows, taken, activity)
        lengths = self._lengths[rows] - taken
        sums, gains = self._gains(table, lengths, activity)
        # Each of several equal activities may be the one that was added.
        chances = self._chances(rows, gains - np.log(base + 1), base, activity, each, answers)
        # A case without events stays one, and no case becomes one.
        chances[lengths == 0] = taken[lengths == 0]
        new = self._uniform(len(rows)) < chances
        some = np.flatnonzero(new)
        drawn = self._uniform(len(some)) * sums[some, -1]
        # What was there moves on.
        places = (sums[some] < drawn[:, None]).sum(axis=1) + 1
        columns = np.arange(table.shape[1])
        longer = np.take_along_axis(table[some], columns - (columns >= places[:, None]), axis=1)
        longer[np.arange(len(some)), places] = activity
        table[some] = longer
        now = base + new
        self._once[rows] += (now == 1).astype(np.int64) - (counts[rows] == 1)
        self._again[rows] += (now > 1).astype(np.int64) - (counts[rows] > 1)
        self._rows[rows], self._lengths[rows] = table, lengths + new
        self._counts[rows, activity] = now

    def _take_out(self, rows: Ints, taken: Bools, activity: int) -> Ints:
        """These rows without the activity, where it is taken: any of several is as likely."""
        result = self._rows[rows]
        some = np.flatnonzero(taken)
        number = self._counts[rows[some], activity]
        chosen = (self._uniform(len(some)) * number).astype(np.int64) + 1
        found = (result[some] == activity).cumsum(axis=1)
        places = (found >= chosen[:, None]).argmax(axis=1)
        columns = np.arange(result.shape[1])
        ahead = np.minimum(columns + (columns >= places[:, None]), len(columns) - 1)
        result[some] = np.take_along_axis(result[some], ahead, axis=1)
        return result

    def _gains(self, rows: Ints, lengths: Ints, activity: int) -> tuple[Floats, Floats]:
        """Weights of all positions for an activity, added up, and the logarithm of their sum."""
        potentials = self._potentials
        columns = np.arange(int(lengths.max()) + 1)
        left, right = rows[:, : len(columns)], rows[:, 1 : len(columns) + 1]
        gains = potentials[:, activity][left] + potentials[activity][right]
        gains -= potentials.ravel()[left * len(potentials) + right]
        gains[columns > lengths[:, None]] = -np.inf
        most = gains.max(axis=1)
        sums = np.exp(gains - most[:, None]).cumsum(axis=1)
        return sums, np.log(sums[:, -1]) + most

    def _chances(
        self,
        rows: Ints,
        gains: Floats,
        base: Ints,
        activity: int,
        each: float,
        answers: ActivityAnswers,
    ) -> Floats:
        """How likely each row gets the activity, so that all together give the answers.

        `base` is how often each has it already.
        """
        part, rest, power = answers.part_once, answers.part_repeated, answers.power
        counts = self._counts[:, activity]
        # Votes of a sample for each activity that it does once, or repeats.
        once = each * np.where(self._again > 0, part, 1.0) / np.maximum(self._once, 1) ** power
        again = each * np.where(self._once > 0, rest, 1.0) / np.maximum(self._again, 1) ** power
        held = np.ones(len(counts), dtype=np.bool_)
        held[rows] = False
        others_once = self._once[rows] - (counts[rows] == 1)
        others_again = self._again[rows] - (counts[rows] > 1)
        first = each * np.where(others_again > 0, part, 1.0) / (others_once + 1) ** power
        second = each * np.where(others_once > 0, rest, 1.0) / (others_again + 1) ** power
        none, some, many = base == 0, base == 1, base > 1
        left = answers.repeated[activity] - again[held & (counts > 1)].sum() - second[many].sum()
        chances = _logistic(_potential(gains[some], second[some], left) + gains)
        left = answers.once[activity] - once[held & (counts == 1)].sum()
        left -= ((1 - chances) * first)[some].sum()
        chances[none] = _logistic(_potential(gains[none], first[none], left) + gains[none])
        return chances


def is_various(fitted: Mapping[Ids, float]) -> bool:
    """Whether hardly two cases are alike: most of a few random ones are expected to differ."""
    shares = np.array(list(fitted.values()))
    different = 1 - (1 - shares / shares.sum()) ** TUNING.compared
    return float(different.sum()) >= TUNING.various * TUNING.compared


def _logistic(values: Floats) -> Floats:
    # Beyond, the result is the same number, or an exponential would overflow.
    bounded = np.clip(values, -TUNING.largest_exponent, TUNING.largest_exponent)
    result: Floats = 1 / (1 + np.exp(-bounded))
    return result


def _potential(gains: Floats, votes: Floats, wanted: float) -> float:
    """The potential under which rows with these gains give the wanted votes together."""
    low, high = -TUNING.largest_exponent, TUNING.largest_exponent
    if wanted <= 0 or not len(gains):
        return low
    for _ in range(TUNING.bisections):
        middle = (low + high) / 2
        if float(votes @ _logistic(middle + gains)) < wanted:
            low = middle
        else:
            high = middle
    return (low + high) / 2
