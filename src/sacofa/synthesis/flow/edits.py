"""What one change makes of a usual sequence, the likeliest changes first.

Where one way through a process is usual, most other cases differ from it by one change: two parts
that do not wait for one another come in the other order, a part is skipped, a case ends early. A
chain of steps draws such a case only if each of its new
steps passed by itself. Here their votes are added up: three steps that noise might hide one by one
stand out together. Everything here reads noisy votes only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...kernel.language import Ids

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Edit = tuple[float, int, Ids, int]
"""How likely a change is; how many activities stay before it, what comes then, and where the
sequence goes on."""

TAKING = (0.035, 0.07, 0.14, 0.28, 0.56)
"""So many of the cases may make a change, if any do: each share is as likely."""
CLEAR = 6.0
"""No step tells more than as many noise scales of votes would."""
BLOCK = 5
"""A part that comes elsewhere, or is skipped, has at most so many activities; the rest of a case
may be skipped however long it is."""


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

    def beside(self, sequence: Ids) -> Floats:
        """[a, b]: log odds that cases which differ from a sequence take a step of their own.

        The sequence's own steps are taken anyway: their odds are 0.
        """
        end = len(self.votes) - 1
        own = tuple(np.array(list(pairwise((end, *sequence, end)))).T)
        each = self.cases * self.weights / self.weights[own].sum()
        odds = step_odds(self.votes, each, TAKING)
        odds[own] = 0.0
        return odds


def step_odds(votes: Floats, each: Floats, shares: Sequence[float]) -> Floats:
    """Log odds that one of these shares of the cases takes a step, each as likely, by its votes.

    If all cases take it, it has `each` votes more than noise. How much likelier a share makes the
    votes that it has is linear in between and no more beyond, because noise is Laplace's.
    """
    chances = np.zeros(votes.shape)
    for share in shares:
        more = np.minimum(share * each, CLEAR)
        chances += np.exp(np.clip(2 * votes - more, -more, more)) / len(shares)
    result: Floats = np.log(chances)
    return result


def likely_edits(sequence: Ids, odds: Floats) -> Iterator[Ids]:
    """Change a sequence in one way, the likeliest first; `odds` are those beside it."""
    found = [*_swapped(sequence, odds), *_skipped(sequence, odds)]
    found.sort(key=lambda edit: (-edit[0], edit[1:]))
    known: set[Ids] = set()
    for _, first, middle, after in found:
        ids = sequence[:first] + middle + sequence[after:]
        # Some changes can be made in several ways: the likeliest counts.
        if ids not in known:
            known.add(ids)
            yield ids


def _swapped(sequence: Ids, odds: Floats) -> Iterator[Edit]:
    """Let two neighbouring parts change places."""
    path, number = _path(sequence, odds), len(sequence)
    for i in range(number):
        for j in range(i + 1, min(i + BLOCK, number - 1) + 1):
            for k in range(j + 1, min(j + BLOCK, number) + 1):
                # From before both to the second, from that to the first, and on from there.
                new = odds[path[i - 1], path[j]] + odds[path[k - 1], path[i]]
                new += odds[path[j - 1], path[k]]
                yield float(new), i, sequence[j:k] + sequence[i:j], k


def _skipped(sequence: Ids, odds: Floats) -> Iterator[Edit]:
    """Leave out a part, or all that is left."""
    path, number = _path(sequence, odds), len(sequence)
    for i in range(number):
        for j in _back(i + 1, number):
            yield float(odds[path[i - 1], path[j]]), i, (), j


def _path(sequence: Ids, odds: Floats) -> Ids:
    """A sequence with its end, and at place -1 its beginning, which has the same number."""
    end = len(odds) - 1
    return (*sequence, end, end)


def _back(first: int, number: int) -> list[int]:
    """The places at which a changed sequence goes on: a part later at most, or at the end."""
    return [*range(first, min(first + BLOCK, number)), number]
