"""The growth loop of the papers' mechanisms: a prefix tree, answered one level at a time.

Level n holds the prefixes of length n. Its candidates are the unfinished prefixes of the level
above, each with one more activity or with its end. Harmless candidates are all taken, harmful ones
as the semantics admit them; each gets noise, and those below their threshold are dropped.

Nearly all candidates belong to no case at all, and nearly all of those are dropped. They are never
listed: which of them survive is drawn directly, and by the lack of memory of the geometric
distribution a survivor's noisy count is the threshold plus a geometric variable. The outcome has
the same distribution as if every candidate had been listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..errors import Argument, Statement, TooLargeError
from ..kernel.language import Word
from ..kernel.laws import DiscreteLaplace
from ..kernel.noise import Noise
from ..kernel.reals import tail
from ..kernel.session import Session
from ..kernel.variants import VariantCounts
from ..rules.kinds import Semantics
from ..synthesis.thresholds import smallest_threshold
from .prefix_tree import Ints, NoisyPrefixes, Prefixes
from .protocol import Progress

MAX_PREFIXES = 2_000_000


@dataclass(frozen=True)
class PrefixCounts:
    """How many cases begin with each prefix of some lengths, or end there.

    A case adds 1 to one cell of each level: to the prefix of that length, or to its end. So the
    counts of one level have sensitivity 1, and levels are charged one by one.
    """

    shortest: int
    """The length of the shortest prefixes."""
    longest: int
    """The length of the longest prefixes."""

    name = "prefixes"
    sensitivity = l2_sensitivity = 1

    @property
    def what(self) -> Statement:
        """Which level it is."""
        return Statement("query.prefixes", length=self.longest)

    def counts(self, part: VariantCounts) -> Mapping[Word, int]:
        """The cells of one part of the log that are not 0. Secret."""
        cells: Counter[Word] = Counter()
        for ids, count, complete in zip(
            part.sequences(), part.counts.tolist(), part.complete.tolist(), strict=True
        ):
            for length in range(self.shortest, min(self.longest, len(ids)) + 1):
                cells[ids[:length], False] += count
            # The end of a case of length n is a candidate of level n + 1.
            if complete and self.shortest <= len(ids) + 1 <= self.longest:
                cells[ids, True] += count
        return cells


def level_line(length: int) -> str:
    """The line of the promise that a level is charged to."""
    return f"level {length}"


@dataclass(frozen=True, kw_only=True)
class Growth:
    """How a tree grows: the noise, the thresholds and what limits it."""

    choice_epsilon: Fraction
    """Admitting h violations has probability proportional to exp(−choice_epsilon · h)."""
    max_length: int
    """Longer cases are cut here."""
    prune_harmless: int
    """Harmless candidates with a lower noisy count are dropped."""
    prune_harmful: int | None = None
    """Harmful candidates with a lower noisy count are dropped; None admits none at all."""
    prune_finished: bool
    """Whether thresholds hold for finished prefixes and for those of full length too."""
    max_violations: int | None = None
    """Where a prefix's violations are cut; None counts a harmful prefix as one violation."""
    max_prefixes: int = MAX_PREFIXES
    """A level that would hold more is refused."""


def grow(
    session: Session,
    semantics: Semantics,
    growth: Growth,
    level_epsilon: Fraction,
    progress: Progress | None = None,
) -> VariantCounts:
    """Answer the trace-variant query: all finished prefixes and those of full length, noisy.

    Every noisy count that was kept on the way goes into the transcript. A level costs
    `level_epsilon`, also where no prefix is left to grow: that there is none is known from noise.
    """
    tree = NoisyPrefixes(session.activities)
    states = np.zeros(1, dtype=np.int64) + semantics.start()
    prefixes: Prefixes | None = None
    for length in range(1, growth.max_length + 1):
        query = PrefixCounts(length, length)
        if not len(states):
            # The promise names every level, so what noise left without prefixes is charged as well.
            session.charge(query.what, level_epsilon, level_line(length))
            continue
        opened = session.open(query, level_epsilon, level_line(length))
        assert isinstance(opened.variants, VariantCounts)
        # The variants are sorted by prefix once, and from then on level by level.
        prefixes = prefixes or Prefixes(opened.variants)
        candidates, counts = prefixes.count()
        level = _Level(
            growth=growth,
            semantics=semantics,
            noise=opened.noise,
            epsilon=opened.law.epsilon,
            tree=tree,
            states=states,
            candidates=candidates,
            counts=counts,
        )
        longer = tree.add(*level.take())
        # Variants whose prefix was dropped need not be looked at again: they are of no later level.
        prefixes.keep(longer)
        rows, activities = np.divmod(longer, tree.width)
        states = semantics.step(states[rows], activities)
        if progress is not None:
            progress(length / growth.max_length)
    law = session.noise_on(1, level_epsilon)
    session.show(PrefixCounts(1, growth.max_length), tree, law)
    return tree.variants(session.unit)


Part = tuple[Ints, Ints]
"""Candidates that were kept, and their noisy counts."""


@dataclass(kw_only=True, eq=False)
class _Level:
    """One level in the making."""

    growth: Growth
    semantics: Semantics
    noise: Noise
    epsilon: Fraction
    tree: NoisyPrefixes
    states: Ints
    """What the semantics know of each prefix of the level above."""
    candidates: Ints
    """The candidates that some case has, ascending. Secret."""
    counts: Ints
    """How many cases have each of them: never 0. Secret."""

    def __post_init__(self) -> None:
        self.length, self.end = self.tree.length + 1, self.tree.width - 1
        # Prefixes in the same state have the same harmless next steps: judge each state once.
        states, self.state = np.unique(self.states, return_inverse=True)
        self.harmless = self.semantics.harmless(states)
        # How many harmless steps each prefix has, and whether its end is harmless.
        self.free = self.harmless[:, : self.end].sum(axis=1)[self.state]
        self.may_end = self.harmless[self.state, self.end]

    def take(self) -> Part:
        """Take candidates, add noise, and drop what is below the threshold."""
        parts = [*self._take_steps(), *self._take_ends(), *self._take_harmful()]
        return np.concatenate([part[0] for part in parts]), np.concatenate([p[1] for p in parts])

    def _take_steps(self) -> list[Part]:
        """Take every harmless step."""
        low = self._threshold(self.growth.prune_harmless, end=False)
        rows, steps = np.divmod(self.candidates, self.tree.width)
        real = (steps < self.end) & self.harmless[self.state[rows], steps]
        known = self._noisy(self.candidates[real], low)
        # Survivors are drawn among all harmless steps, those that some case takes included: which
        # ones are empty need not be listed. Drawn ones that are not empty are dropped below.
        cells = int(self.free.sum())
        self._refuse_large(cells, low)
        drawn = self._name_harmless(self.noise.survivors(cells, self.epsilon, low))
        # Each cell survives by itself, so leaving some out changes nothing for the others.
        return [known, self._made(drawn[self._true(drawn) == 0], low)]

    def _take_ends(self) -> list[Part]:
        """Take every harmless end."""
        low = self._threshold(self.growth.prune_harmless, end=True)
        ends = np.flatnonzero(self.may_end) * self.tree.width + self.end
        # There is one end to each prefix: few enough to tell empty ones apart before drawing.
        real = self._true(ends) > 0
        empty = ends[~real]
        # How many are empty is secret: whether it is too much is asked of all of them.
        self._refuse_large(len(ends), low)
        made = empty[self.noise.survivors(len(empty), self.epsilon, low)]
        return [self._noisy(ends[real], low), self._made(made, low)]

    def _take_harmful(self) -> list[Part]:
        """Draw how much harm is admitted and by which candidates."""
        growth = self.growth
        steps = self.end * len(self.free) - int(self.free.sum())
        harmful = steps + len(self.may_end) - int(self.may_end.sum())
        if growth.prune_harmful is None or not harmful:
            return []
        # A geometric variable modulo n is the geometric distribution cut to 0 … n − 1.
        admitted = int(self.noise.geometric(growth.choice_epsilon, 1)[0]) % (harmful + 1)
        if not admitted:
            return []
        # Without a bound on violations each candidate counts as one: so many are taken, all alike.
        taken = self._name_harmful(self.noise.choose(admitted, harmful), steps)
        if growth.max_violations is not None:
            taken = self._until(admitted, taken)
        ends = taken % self.tree.width == self.end
        low, low_end = (self._threshold(growth.prune_harmful, end=end) for end in (False, True))
        return [self._noisy(taken[~ends], low), self._noisy(taken[ends], low_end)]

    def _threshold(self, threshold: int, *, end: bool) -> int:
        # The published program never prunes what is finished or of full length; the paper does.
        full = self.length == self.growth.max_length
        return threshold if self.growth.prune_finished or not (end or full) else 1

    def _true(self, candidates: Ints) -> Ints:
        """How many cases have each candidate. Secret."""
        # There is nothing to bisect where no case goes on.
        if not len(self.candidates):
            return np.zeros_like(candidates)
        last = len(self.candidates) - 1
        place = np.minimum(np.searchsorted(self.candidates, candidates), last)
        return np.where(self.candidates[place] == candidates, self.counts[place], 0)

    def _noisy(self, taken: Ints, low: int) -> Part:
        """Add noise to true counts and drop what is below the threshold."""
        if not len(taken):
            return taken, taken
        noisy = self._true(taken) + self.noise.laplace(self.epsilon, len(taken))
        return taken[noisy >= low], noisy[noisy >= low]

    def _made(self, made: Ints, low: int) -> Part:
        """Candidates that no case has and that survived: draw by how much."""
        if not len(made):
            return made, made
        return made, low + self.noise.geometric(self.epsilon, len(made))

    def _refuse_large(self, cells: int, low: int) -> None:
        """Refuse a level of which too many empty cells would reach the threshold, expected."""
        epsilon, limit = self.epsilon, self.growth.max_prefixes
        # How many cells there are is known from noise: refusing tells nothing new about the log.
        if cells > limit:
            expected = int(tail(epsilon, low)(20) * cells)
            if expected > limit:
                enough = smallest_threshold(DiscreteLaplace(epsilon), cells, Fraction(limit))
                arguments = (Argument("prune"), Argument("prune_harmless"))
                advice = Statement("advice.threshold", enough=enough, arguments=arguments)
                raise TooLargeError(self.length, expected, limit, advice)

    def _order(self) -> Ints:
        """For each state the activities, harmless ones first."""
        return np.argsort(~self.harmless[:, : self.end], axis=1, kind="stable")

    def _name_harmless(self, places: Ints) -> Ints:
        """Harmless steps by their places, counted row by row."""
        if not len(places):
            return places
        bounds = np.cumsum(self.free)
        rows = np.searchsorted(bounds, places, side="right")
        steps = self._order()[self.state[rows], places - bounds[rows] + self.free[rows]]
        named: Ints = rows * self.tree.width + steps
        return named

    def _name_harmful(self, places: Ints, steps: int) -> Ints:
        """Harmful candidates by their places: steps counted row by row, then ends."""
        is_step = places < steps
        rows, taken = np.empty_like(places), np.full(len(places), self.end)
        bounds = np.cumsum(self.end - self.free)
        inner = np.searchsorted(bounds, places[is_step], side="right")
        # Harmful activities stand behind the harmless ones, so ranks count from the back.
        rank = places[is_step] - bounds[inner] + self.end
        rows[is_step], taken[is_step] = inner, self._order()[self.state[inner], rank]
        rows[~is_step] = np.flatnonzero(~self.may_end)[places[~is_step] - steps]
        named: Ints = rows * self.tree.width + taken
        return named

    def _until(self, admitted: int, taken: Ints) -> Ints:
        """Keep the first candidates whose violations add up to no more than is admitted."""
        # Counting violations needs the whole prefix; only the admitted ones are spelled out.
        rows, steps = np.divmod(taken, self.tree.width)
        total, kept = 0, 0
        for prefix, step in zip(self.tree.spell(rows).tolist(), steps.tolist(), strict=True):
            end = step == self.end
            broken = self.semantics.violations(prefix if end else [*prefix, step], end)
            total += min(max(broken, 1), self.growth.max_violations or 1)
            if total > admitted:
                break
            kept += 1
        return taken[:kept]
