"""One level of the prefix tree in the making: which candidates are taken, noised and kept.

Nearly all candidates belong to no case at all, and nearly all of those are dropped. They are never
listed: which of them survive is drawn directly, and by the lack of memory of the geometric
distribution a survivor's noisy count is the threshold plus a geometric variable. The outcome has
the same distribution as if every candidate had been listed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..errors import Argument, Statement, TooLargeError
from ..kernel.noise import Noise
from ..kernel.reals import tail
from ..rules.protocol import Semantics
from ..synthesis.thresholds import smallest_threshold
from .prefix_tree import NOTHING, Found, Frontier, Ints, backtrack
from .prefixes import Prefixes

MAX_PREFIXES = 2_000_000


@dataclass(frozen=True, kw_only=True)
class Growth:
    """How a tree grows: the noise, the thresholds and what limits it."""

    choice_epsilon: Fraction
    """Admitting h violations has probability proportional to exp(−choice_epsilon · h)."""
    max_length: int
    """Longer cases are cut here."""
    prune_harmless: int
    """Harmless candidates with a lower noisy count are dropped."""
    prune_harmful: int | None
    """Harmful candidates with a lower noisy count are dropped; None admits none at all."""
    prune_finished: bool
    """Whether thresholds hold for finished prefixes and for those of full length too."""
    max_violations: int | None
    """Where a prefix's violations are cut; None counts a harmful prefix as one violation."""
    max_prefixes: int = MAX_PREFIXES
    """A level that would hold more is refused."""


class Level:
    """One level in the making."""

    def __init__(
        self,
        growth: Growth,
        epsilon: Fraction,
        semantics: Semantics,
        noise: Noise,
        number: int,
        frontiers: list[Frontier],
        prefixes: Prefixes,
    ) -> None:
        self.growth = growth
        self.epsilon = epsilon
        self.semantics = semantics
        self.noise = noise
        self.number = number
        self.frontiers = frontiers
        self.length = len(frontiers)
        frontier = frontiers[-1]
        self.true = prefixes.next_steps()
        # Steps as one number each; they come in order, so a step is found by bisection.
        self.keys = self.true.rows * number + self.true.activities
        # Prefixes in the same state have the same harmless next steps: judge each state once.
        states, self.state = np.unique(frontier.states, return_inverse=True)
        self.harmless = semantics.harmless(states)
        # How many harmless steps each prefix has, and whether its end is harmless.
        self.free = self.harmless[:, :number].sum(axis=1)[self.state]
        self.may_end = self.harmless[self.state, number]

    def _threshold(self, threshold: int, *, end: bool) -> int:
        # The published program never prunes what is finished or of full length; the paper does.
        full = self.length == self.growth.max_length
        return threshold if self.growth.prune_finished or not (end or full) else 1

    def take_steps(self) -> Found:
        """Take every harmless step, add noise, and drop what is below the threshold."""
        low = self._threshold(self.growth.prune_harmless, end=False)
        true = Found(
            rows=self.true.rows,
            activities=self.true.activities,
            places=np.arange(len(self.keys)),
            counts=self.true.counts,
        ).where(self.harmless[self.state[self.true.rows], self.true.activities])
        parts = [self._noisy(true, low)]
        # Survivors are drawn among all harmless steps, those that some case takes included: which
        # ones are empty need not be listed. Drawn ones that are not empty are dropped below.
        cells = int(self.free.sum())
        self._refuse_large(cells, low)
        survivors = self.noise.survivors(cells, self.epsilon, low)
        if len(survivors):
            rows, activities = self._name_harmless(survivors)
            # Each cell survives by itself, so leaving some out changes nothing for the others.
            empty = ~self._lookup(rows, activities)[1]
            parts.append(self._made(rows[empty], activities[empty], low))
        return Found.join(parts)

    def take_ends(self) -> Found:
        """Take every harmless end, add noise, and drop what is below the threshold."""
        low = self._threshold(self.growth.prune_harmless, end=True)
        # There is one end to each prefix: few enough to tell empty ones apart before drawing.
        real = np.flatnonzero(self.may_end & (self.true.ending > 0))
        true = self._ends(real, self.true.ending[real])
        empty = np.flatnonzero(self.may_end & (self.true.ending == 0))
        # How many are empty is secret: whether it is too much is asked of all of them.
        self._refuse_large(int(self.may_end.sum()), low)
        made = empty[self.noise.survivors(len(empty), self.epsilon, low)]
        ends = np.full(len(made), self.number)
        return Found.join([self._noisy(true, low), self._made(made, ends, low)])

    def take_harmful(self) -> Found:
        """Draw how much harm is admitted and by which candidates, add noise, and prune."""
        growth = self.growth
        steps = self.number * len(self.free) - int(self.free.sum())
        harmful = steps + len(self.may_end) - int(self.may_end.sum())
        if growth.prune_harmful is None or not harmful:
            return NOTHING
        # A geometric variable modulo n is the geometric distribution cut to 0 … n − 1.
        admitted = int(self.noise.geometric(growth.choice_epsilon, 1)[0]) % (harmful + 1)
        if not admitted:
            return NOTHING
        # Without a bound on violations each candidate counts as one: so many are taken, all alike.
        rows, activities = self._name_harmful(self.noise.choose(admitted, harmful), steps)
        if growth.max_violations is not None:
            rows, activities = self._until(admitted, rows, activities)
        # Few harmful candidates are admitted, so their true counts, mostly 0, are looked up.
        ends = activities == self.number
        found, known = self._lookup(rows[~ends], activities[~ends])
        counts = np.zeros(len(found), dtype=np.int64)
        counts[known] = self.true.counts[found[known]]
        found[~known] = -1
        taken = Found(rows=rows[~ends], activities=activities[~ends], places=found, counts=counts)
        p = growth.prune_harmful
        return Found.join(
            [
                self._noisy(taken, self._threshold(p, end=False)),
                self._noisy(
                    self._ends(rows[ends], self.true.ending[rows[ends]]),
                    self._threshold(p, end=True),
                ),
            ]
        )

    def _ends(self, rows: Ints, counts: Ints) -> Found:
        none = np.full(len(rows), -1, dtype=np.int64)
        return Found(rows=rows, activities=none + self.number + 1, places=none, counts=counts)

    def _noisy(self, taken: Found, low: int) -> Found:
        """Add noise to true counts and drop what is below the threshold."""
        if not len(taken.rows):
            return taken
        noisy = taken.counts + self.noise.laplace(self.epsilon, len(taken.counts))
        return replace(taken, counts=noisy).where(noisy >= low)

    def _made(self, rows: Ints, activities: Ints, low: int) -> Found:
        """Candidates that no case has and that survived: draw by how much."""
        if not len(rows):
            return NOTHING
        counts = low + self.noise.geometric(self.epsilon, len(rows))
        places = np.full(len(rows), -1, dtype=np.int64)
        return Found(rows=rows, activities=activities, places=places, counts=counts)

    def _refuse_large(self, cells: int, low: int) -> None:
        """Refuse a level of which too many empty cells would reach the threshold, expected."""
        epsilon, limit = self.epsilon, self.growth.max_prefixes
        # How many cells there are is known from noise: refusing tells nothing new about the log.
        if cells > limit:
            expected = int(tail(epsilon, low)(20) * cells)
            if expected > limit:
                enough = smallest_threshold(epsilon, cells, Fraction(limit))
                arguments = (Argument("prune"), Argument("prune_harmless"))
                advice = Statement("advice.threshold", enough=enough, arguments=arguments)
                raise TooLargeError(self.length, expected, limit, advice)

    def _lookup(self, rows: Ints, activities: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        """Find steps among those that some case takes: their places, and whether they are there."""
        # There is nothing to bisect where no case goes on.
        if not len(self.keys):
            return np.zeros_like(rows), np.zeros(len(rows), dtype=np.bool_)
        keys = rows * self.number + activities
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return places, self.keys[places] == keys

    def _order(self) -> Ints:
        """For each state the activities, harmless ones first."""
        return np.argsort(~self.harmless[:, : self.number], axis=1, kind="stable")

    def _name_harmless(self, places: Ints) -> tuple[Ints, Ints]:
        """The row and activity of harmless steps, counted row by row."""
        # Place i is the harmless step number i when rows are counted one after the other.
        bounds = np.cumsum(self.free)
        rows = np.searchsorted(bounds, places, side="right")
        return rows, self._order()[self.state[rows], places - bounds[rows] + self.free[rows]]

    def _name_harmful(self, places: Ints, steps: int) -> tuple[Ints, Ints]:
        """The row and activity of harmful candidates: steps counted row by row, then ends."""
        is_step = places < steps
        rows, activities = np.empty_like(places), np.full(len(places), self.number)
        bounds = np.cumsum(self.number - self.free)
        inner = np.searchsorted(bounds, places[is_step], side="right")
        # Harmful activities stand behind the harmless ones, so ranks count from the back.
        rank = places[is_step] - bounds[inner] + self.number
        rows[is_step], activities[is_step] = inner, self._order()[self.state[inner], rank]
        rows[~is_step] = np.flatnonzero(~self.may_end)[places[~is_step] - steps]
        return rows, activities

    def _until(self, admitted: int, rows: Ints, activities: Ints) -> tuple[Ints, Ints]:
        """Keep the first candidates whose violations add up to no more than is admitted."""
        # Counting violations needs the whole prefix; only the admitted ones are spelled out.
        prefixes = backtrack(self.frontiers, self.length - 1, rows).tolist()
        total, kept = 0, 0
        for prefix, activity in zip(prefixes, activities.tolist(), strict=True):
            end = activity == self.number
            broken = self.semantics.violations(prefix if end else [*prefix, activity], end)
            total += min(max(broken, 1), self.growth.max_violations or 1)
            if total > admitted:
                break
            kept += 1
        return rows[:kept], activities[:kept]
