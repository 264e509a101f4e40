"""The numbers of cases that explain all answers at once.

Every query is a table that adds up over cases. So what a log made of a pool of sequences, each with
a number of cases w, would have answered is a matrix T times w; and how far the answers y are from
that, in scales of their noise, says how well such a log explains them. The numbers w are those that
stray least, in relative entropy, from a start s:

    Σ (w log(w / s) − w + s)  +  Σ (y − T·w)² / (2 h),     h = hold + sampling · T²·s

The second term of h is a part of the variance that the answers of a random sample of the start
would have. Without it, answers with little noise ask more of a finite pool than it can give, and
the fit explains them by coincidences of the pool. The dual problem is smooth, convex and without
bounds. Of answers whose cells are empty for the most part, what each cell is expected to hold is to
be explained, the more so the surer that is: or the highest noise would be explained.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, pairwise
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

from ...base.distance import TOGETHER, nearest
from ...kernel.language import Ids
from ...kernel.laws import Law
from ...kernel.queries.flow import (
    VOTE_UNITS,
    ActivityVotes,
    StepVotes,
    TrigramVotes,
    length_votes,
)
from ..numerics import Floats, Ints, add_up, minimize_convex, one_thread
from ..thresholds import SHAPES, VARIANCE
from .answers import shrink
from .tuning import TUNING

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Entries = Iterable[tuple[int, float]]
Table = Callable[[Ids], Entries]
"""What one case of a sequence adds to which cells of a query."""


@dataclass(frozen=True, eq=False)
class System:
    """The equations of a pool; every cell is divided by the scale of its noise."""

    adds: csr_array | Floats
    """[sequence, cell]: what a case of the sequence adds to the cell, times how sure that is."""
    by_cell: csr_array | Floats
    """[cell, sequence]: the same."""
    answers: Floats
    """What each cell is expected to hold, times how sure that is."""
    sureness: Floats
    """What the entries and the answer of each cell were multiplied by."""
    noisy: Floats
    """The answer of each cell as it is."""
    others: float
    """The squares of the answers of cells that no sequence of the pool adds to, added up."""

    def misfit(self, weights: Floats) -> float:
        """How far the answers are from what these numbers of cases would give: squares added up."""
        missing = self.noisy - self.by_cell @ weights / self.sureness
        return float(missing @ missing) + self.others


@dataclass(frozen=True, eq=False)
class _Answer:
    values: Floats
    expected: Floats
    sureness: Floats
    noise: float
    entries: Callable[[Ids], tuple[list[int], list[float]]]
    """The cells that a case of a sequence adds to, and what."""


class Nearest:
    """Which of a list of candidates a sequence is nearest to."""

    def __init__(self, candidates: Sequence[Ids], activities: int) -> None:
        """Take the list, and how many activities there are."""
        self._candidates = candidates
        self._activities = activities
        self._known: dict[Ids, int] = {}

    def places(self, pool: Sequence[Ids]) -> list[int]:
        """The place in the list, for each of a pool."""
        # All at once is faster, and a sequence is asked for again in every fit.
        new = [ids for ids in pool if ids not in self._known]
        if new:
            found = nearest(new, self._candidates, self._activities).tolist()
            self._known.update(zip(new, found, strict=True))
        return [self._known[ids] for ids in pool]


class Evidence:
    """The answers so far."""

    def __init__(self) -> None:
        self._answers: list[_Answer] = []
        self._candidates: list[Nearest] = []

    def add(
        self,
        values: Ints,
        law: Law,
        table: Table,
        units: int = 1,
    ) -> None:
        """Add an answer with noise of this law; `units` votes are one case."""
        scaled = values.ravel().astype(np.float64) * float(law.epsilon)
        noise = float(law.epsilon * units)
        self._add(scaled, scaled, np.ones(scaled.size), noise, table)

    def add_sparse(self, values: Ints, law: Law, table: Table, units: int = 1) -> Floats:
        """Add an answer of which most cells are empty; give what each likely holds, in cases."""
        scaled = values.ravel().astype(np.float64) * float(law.epsilon)
        expected, variances = shrink(scaled, SHAPES[type(law)])
        sureness = np.sqrt(VARIANCE / np.maximum(variances, TUNING.min_variance))
        noise = float(law.epsilon * units)
        self._add(scaled, expected, sureness, noise, table)
        return expected / noise

    def add_nearest(self, votes: Ints, law: Law, candidates: Nearest) -> Floats:
        """Add votes for the nearest candidate; what each likely has comes back."""
        self._candidates.append(candidates)
        return self.add_sparse(votes, law, lambda ids: [(candidates.places([ids])[0], 1.0)])

    def _add(
        self, values: Floats, expected: Floats, sureness: Floats, noise: float, table: Table
    ) -> None:
        # The next fit uses most sequences again, later ones few. The bound limits memory.
        @lru_cache(maxsize=2 * TUNING.most_samples)
        def entries(ids: Ids) -> tuple[list[int], list[float]]:
            added: dict[int, float] = {}
            for cell, amount in table(ids):
                added[cell] = added.get(cell, 0.0) + amount
            return list(added), list(added.values())

        self._answers.append(_Answer(values, expected, sureness, noise, entries))

    def system(self, pool: Sequence[Ids]) -> System:
        """Write down the equations of a pool."""
        for candidates in self._candidates:
            candidates.places(pool)
        parts: list[tuple[Ints | Floats, ...]] = []
        others, before = 0.0, 0
        for answer in self._answers:
            entries = [answer.entries(ids) for ids in pool]
            lengths = [len(here) for here, _ in entries]
            total = sum(lengths)
            places = np.fromiter(chain.from_iterable(here for here, _ in entries), np.int64, total)
            added = np.fromiter(chain.from_iterable(each for _, each in entries), float, total)
            # Of the steps between many activities, hardly any are in a pool.
            used, places = np.unique(places, return_inverse=True)
            sure, there = answer.sureness[used], answer.values[used]
            owners = np.repeat(np.arange(len(pool)), lengths)
            amounts = added * (answer.noise * sure[places])
            expected = answer.expected[used] * sure
            parts.append((owners, before + places, amounts, expected, sure, there))
            others += float(answer.values @ answer.values - there @ there)
            before += len(used)
        owners, cells, amounts, answers, sureness, noisy = map(
            np.concatenate, zip(*parts, strict=True)
        )
        shape = len(pool), before
        if len(pool) * before <= TOGETHER:
            dense = add_up(owners * before + cells, amounts, len(pool) * before).reshape(shape)
            return System(dense, dense.T, answers, sureness, noisy, others)
        from scipy.sparse import csr_array

        sparse = csr_array((amounts, (owners, cells)), shape=shape)
        return System(sparse, sparse.T.tocsr(), answers, sureness, noisy, others)


def spread(numbers: Mapping[Ids, float], cases: int) -> dict[Ids, float]:
    """Multiply numbers so that they add up to this many cases."""
    whole = sum(numbers.values())
    return {ids: number * cases / whole for ids, number in numbers.items()}


def share_out(
    drawn: Mapping[Ids, int], candidates: Mapping[Ids, float], nearest: Nearest, cases: int
) -> dict[Ids, float]:
    """Divide the votes of each candidate between itself and the samples nearest to it.

    A candidate keeps the part of its votes that corresponds to how often samples near it repeat:
    the part that was sampled once estimates what was not seen yet (Good and Turing).
    """
    pool = list(dict.fromkeys([*candidates, *drawn]))
    times = np.array([float(drawn.get(ids, 0)) for ids in pool])
    places = np.array(nearest.places(pool), dtype=np.int64)
    votes = np.array(list(candidates.values()))

    def near(values: Floats) -> Floats:
        return np.bincount(places, values, minlength=len(votes)).astype(np.float64)

    sampled, single = near(times), near((times == 1).astype(np.float64))
    own = np.where(sampled > 0, 1 - (single + 1) / (sampled + 1), 1.0)
    shares = (votes * (1 - own) / np.maximum(sampled, 1.0))[places] * times
    shares[: len(votes)] += own * votes
    shares += max(TUNING.least_share * shares.sum(), 1.0) / len(shares)
    return spread(dict(zip(pool, shares.tolist(), strict=True)), cases)


def estimate(evidence: Evidence, start: Mapping[Ids, float]) -> dict[Ids, float]:
    """Find the numbers of cases nearest to a start, all above 0, that explain the answers."""
    return estimate_with_misfit(evidence, start)[0]


def estimate_with_misfit(
    evidence: Evidence, start: Mapping[Ids, float]
) -> tuple[dict[Ids, float], float]:
    """Find the same numbers, and the squares of what they leave unexplained."""
    system, first = evidence.system(list(start)), np.array(list(start.values()))
    variances = system.by_cell**2 @ first
    weights, left, prices = first, np.inf, np.zeros(len(system.answers))
    with one_thread():
        for hold in TUNING.holds:
            slack = hold + TUNING.sampling * variances
            prices = _prices(system, first, variances, slack, prices)
            tried = _moved(system, first, prices)
            misfit = system.misfit(tried)
            if misfit * TUNING.gain > left:
                break
            weights, left = tried, misfit
    return dict(zip(start, weights.tolist(), strict=True)), left


def _prices(
    system: System, first: Floats, variances: Floats, slack: Floats, near: Floats
) -> Floats:
    """The prices of cells that minimize the dual; the search begins near others."""
    # In these units all prices bend the dual alike.
    units = np.sqrt(variances + slack)

    def dual(scaled: Floats) -> tuple[float, Floats]:
        prices = scaled / units
        weights = _moved(system, first, prices)
        value = weights.sum() + (slack * prices) @ prices / 2 - prices @ system.answers
        return float(value), (system.by_cell @ weights + slack * prices - system.answers) / units

    gain, rounds = TUNING.least_gain, TUNING.fit_rounds
    best: Floats = minimize_convex(dual, near * units, least_gain=gain, max_rounds=rounds) / units
    return best


def _moved(system: System, first: Floats, prices: Floats) -> Floats:
    """The numbers of cases at these prices: each is multiplied by those of its cells."""
    moved: Floats = first * np.exp(np.minimum(system.adds @ prices, TUNING.largest_exponent))
    return moved


def count_table(ids: Ids) -> Entries:
    """A case adds 1 to the number of cases."""
    yield 0, 1.0


def length_table(edges: Sequence[int]) -> Table:
    """A case votes for the two lengths that it lies between, as `CaseLengths` says."""

    @cache
    def votes_of(length: int) -> tuple[int, int]:
        upper, votes = length_votes(edges, np.array([length]))
        return int(upper[0]), int(votes[0])

    def table(ids: Ids) -> Entries:
        upper, votes = votes_of(len(ids))
        yield upper, votes / VOTE_UNITS
        if votes < VOTE_UNITS:
            yield upper - 1, (VOTE_UNITS - votes) / VOTE_UNITS

    return table


def frequent_table(shown: Sequence[Ids]) -> Table:
    """A case adds 1 to its own sequence, if that was shown by name."""
    places = {ids: i for i, ids in enumerate(shown)}

    def table(ids: Ids) -> Entries:
        if ids in places:
            yield places[ids], 1.0

    return table


def occurrence_table(query: ActivityVotes, part: float = 1.0, *, repeated: bool) -> Table:
    """A case spreads this part of its vote over its activities, as the query says.

    The cells are those of activities that a case repeats; or else of those that happen once, and
    the last is for cases without events.
    """
    power = 1 + query.euclidean
    whole = VOTE_UNITS**power

    def table(ids: Ids) -> Entries:
        times = Counter(ids)
        mine = [activity for activity, n in times.items() if (n > 1) == repeated]
        votes = query.for_repeats**power if repeated else whole - query.for_repeats**power
        for activity in mine:
            each = (whole if len(mine) == len(times) else votes) // len(mine)
            yield activity, part * (isqrt(each) if query.euclidean else each) / VOTE_UNITS
        if not times and not repeated:
            yield query.activities, part

    return table


def _divide(cells: Iterable[int], weights: Iterable[int]) -> Entries:
    """Divide the vote of a case among cells with weights, in the Euclidean norm."""
    added: dict[int, int] = {}
    for cell, weight in zip(cells, weights, strict=True):
        added[cell] = added.get(cell, 0) + weight
    whole = sum(weight**2 for weight in added.values())
    for cell, weight in added.items():
        yield cell, isqrt((VOTE_UNITS * weight) ** 2 // whole) / VOTE_UNITS


def step_table(query: StepVotes, max_length: int) -> Table:
    """A case spreads its vote over its steps, as the query says."""
    end, weights = query.activities, query.step_weights().tolist()

    def table(ids: Ids) -> Entries:
        # In the order of their first events, as a dictionary keeps them.
        voted = tuple(dict.fromkeys(ids)) if query.once else ids
        path = (end, *voted, end) if len(ids) < max_length else (end, *voted)
        each = [weights[a][b] for a, b in pairwise(path)]
        cells = [a * (end + 1) + b for a, b in pairwise(path)]
        if query.euclidean:
            yield from _divide(cells, each)
            return
        whole = sum(each)
        for cell, weight in zip(cells, each, strict=True):
            yield cell, VOTE_UNITS * weight // whole / VOTE_UNITS

    return table


def trigram_table(query: TrigramVotes, max_length: int) -> Table:
    """A case spreads its vote over its events, as the query says."""
    end, places = query.activities, {ids: place for place, ids in enumerate(query.listed)}

    def table(ids: Ids) -> Entries:
        path = (end, *ids, end) if len(ids) < max_length else (end, *ids)
        found = [places[path[i : i + 3]] for i in range(len(path) - 2) if path[i : i + 3] in places]
        if query.euclidean:
            yield from _divide(found, [1] * len(found))
            return
        for place in found:
            yield place, VOTE_UNITS // len(ids) / VOTE_UNITS

    return table
