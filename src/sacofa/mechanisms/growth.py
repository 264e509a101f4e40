"""The growth loop of the paper's mechanisms: a prefix tree, answered one level at a time.

Level n holds the prefixes of length n. Its candidates are the unfinished prefixes of the level
above, each with one more activity or with its end. Harmless candidates are all taken, harmful ones
as the semantics admit them; each gets noise, and those below their threshold are dropped.

Nearly all candidates belong to no case at all, and nearly all of those are dropped. They are never
listed: which of them survive is drawn directly, and by the lack of memory of the geometric
distribution a survivor's noisy count is the threshold plus a geometric variable. The outcome has
the same distribution as if every candidate had been listed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..errors import TooLargeError
from ..prefixes import Level, count_prefixes
from ..privacy.exact import smallest_threshold, tail
from ..privacy.noise import Noise
from ..semantics.protocol import Semantics
from ..variants import VariantCounts

Ints = NDArray[np.int64]
Progress = Callable[[float], None]

MAX_PREFIXES = 2_000_000


@dataclass(frozen=True, kw_only=True)
class Growth:
    """How a tree grows: the noise, the thresholds and what limits it."""

    noise_epsilon: Fraction
    """Noise of scale 1/noise_epsilon goes on every count."""
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


@dataclass(frozen=True, kw_only=True)
class Frontier:
    """The prefixes of one level that may grow."""

    nodes: Ints
    """The place of each prefix in the level of the true tree; -1 where no case has it."""
    states: Ints
    """What the semantics know of each prefix."""
    parents: Ints
    """The place of each prefix's parent in the frontier above."""
    activities: Ints
    """The last activity of each prefix."""

    def __len__(self) -> int:
        return len(self.nodes)


@dataclass(frozen=True, kw_only=True)
class Found:
    """Candidates that were taken: an activity equal to the number of activities is the end."""

    rows: Ints
    activities: Ints
    counts: Ints

    @classmethod
    def join(cls, parts: list[Found]) -> Found:
        """Put parts end to end."""
        return cls(
            rows=np.concatenate([part.rows for part in parts]),
            activities=np.concatenate([part.activities for part in parts]),
            counts=np.concatenate([part.counts for part in parts]),
        )

    def where(self, kept: NDArray[np.bool_]) -> Found:
        """Keep some."""
        return Found(
            rows=self.rows[kept], activities=self.activities[kept], counts=self.counts[kept]
        )


def grow(
    variants: VariantCounts,
    semantics: Semantics,
    growth: Growth,
    noise: Noise,
    progress: Progress | None = None,
) -> VariantCounts:
    """Answer the trace-variant query: all finished prefixes and those of full length, noisy."""
    number = len(variants.activities)
    truth = count_prefixes(variants, growth.max_length)
    root = np.zeros(1, dtype=np.int64)
    frontiers = [
        Frontier(nodes=root, states=root + semantics.start(), parents=root - 1, activities=root - 1)
    ]
    finished: list[Found] = []
    for length in range(1, growth.max_length + 1):
        level = _Level(growth, semantics, noise, number, frontiers, truth)
        found = Found.join([level.take_harmless(), level.take_harmful()])
        ends = found.activities == number
        finished.append(found.where(ends))
        longer = found.where(~ends)
        order = np.lexsort((longer.activities, longer.rows))
        rows, activities = longer.rows[order], longer.activities[order]
        states = semantics.step(frontiers[-1].states[rows], activities)
        frontiers.append(
            Frontier(
                nodes=level.find(rows, activities),
                states=states,
                parents=rows,
                activities=activities,
            )
        )
        if progress is not None:
            progress(length / growth.max_length)
        if not len(rows):
            break
    cut = longer.counts[order] if length == growth.max_length else np.zeros(0, dtype=np.int64)
    return _spell(variants.activities, frontiers, finished, cut)


class _Level:
    """One level in the making."""

    def __init__(
        self,
        growth: Growth,
        semantics: Semantics,
        noise: Noise,
        number: int,
        frontiers: list[Frontier],
        truth: list[Level],
    ) -> None:
        self.growth = growth
        self.semantics = semantics
        self.noise = noise
        self.number = number
        self.frontiers = frontiers
        self.frontier = frontiers[-1]
        self.length = len(frontiers)
        self.last = self.length == growth.max_length
        self.true, self.children = self._list_true(truth)
        self.keys = self.true.rows * (number + 1) + self.true.activities
        # Prefixes in the same state have the same harmless next steps.
        states, self.state = np.unique(self.frontier.states, return_inverse=True)
        self.harmless = semantics.harmless(states)
        self.order = np.argsort(~self.harmless[:, :number], axis=1, kind="stable")
        self.free = self.harmless[:, :number].sum(axis=1)[self.state]

    def _list_true(self, truth: list[Level]) -> tuple[Found, Ints]:
        """List the candidates that some case has, sorted, with their places in the true level."""
        nodes = self.frontier.nodes
        none = np.zeros(0, dtype=np.int64)
        owners, children = none, none
        activities, counts = none, none
        if self.length < len(truth):
            below = truth[self.length]
            owners, children = below.children(nodes)
            activities, counts = below.activities[children], below.counts[children]
        ending = np.zeros(len(nodes), dtype=np.int64)
        if self.length <= len(truth):
            real = nodes >= 0
            ending[real] = truth[self.length - 1].finished[nodes[real]]
        ends = np.flatnonzero(ending)
        rows = np.concatenate([owners, ends])
        steps = np.concatenate([activities, np.full(len(ends), self.number)])
        places = np.concatenate([children, np.full(len(ends), -1)])
        order = np.lexsort((steps, rows))
        counted = np.concatenate([counts, ending[ends]])[order]
        return Found(rows=rows[order], activities=steps[order], counts=counted), places[order]

    def _lookup(self, rows: Ints, activities: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        """Find candidates among the true ones: their places and whether they are there."""
        keys = rows * (self.number + 1) + activities
        places = np.searchsorted(self.keys, keys)
        known = np.zeros(len(keys), dtype=np.bool_)
        inside = places < len(self.keys)
        known[inside] = self.keys[places[inside]] == keys[inside]
        return places, known

    def find(self, rows: Ints, activities: Ints) -> Ints:
        """The place of each candidate in the true level, -1 where no case has it."""
        places, known = self._lookup(rows, activities)
        nodes = np.full(len(rows), -1, dtype=np.int64)
        nodes[known] = self.children[places[known]]
        return nodes

    def _threshold(self, threshold: int, end: bool) -> int:
        return threshold if self.growth.prune_finished or not (end or self.last) else 1

    def take_harmless(self) -> Found:
        """Take every harmless candidate, add noise, and drop those below the threshold."""
        ends = np.flatnonzero(self.harmless[self.state, self.number])
        parts = [
            self._take_true(),
            self._take_empty(int(self.free.sum()), self._name_harmless, end=False),
            self._take_empty(
                len(ends), lambda i: (ends[i], np.full(len(i), self.number)), end=True
            ),
        ]
        return Found.join(parts)

    def _take_true(self) -> Found:
        """Add noise to the harmless candidates that some case has."""
        true = self.true.where(self.harmless[self.state[self.true.rows], self.true.activities])
        noisy = true.counts + self.noise.laplace(self.growth.noise_epsilon, len(true.counts))
        ends = true.activities == self.number
        p = self.growth.prune_harmless
        low = np.where(ends, self._threshold(p, end=True), self._threshold(p, end=False))
        return Found(rows=true.rows, activities=true.activities, counts=noisy).where(noisy >= low)

    def _take_empty(
        self, cells: int, name: Callable[[Ints], tuple[Ints, Ints]], *, end: bool
    ) -> Found:
        """Draw which harmless candidates that no case has survive, and their noisy counts."""
        threshold = self._threshold(self.growth.prune_harmless, end)
        epsilon = self.growth.noise_epsilon
        self._refuse_explosion(cells, threshold)
        rows, activities = name(self.noise.survivors(cells, epsilon, threshold))
        # Candidates that some case has were among the cells; their noise is drawn elsewhere.
        empty = ~self._lookup(rows, activities)[1]
        rows, activities = rows[empty], activities[empty]
        counts = threshold + self.noise.geometric(epsilon, len(rows))
        return Found(rows=rows, activities=activities, counts=counts)

    def _refuse_explosion(self, cells: int, threshold: int) -> None:
        """Refuse a level that would hold too much, before it is made."""
        epsilon, limit = self.growth.noise_epsilon, self.growth.max_prefixes
        expected = int(tail(epsilon, threshold)(20) * cells)
        if expected > limit:
            enough = smallest_threshold(epsilon, cells, Fraction(limit))
            raise TooLargeError(
                self.length,
                expected,
                limit,
                f"a threshold of {enough} (prune, or prune_harmless) keeps it below",
            )

    def _name_harmless(self, places: Ints) -> tuple[Ints, Ints]:
        """The row and activity of harmless candidates, counted row by row."""
        bounds = np.cumsum(self.free)
        rows = np.searchsorted(bounds, places, side="right")
        rank = places - (bounds[rows] - self.free[rows])
        return rows, self.order[self.state[rows], rank]

    def _name_harmful(self, places: Ints) -> tuple[Ints, Ints]:
        """The row and activity of harmful candidates: activities row by row, then ends."""
        bounds = np.cumsum(self.number - self.free)
        number = int(bounds[-1])
        ends = np.flatnonzero(~self.harmless[self.state, self.number])
        inner = np.minimum(places, max(number - 1, 0))
        rows = np.searchsorted(bounds, inner, side="right") if number else np.zeros_like(places)
        rank = inner - bounds[rows] + self.number
        steps = self.order[self.state[rows], np.clip(rank, 0, self.number - 1)]
        is_end = places >= number
        rows[is_end] = ends[places[is_end] - number]
        steps[is_end] = self.number
        return rows, steps

    def take_harmful(self) -> Found:
        """Draw how much harm is admitted and by which candidates, add noise, and prune."""
        none = np.zeros(0, dtype=np.int64)
        growth = self.growth
        cells = len(self.frontier) * (self.number + 1)
        harmful = cells - int(self.free.sum() + self.harmless[self.state, self.number].sum())
        if growth.prune_harmful is None or not harmful:
            return Found(rows=none, activities=none, counts=none)
        # A geometric variable modulo n is the geometric distribution cut to 0 … n − 1.
        admitted = int(self.noise.geometric(growth.choice_epsilon, 1)[0]) % (harmful + 1)
        rows, activities = self._name_harmful(self.noise.choose(admitted, harmful))
        if growth.max_violations is not None:
            rows, activities = self._until(admitted, rows, activities)
        places, known = self._lookup(rows, activities)
        counts = np.zeros(len(rows), dtype=np.int64)
        counts[known] = self.true.counts[places[known]]
        counts += self.noise.laplace(growth.noise_epsilon, len(rows))
        low = np.array(
            [self._threshold(growth.prune_harmful, end=a == self.number) for a in activities],
            dtype=np.int64,
        )
        return Found(rows=rows, activities=activities, counts=counts).where(counts >= low)

    def _until(self, admitted: int, rows: Ints, activities: Ints) -> tuple[Ints, Ints]:
        """Keep the first candidates whose violations add up to no more than is admitted."""
        total, kept = 0, 0
        for row, activity in zip(rows.tolist(), activities.tolist(), strict=True):
            end = activity == self.number
            prefix = _backtrack(self.frontiers, self.length - 1, np.array([row]))[0].tolist()
            broken = self.semantics.violations(prefix if end else [*prefix, activity], end)
            total += min(max(broken, 1), self.growth.max_violations or 1)
            if total > admitted:
                break
            kept += 1
        return rows[:kept], activities[:kept]


def _backtrack(frontiers: list[Frontier], length: int, rows: Ints) -> Ints:
    """Spell out prefixes of one length: a row of activity ids each."""
    spelled = np.empty((len(rows), length), dtype=np.int64)
    for place in range(length, 0, -1):
        spelled[:, place - 1] = frontiers[place].activities[rows]
        rows = frontiers[place].parents[rows]
    return spelled


def _spell(
    activities: tuple[str, ...], frontiers: list[Frontier], finished: list[Found], cut: Ints
) -> VariantCounts:
    """Put the finished prefixes and those of full length together as variants."""
    blocks = [
        (_backtrack(frontiers, length, found.rows), found.counts, True)
        for length, found in enumerate(finished)
    ]
    full = np.arange(len(cut))
    blocks.append((_backtrack(frontiers, len(frontiers) - 1, full), cut, False))
    return VariantCounts.collect(
        activities,
        np.concatenate([spelled.ravel() for spelled, _, _ in blocks]),
        np.concatenate([np.full(len(s), s.shape[1]) for s, _, _ in blocks]),
        np.concatenate([counts for _, counts, _ in blocks]),
        np.concatenate([np.full(len(s), done) for s, _, done in blocks]),
    )
