"""The language of a model in the place of rules: what leaves it is harmful."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..provenance import Provenance
from ..rules import Rules
from .automaton import NOWHERE, Automaton, TooManyStatesError, deviating
from .profile import rules_of_graph

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

HARMFUL = 0
"""The state of every prefix that left the language."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelRules(Rules):
    """Rules that know the whole language of a model; their facts are those that all of it keeps."""

    model: Automaton
    """The language of the model itself."""
    allowed: Automaton
    """The language of the cases that are harmless: with deviations, more than the model's."""
    deviations: int
    """How many events a harmless case may have more, or fewer, than one of the model."""

    @classmethod
    def of(cls, model: Automaton, deviations: int, source: Provenance) -> ModelRules:
        """Take the language of a model, and cases that differ from it in so many events."""
        allowed = deviating(model, deviations)
        facts = rules_of_graph(allowed.graph(), source)
        return cls(
            activities=facts.activities,
            never_follows=facts.never_follows,
            always_follows=facts.always_follows,
            always_precedes=facts.always_precedes,
            starts=facts.starts,
            empty=facts.empty,
            source=source,
            model=model,
            allowed=allowed,
            deviations=deviations,
        )

    def project_onto(self, activities: Sequence[str]) -> Rules:
        """Express over other activities; where that makes too many states, by the facts alone."""
        if tuple(activities) == self.activities:
            return self
        try:
            model = self.model.project_onto(activities)
            return ModelRules.of(model, self.deviations, self.source)
        except TooManyStatesError:
            return super().project_onto(activities)

    def possible_steps(self) -> Bools:
        """[a, b]: whether b may come directly after a; the last row begins and column ends."""
        after = self.allowed.after
        size = len(self.activities)
        into = np.zeros((self.allowed.states, size + 1), dtype=np.bool_)
        sources, labels = np.nonzero(after != NOWHERE)
        into[after[sources, labels], labels] = True
        into[0, size] = True
        out = np.concatenate([after != NOWHERE, self.allowed.ends[:, None]], axis=1)
        return (into.T.astype(np.float32) @ out.astype(np.float32)) > 0


class ModelStates:
    """Judges prefixes by the language of a model."""

    def __init__(self, rules: ModelRules) -> None:
        self.rules = rules
        allowed = rules.allowed
        shape = (allowed.states + 1, len(rules.activities))
        self._next = np.zeros(shape, dtype=np.int64)
        # NOWHERE is −1, so that it becomes HARMFUL.
        self._next[1:] = allowed.after + 1
        self._allowed = np.zeros((shape[0], shape[1] + 1), dtype=np.bool_)
        self._allowed[:, :-1] = self._next > 0
        self._allowed[1:, -1] = allowed.ends
        self._numbers = self._allowed.sum(axis=1)

    @property
    def activities(self) -> tuple[str, ...]:
        """The activities; ids are places here."""
        return self.rules.activities

    def start(self) -> int:
        """The state of the empty prefix."""
        return HARMFUL + 1

    def harmless(self, states: Ints) -> Bools:
        """Which next steps are harmless in each state: a column per activity, the last the end."""
        return self._allowed[states]

    def allowed_counts(self, states: Ints) -> Ints:
        """For each state, how many next steps are harmless, the end counted too."""
        numbers: Ints = self._numbers[states]
        return numbers

    def step(self, states: Ints, activities: Ints) -> Ints:
        """The state after one more activity, for each pair; a harmful step leads to HARMFUL."""
        reached: Ints = self._next[states, activities]
        return reached

    def violations(self, prefix: Sequence[int], finished: bool) -> int:
        """The number of deviations of a prefix beyond those that are allowed.

        It is the price of the best alignment with some case of the model, or with the beginning
        of one where the prefix is not finished.
        """
        graph, size = self.rules.model.graph(), self.rules.model.states
        far = len(prefix) + size + 1
        costs = np.full(size, far, dtype=np.int64)
        costs[0] = 0
        for activity in prefix:
            costs = _skipped(graph.sources, graph.targets, costs)
            after = self.rules.model.after[:, activity]
            there = after != NOWHERE
            moved = costs + 1
            np.minimum.at(moved, after[there], costs[there])
            costs = moved
        costs = _skipped(graph.sources, graph.targets, costs)
        best = costs[self.rules.model.ends].min() if finished else costs.min()
        return max(0, int(best) - self.rules.deviations)


def _skipped(sources: Ints, targets: Ints, costs: Ints) -> Ints:
    """Let steps of the model be skipped, at the price of one deviation each."""
    while True:
        better = costs.copy()
        np.minimum.at(better, targets, costs[sources] + 1)
        if np.array_equal(better, costs):
            return costs
        costs = better
