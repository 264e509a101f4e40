"""Sequences drawn step by step, each step given the last few activities.

The chain begins with the kept steps (one activity back). From weighted sequences it learns
longer contexts; each is trusted by its weight against a fixed weight for the next shorter one.
All weights are whole numbers, so a draw is a look-up of one uniform number.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from ...kernel.language import Ids
from ...rules.rules import Rules
from .rule_walker import RuleWalker
from .sampler import UniformSampler
from .steps import KeptSteps

ORDER = 3
"""How many activities a context has at most."""
SHORTER = 5
"""The weight of the next shorter context."""
AGAIN = 3
"""How often a draw is repeated that came to an activity which is done."""
TRIED = 300
"""So many draws show how often the chain repeats an activity."""
MUCH = 2
"""Draws may repeat it so many times as often as cases do: what is rare must be tried."""
CERTAIN = 1_000
LEAST = 20
"""Chances are such parts of one, and no smaller."""
VARIOUS = 135
"""If as many of them differ, hardly two cases are alike."""
Choices = tuple[list[int], list[int]]
"""What may come next, and the running sums of its weights."""


class Chain:
    """Draws sequences; the end is the number of activities."""

    def __init__(
        self,
        steps: KeptSteps,
        max_length: int,
        sampler: UniformSampler,
        rules: Rules | None = None,
        once: frozenset[int] = frozenset(),
    ) -> None:
        """Draw from kept steps; with rules, only what is harmless as far as there is a way.

        Without rules, activities that happen `once` are not drawn again.
        """
        self.max_length = max_length
        self.end = len(steps.weights) - 1
        self._sampler = sampler
        self._weights = steps.weights
        self._after: dict[int, Choices] = {}
        self.walker = None if rules is None else RuleWalker(rules)
        self._once = once
        self._seldom: dict[int, int] = {}
        self._contexts: dict[Ids, Choices] = {}

    def follow(self, trigrams: Mapping[Ids, int]) -> None:
        """What comes after two activities goes by weights of 3-grams, until more is learnt.

        What was voted for says more than sequences that were drawn, so none of their longer
        contexts stays before it.
        """
        after: defaultdict[Ids, dict[int, int]] = defaultdict(dict)
        for ids, weight in trigrams.items():
            if weight > 0:
                after[ids[:2]][ids[2]] = weight
        self._contexts = {ids: nexts for ids, nexts in self._contexts.items() if len(ids) <= 2}
        self._contexts.update((pair, _summed(choices)) for pair, choices in after.items())

    def learn(self, weights: Mapping[Ids, int]) -> None:
        """Learn contexts from sequences with weights; what was learnt before is forgotten."""
        seen: defaultdict[Ids, defaultdict[int, int]] = defaultdict(lambda: defaultdict(int))
        for sequence, weight in weights.items():
            # Beginning and end have one number. A sequence of full length was truncated: no end.
            path = (self.end, *sequence, *([self.end] if len(sequence) < self.max_length else []))
            for i in range(1, len(path)):
                # Every context that ends here learns what came next, so that a draw can fall back.
                for length in range(1, min(ORDER, i) + 1):
                    seen[path[i - length : i]][path[i]] += weight
        self._contexts = {context: _summed(after) for context, after in seen.items()}

    def limit_repeats(self, shares: Sequence[float]) -> None:
        """Repeat no activity much more often than that share of cases does.

        A chain forgets what is done. Where two activities come now in this order and now in that,
        it goes back and forth between them, though each case does both once.
        """
        if self.walker is not None or len(self._once) == self.end:
            return
        drawn: Counter[int] = Counter()
        for _ in range(TRIED):
            drawn.update(repeats_of(self.draw()))
        chances = {
            a: max(int(CERTAIN * MUCH * share * TRIED / max(drawn[a], 1)), LEAST)
            for a, share in enumerate(shares)
            if a not in self._once
        }
        self._seldom = {a: chance for a, chance in chances.items() if chance < CERTAIN}

    def is_various(self) -> bool:
        """Whether hardly two cases are alike, as far as draws tell."""
        return len({self.draw() for _ in range(TRIED)}) >= VARIOUS

    def is_limited(self, activity: int) -> bool:
        """Whether only some draws may repeat an activity."""
        return activity in self._seldom

    def may_repeat(self, activities: Iterable[int]) -> bool:
        """Draw whether a sequence may repeat all of these: as likely as the rarest of them."""
        chance = min((self._seldom.get(a, CERTAIN) for a in activities), default=CERTAIN)
        return chance == CERTAIN or self._sampler.below(CERTAIN) < chance

    def draw(self, prefix: Ids = ()) -> Ids:
        """Draw a sequence that begins with a prefix."""
        path = [self.end, *prefix]
        # Walking the automaton of rules costs time that a chain without rules need not spend.
        if self.walker is not None:
            return self._draw_within_rules(path, self.walker, guided=True)
        end = self.end
        once = self._once.union(a for a in self._seldom if not self.may_repeat((a,)))
        done = once.intersection(prefix)
        for _ in range(self.max_length - len(prefix)):
            following = self._next(path)
            if following in done:
                following = self._next_but(path, done)
            if following == end:
                break
            path.append(following)
            if following in once:
                done |= {following}
        return tuple(path[1:])

    def _next_but(self, path: list[int], done: frozenset[int]) -> int:
        """Draw what comes next, but nothing that is done; the end where nothing else is left."""
        for _ in range(AGAIN):
            following = self._next(path)
            if following not in done:
                return following
        options, sums = self._steps_after(path[-1])
        weights = [b - a for a, b in zip([0, *sums], sums, strict=False)]
        left = [(i, w) for i, w in zip(options, weights, strict=True) if i not in done]
        if not left:
            return self.end
        return self._sampler.pick(([i for i, _ in left], list(accumulate(w for _, w in left))))

    def draw_anything(self) -> Ids | None:
        """Draw a sequence that rules allow, whatever the steps are; None: there are no rules."""
        if self.walker is None:
            return None
        return self._draw_within_rules([self.end], self.walker, guided=False)

    def _draw_within_rules(self, path: list[int], walker: RuleWalker, *, guided: bool) -> Ids:
        state = walker.start
        for activity in path[1:]:
            state = walker.step(state, activity)
        while len(path) <= self.max_length:
            allowed = walker.allowed(state)
            following = self._next(path) if guided else None
            if following not in allowed:
                # Steps that passed come first; else whatever is harmless has the same chance.
                weights = [int(self._weights[path[-1], b]) for b in allowed]
                choices = _choices(weights if guided and any(weights) else [1] * len(allowed))
                following = allowed[self._sampler.pick(choices)] if allowed else self.end
            if following is None or following == self.end:
                break
            path.append(following)
            state = walker.step(state, following)
        return tuple(path[1:])

    def activity_after(self, activity: int) -> int | None:
        """Draw what comes directly after an activity (or the beginning), not the end."""
        options, sums = self._steps_after(activity)
        if options and options[-1] == self.end:
            # The end is the last of all options.
            options, sums = options[:-1], sums[:-1]
        return self._sampler.pick((options, sums)) if options else None

    def _next(self, path: list[int]) -> int:
        if self._contexts:
            length = len(path)
            for start in range(max(length - ORDER, 0), length):
                # The longest context first; each gives way to the next with a fixed weight, so
                # that what was seen once is not taken for the rule.
                choices = self._contexts.get(tuple(path[start:]))
                if choices is not None:
                    options, sums = choices
                    number = self._sampler.below(sums[-1] + SHORTER)
                    if number < sums[-1]:
                        return options[bisect_right(sums, number)]
        choices = self._steps_after(path[-1])
        return self._sampler.pick(choices) if choices[0] else self.end

    def _steps_after(self, activity: int) -> Choices:
        """What may come directly after an activity; worked out when it is first asked for."""
        choices = self._after.get(activity)
        if choices is None:
            choices = self._after[activity] = _choices(self._weights[activity].tolist())
        return choices


def repeats_of(sequence: Ids) -> set[int]:
    """The activities that a sequence repeats."""
    if len(set(sequence)) == len(sequence):
        return set()
    return {a for a, times in Counter(sequence).items() if times > 1}


def _choices(weights: list[int]) -> Choices:
    return _summed({i: weight for i, weight in enumerate(weights) if weight > 0})


def _summed(weights: Mapping[int, int]) -> Choices:
    # Running sums turn a draw by weight into one bisection.
    return list(weights), list(accumulate(weights.values()))
