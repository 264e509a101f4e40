"""The list of sequences that cases vote for, made of noisy values only.

The first list is drawn from the chain. After a vote, the candidates with many votes are kept and
the rest of the list is filled with variations of them. A wrong candidate costs
nothing but its place: no case is near it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate, islice, pairwise

from ...kernel.language import Ids
from .chain import Chain, repeats_of
from .edits import likely_edits
from .sampler import UniformSampler
from .steps import KeptSteps

TRIES = 10
"""How many times the length of the list is tried to fill it."""
IN_VAIN = 2
"""After so many times its length of tries in a row in vain, hardly anything is left to find."""
FRESH = 15
"""The percentage of tries that draw a whole sequence instead of varying one."""
NEAR = 4
"""Two sequences are crossed at one of so many nearest places."""
USUAL = 6
"""So many sequences of most weight lead back to what cases repeat."""
EDITS = 20
"""So many changes of a usual sequence are tried."""
CHANGED = 5
"""So many of the sequences of most weight are changed."""
CHANGEABLE = 100
"""Longer ones are not: one change of so many events makes them hardly nearer to any case."""
FAR = 5
"""An activity moves by up to so many places."""


class CandidateGenerator:
    """Proposes candidates."""

    def __init__(
        self,
        steps: KeptSteps,
        chain: Chain,
        sampler: UniformSampler,
        once: frozenset[int] = frozenset(),
    ) -> None:
        """Take the steps; what is proposed keeps the chain's rules, and repeats nothing `once`."""
        self._chain = chain
        self._sampler = sampler
        # Asked for one cell at a time, lists are faster than arrays.
        self._allowed = steps.allowed.tolist()
        self._begin = len(self._allowed) - 1
        self._ways_back = steps.ways_back
        self._likeliest = steps.likeliest
        self._odds = steps.odds
        self._walker = chain.walker
        self._once = once

    def first(self, size: int, shown: Mapping[Ids, int], cases: int) -> list[Ids]:
        """Make the first list: what is shown already, draws from the chain, and variations.

        The fewer of the cases are shown by name, the more is drawn.
        """
        # A dictionary is a set that keeps its order: the same seed gives the same list.
        found = dict.fromkeys(shown)
        unnamed = max(cases - sum(shown.values()), 0)
        wanted = len(found) + max(size * unnamed // cases, size // 4)
        if not shown:
            likeliest = [ids for ids in self._likeliest if self._fits(ids)]
            # A short list has nearly all of them, and room for changes of the likeliest.
            found.update(dict.fromkeys(likeliest[: max(size * 3 // 4, 1)]))
            found.update(dict.fromkeys(self.changed(dict.fromkeys(likeliest[:1], 1), size // 2)))
        self._gather(found, wanted, size, self._draw_first)
        # Where noise hides nearly all steps, rules still say what there can be.
        for _ in range(TRIES * size):
            anything = self._chain.draw_anything() if len(found) < wanted else None
            if anything is None:
                break
            if self._harmless(anything, steps=False):
                found[anything] = None
        if shown:
            self._fill(found, shown, max(len(found), size))
        # A vote needs something to vote for.
        return list(found) or [()]

    def next(self, size: int, weights: Mapping[Ids, int]) -> list[Ids]:
        """Make the next list: the candidates with weight, and variations of them."""
        found = dict.fromkeys(weights)
        self._fill(found, weights, size)
        return list(found) or [()]

    def repeating(self, weights: Mapping[Ids, int], most: int) -> list[Ids]:
        """Make sequences that take the likely ways back to what few cases repeat.

        Draws hardly ever do both: leave the usual way, and come back.
        """
        usual = [ids for ids in weights if not repeats_of(ids)]
        usual = sorted(usual, key=lambda ids: -weights[ids])[:USUAL]
        found: dict[Ids, None] = {}
        for a, ways in self._ways_back.items():
            for b in ways if self._chain.is_limited(a) else ():
                for ids in usual:
                    if a not in ids or (b != a and b in ids):
                        continue
                    after = ids.index(a) + 1
                    new = (*ids[:after], *([] if a == b else [b]), a, *ids[after:])
                    if self._fits(new):
                        found[new] = None
        return list(found)[:most]

    def changed(self, weights: Mapping[Ids, int], most: int) -> list[Ids]:
        """Make the likeliest changes of the sequences of most weight."""
        if self._odds is None:
            return []
        usual = [ids for ids in weights if len(ids) <= CHANGEABLE]
        usual.sort(key=lambda ids: -weights[ids])
        found: dict[Ids, None] = {}
        # In a short list there is room for changes of one: the others are most likely noise.
        for ids in usual[: min(max(most // EDITS, 1), CHANGED)]:
            edits = likely_edits(ids, self._odds.beside(ids))
            new = (edit for edit in edits if edit not in weights and self._fits(edit))
            found.update(dict.fromkeys(islice(new, min(EDITS, most))))
        return list(found)

    def more(self, found: dict[Ids, None], weights: Mapping[Ids, int], number: int) -> None:
        """Add so many variations of sequences with weight to what was found."""
        self._fill(found, weights, len(found) + number)

    def draw_many(
        self, found: Iterable[Ids], weights: Mapping[Ids, int], number: int
    ) -> dict[Ids, int]:
        """Draw so many sequences, and vary as many with weight: how often each was drawn.

        What was varied, or found before, counts once more.
        """
        times = Counter(dict.fromkeys(found, 1))
        drawn = (self._chain.draw() for _ in range(number))
        times.update(ids for ids in drawn if self._harmless(ids))
        more = dict.fromkeys(times)
        self.more(more, weights, number)
        return {ids: times[ids] or 1 for ids in more}

    def _fill(self, found: dict[Ids, None], weights: Mapping[Ids, int], size: int) -> None:
        """Add new sequences until there are enough, or it was tried often enough."""
        # Parents are picked by weight: what stands for many cases is varied most.
        parents = list(weights), list(accumulate(weights.values()))
        sampler = self._sampler

        def draw() -> Ids:
            if not weights or sampler.below(100) < FRESH:
                return self._chain.draw()
            return self._vary(sampler.pick(parents), sampler.pick(parents))

        self._gather(found, size, size, draw)

    def _gather(
        self, found: dict[Ids, None], wanted: int, size: int, draw: Callable[[], Ids]
    ) -> None:
        """Draw until there are as many as wanted, or a list of this size was tried often enough."""
        vain = 0
        for _ in range(TRIES * size):
            if len(found) >= wanted or vain >= IN_VAIN * size:
                break
            before = len(found)
            sequence = draw()
            if self._harmless(sequence):
                found[sequence] = None
            vain = 0 if len(found) > before else vain + 1

    def _draw_first(self) -> Ids:
        sequence = self._chain.draw()
        if len(sequence) == self._chain.max_length:
            # Such a draw did not find the end: cut it anywhere.
            sequence = sequence[: 1 + self._sampler.below(len(sequence))]
        return sequence

    def _vary(self, one: Ids, other: Ids) -> Ids:
        """Change a sequence in one of six ways, each as likely.

        What it repeats by that is repeated as seldom as the chain does.
        """
        way = self._WAYS[self._sampler.below(len(self._WAYS))]
        new = way(self, one, other)[: self._chain.max_length]
        repeats = repeats_of(new)
        if repeats and not self._chain.may_repeat(repeats - repeats_of(one) - repeats_of(other)):
            return one
        return new

    def _regrow(self, one: Ids, _: Ids) -> Ids:
        return self._chain.draw(one[: self._sampler.below(len(one) + 1)])

    def _cross(self, one: Ids, other: Ids) -> Ids:
        """Go on as the other does, from a place near by that an allowed step leads to."""
        place = self._sampler.below(len(one) + 1)
        allowed = self._allowed[one[place - 1] if place else self._begin]
        # The end has the number of the beginning, so ending here is one of the ways to go on.
        after = (*other, self._begin)
        targets = [i for i in range(len(after)) if allowed[after[i]]]
        if not targets:
            return one
        # Near by, so that the new sequence is about as long as its parents.
        targets = sorted(targets, key=lambda i: abs(i - place))[:NEAR]
        return one[:place] + other[targets[self._sampler.below(len(targets))] :]

    def _delete(self, one: Ids, _: Ids) -> Ids:
        # One or two activities: pairs that belong together go together.
        place = self._sampler.below(max(len(one), 1))
        return one[:place] + one[place + 1 + self._sampler.below(2) :]

    def _insert(self, one: Ids, _: Ids) -> Ids:
        return self._put(one, 0)

    def _replace(self, one: Ids, _: Ids) -> Ids:
        return self._put(one, 1)

    def _put(self, one: Ids, instead: int) -> Ids:
        """Put an activity that may follow here, instead of so many others."""
        place = self._sampler.below(len(one) + 1)
        new = self._chain.activity_after(one[place - 1] if place else self._begin)
        return one if new is None else (*one[:place], new, *one[place + instead :])

    def _move(self, one: Ids, _: Ids) -> Ids:
        """Move one activity a few places."""
        if not one:
            return one
        place = self._sampler.below(len(one))
        rest = one[:place] + one[place + 1 :]
        target = min(max(place + self._sampler.below(2 * FAR + 1) - FAR, 0), len(rest))
        return (*rest[:target], one[place], *rest[target:])

    _WAYS = (_regrow, _cross, _delete, _insert, _replace, _move)

    def _fits(self, sequence: Ids) -> bool:
        return len(sequence) <= self._chain.max_length and self._harmless(sequence)

    def _harmless(self, sequence: Ids, *, steps: bool = True) -> bool:
        # Whether there are cases without events was voted for, like any other step.
        if steps and not sequence and not self._allowed[self._begin][self._begin]:
            return False
        if self._walker is None and len(set(sequence)) < len(sequence):
            single = [i for i in sequence if i in self._once]
            if len(set(single)) < len(single):
                return False
            # What leads back to a repeated activity must not vanish from between.
            if any(a == b and not self._allowed[a][a] for a, b in pairwise(sequence)):
                return False
        finished = len(sequence) < self._chain.max_length
        return self._walker is None or self._walker.keeps(sequence, finished)
