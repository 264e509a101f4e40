"""One run of `certified`: looks at the log, and what is made of their answers in between."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...variants import VariantCounts
from ..protocol import Outcome, Progress
from .candidates import Proposer
from .chain import Chain, Dice
from .distance import Ids
from .lengths import bin_edges, choose_length
from .looks import VOTE_UNITS, Looks
from .named import show_by_name
from .represent import choose_representatives
from .spread import spread
from .steps import keep_steps

if TYPE_CHECKING:
    from .certified import Certified

EXACT = (
    "All noise was drawn exactly, the number of empty cells that reach a threshold too: no "
    "numerical error adds to ε, and δ is 0."
)


class Run:
    """Makes a release of what looks answer and dice show, and of nothing else."""

    def __init__(self, mechanism: Certified, looks: Looks, dice: Dice) -> None:
        self._set = mechanism
        self._looks = looks
        self._dice = dice
        self._prices = mechanism.prices
        self._names = looks.activities
        self._rules = None if mechanism.rules is None else mechanism.rules.over(self._names)
        self._notes = [EXACT]

    def release(self, progress: Progress | None = None) -> Outcome:
        """Go through the steps in order."""
        tell = progress or (lambda done: None)
        size = max(self._looks.size(self._prices.size.epsilon), 1)
        max_length = self._max_length()
        self._looks.cut(max_length)
        votes = self._looks.steps(self._prices.semantics.epsilon)
        steps = keep_steps(
            votes,
            self._prices.semantics.noise / VOTE_UNITS,
            self._set.false_steps,
            self._rules,
        )
        tell(0.2)
        named = self._set.is_rich(size, len(self._names), max_length)
        shown: dict[Ids, int] = {}
        if named:
            histogram = self._looks.histogram(self._prices.named.epsilon)
            self._notes += show_by_name(
                histogram,
                steps.as_language(self._names),
                self._rules,
                max_length,
                self._prices.named.noise,
            )
            for (ids, _), count in histogram.shown.items():
                shown[ids] = shown.get(ids, 0) + count
            self._notes.append(f"{len(shown)} variants were shown by name.")
        tell(0.4)
        chain = Chain(steps, max_length, self._dice, self._rules)
        proposer = Proposer(steps, chain, self._dice, self._rules)
        length = self._set.list_length(size)
        weights = self._search(proposer.first(length, shown, size), size)
        weights.update((ids, 1) for ids in shown if ids not in weights)
        chain.learn(weights)
        tell(0.6)
        candidates = proposer.next(max(length, len(weights)), weights)
        released = self._last_vote(candidates, named=named, size=size)
        tell(1.0)
        return Outcome(
            variants=VariantCounts.collect(
                self._names,
                [i for ids in released for i in ids],
                [len(ids) for ids in released],
                list(released.values()),
                [len(ids) < max_length for ids in released],
            ),
            transcript=self._looks.transcript,
            notes=tuple(self._notes),
        )

    def _max_length(self) -> int:
        if self._set.max_length is not None:
            return self._set.max_length
        edges = bin_edges(self._set.longest)
        votes = self._looks.lengths(edges, self._prices.length.epsilon)
        chosen = choose_length(edges, votes, self._prices.length.noise)
        self._notes.append(f"Cases are cut at length {chosen}, chosen from noisy lengths.")
        return chosen

    def _search(self, candidates: list[Ids], size: int) -> dict[Ids, int]:
        """Let cases vote on a list, and weigh the candidates that stand out."""
        price = self._prices.search
        votes = self._looks.nearest("search", candidates, price.epsilon)
        cells = spread(votes, price.scales(self._set.search_least), size)
        return {ids: n for ids, n in zip(candidates, cells.tolist(), strict=True) if n}

    def _last_vote(self, candidates: list[Ids], *, named: bool, size: int) -> dict[Ids, int]:
        """Let cases vote on the last list, and give the cases to few of it."""
        price = self._prices.last_named if named else self._prices.last_unnamed
        votes = self._looks.nearest("last", candidates, price.epsilon)
        least = min(price.scales(self._set.last_least), int(votes.max()))
        places, represented = choose_representatives(
            candidates,
            np.where(votes >= least, np.maximum(votes, 1), 0),
            len(self._names),
            price=self._set.representative_price,
            disorder_price=self._set.disorder_price,
        )
        cells = spread(represented, 1, size).tolist()
        return {candidates[i]: n for i, n in zip(places, cells, strict=True)}
