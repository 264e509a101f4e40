"""The growth loop of the papers' mechanisms: a prefix tree, answered one level at a time.

Level n holds the prefixes of length n. Its candidates are the unfinished prefixes of the level
above, each with one more activity or with its end. Harmless candidates are all taken, harmful ones
as the semantics admit them; each gets noise, and those below their threshold are dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..kernel.language import Word
from ..kernel.session import Session
from ..kernel.statements import Statement
from ..kernel.variants import VariantCounts
from ..rules.protocol import Semantics
from .level import Growth, Level
from .prefix_tree import NOTHING, Found, Frontier, NoisyPrefixes, spell
from .prefixes import Prefixes
from .protocol import Progress


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
    sensitivity = 1

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
    number = len(session.activities)
    # The empty prefix stands above the first level; it has no parent and no activity.
    root = np.zeros(1, dtype=np.int64)
    start = root + semantics.start()
    frontiers = [Frontier(states=start, parents=root - 1, activities=root - 1, counts=root)]
    finished: list[Found] = []
    longer = NOTHING
    prefixes: Prefixes | None = None
    for length in range(1, growth.max_length + 1):
        query = PrefixCounts(length, length)
        if not len(frontiers[-1].counts):
            # The promise names every level, so what noise left without prefixes is charged as well.
            session.charge(query.what, level_epsilon, level_line(length))
            continue
        opened = session.open(query, level_epsilon, level_line(length))
        assert isinstance(opened.variants, VariantCounts)
        # The variants are sorted by prefix once, and from then on level by level.
        prefixes = prefixes or Prefixes(opened.variants)
        level = Level(growth, opened.epsilon, semantics, opened.noise, number, frontiers, prefixes)
        found = Found.join([level.take_steps(), level.take_ends(), level.take_harmful()])
        # A finished prefix is released and never grows; the others are the next frontier.
        ends = found.activities == number
        finished.append(found.where(ends))
        longer = found.where(~ends)
        # Variants whose prefix was dropped need not be looked at again: they are of no later level.
        prefixes.keep(level.true, longer.places, len(longer.rows))
        frontiers.append(
            Frontier(
                states=semantics.step(frontiers[-1].states[longer.rows], longer.activities),
                parents=longer.rows,
                activities=longer.activities,
                counts=longer.counts,
            )
        )
        if progress is not None:
            progress(length / growth.max_length)
    session.show(
        PrefixCounts(1, growth.max_length),
        NoisyPrefixes(frontiers, finished),
        session.cell_epsilon(1, level_epsilon),
    )
    return spell(session.activities, frontiers, finished, longer.counts, session.unit)
