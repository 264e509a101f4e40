"""What one change makes of a usual sequence, the likeliest changes first.

Where one way through a process is usual, most other cases differ from it by one change: two parts
that do not wait for one another come in the other order, a part is skipped, a case ends early, a
few other activities come in between. A chain of steps draws such a case only if each of its new
steps passed by itself. Here their votes are added up: three steps that noise might hide one by one
stand out together. Everything here reads noisy votes only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...queries.distance import Ids

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Edit = tuple[float, Ids]
"""A sequence, and how likely it is that cases take it."""

TAKING = (0.035, 0.07, 0.14, 0.28, 0.56)
"""So many of the cases may make a change, if any do: each share is as likely."""
CLEAR = 6.0
"""No step tells more than as many noise scales of votes would."""
BLOCK = 5
"""A part that comes elsewhere, or is skipped, has at most so many activities; the rest of a case
may be skipped however long it is."""
DETOUR = 3
"""So many other activities come in between at most."""
OTHER = 5.0
"""What each of them has to make up for, in log odds: it is one of many that it could be."""
DETOURS = 20
"""So many detours of each length are followed from each place."""


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

        If a share of the cases takes it, it has about so many votes more than noise; how much
        likelier that makes those that it has is linear in between and no more beyond, because
        noise is Laplace's. The sequence's own steps are taken anyway: their odds are 0.
        """
        end = len(self.votes) - 1
        own = tuple(np.array(list(pairwise((end, *sequence, end)))).T)
        each = self.cases * self.weights / self.weights[own].sum()
        chances = np.zeros(self.votes.shape)
        for share in TAKING:
            more = np.minimum(share * each, CLEAR)
            chances += np.exp(np.clip(2 * self.votes - more, -more, more)) / len(TAKING)
        odds = np.log(chances)
        odds[own] = 0.0
        return odds


def likely_edits(sequence: Ids, odds: Floats) -> Iterator[Ids]:
    """Change a sequence in one way, the likeliest first; `odds` are those beside it."""
    found = [*_swapped(sequence, odds), *_skipped(sequence, odds), *_detours(sequence, odds)]
    # Names are in one public order, so equals come in one as well.
    found.sort(key=lambda edit: (-edit[0], edit[1]))
    # Some changes can be made in several ways: the likeliest counts.
    return iter(dict.fromkeys(ids for _, ids in found))


def _swapped(sequence: Ids, odds: Floats) -> Iterator[Edit]:
    """Let two neighbouring parts change places."""
    end, number = len(odds) - 1, len(sequence)
    path = (*sequence, end, end)
    for i in range(number):
        for j in range(i + 1, min(i + BLOCK, number - 1) + 1):
            for k in range(j + 1, min(j + BLOCK, number) + 1):
                # From before both to the second, from that to the first, and on from there.
                new = odds[path[i - 1], path[j]] + odds[path[k - 1], path[i]]
                swapped = sequence[:i] + sequence[j:k] + sequence[i:j] + sequence[k:]
                yield float(new + odds[path[j - 1], path[k]]), swapped


def _skipped(sequence: Ids, odds: Floats) -> Iterator[Edit]:
    """Leave out a part, or all that is left."""
    end, number = len(odds) - 1, len(sequence)
    path = (*sequence, end, end)
    for i in range(number):
        for j in _back(i + 1, number):
            yield float(odds[path[i - 1], path[j]]), sequence[:i] + sequence[j:]


def _detours(sequence: Ids, odds: Floats) -> Iterator[Edit]:
    """Let other activities come between two, or instead of a part."""
    end, number = len(odds) - 1, len(sequence)
    path = (*sequence, end, end)
    for i in range(number + 1):
        ways: list[Ids] = [()]
        scores = np.zeros(1)
        back = _back(i, number)
        for _ in range(DETOUR if end else 0):
            last = [way[-1] if way else path[i - 1] for way in ways]
            longer = (scores[:, None] + odds[last, :end] - OTHER).ravel()
            best = np.argsort(-longer, kind="stable")[:DETOURS]
            ways = [(*ways[place // end], place % end) for place in best.tolist()]
            scores = longer[best]
            last = [way[-1] for way in ways]
            whole = scores[:, None] + odds[last][:, [path[j] for j in back]]
            for way, row in zip(ways, whole.tolist(), strict=True):
                for j, score in zip(back, row, strict=True):
                    yield score, sequence[:i] + way + sequence[j:]


def _back(first: int, number: int) -> list[int]:
    """The places at which a changed sequence goes on: a part later at most, or at the end."""
    return [*range(first, min(first + BLOCK, number)), number]
