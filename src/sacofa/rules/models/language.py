"""The language of a model in place of rules: a step that leaves it is harmful."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..provenance import Provenance
from ..rules import Rules
from .automaton import (
    NOWHERE,
    Automaton,
    Bools,
    Ints,
    TooManyStatesError,
    determinize,
    rules_of_graph,
)

HARMFUL = 0
"""State of every prefix that left the language."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelRules(Rules):
    """Rules with the whole language of a model; their tables are what all of it keeps.

    Attributes:
        model: Language of the model.
        allowed: Language of the harmless cases: with deviations, larger than the model's.
        deviations: Number of events by which a harmless case may differ from one of the model.
    """

    model: Automaton
    allowed: Automaton
    deviations: int

    @classmethod
    def of(cls, model: Automaton, deviations: int, source: Provenance) -> ModelRules:
        """Make rules from the language of a model, and the deviations that are allowed."""
        allowed = determinize(model.graph(), deviations) if deviations else model
        facts = rules_of_graph(allowed.graph(), source)
        return cls(**vars(facts), model=model, allowed=allowed, deviations=deviations)

    def project_onto(self, activities: Sequence[str], closed: bool = False) -> Rules:
        """Express the language over other activities; its rules alone if it becomes too large."""
        if tuple(activities) == self.activities:
            return self
        try:
            model = self.model.project_onto(activities, closed)
            return ModelRules.of(model, self.deviations, self.source)
        except TooManyStatesError:
            return super().project_onto(activities, closed)

    def possible_steps(self) -> Bools:
        """Return whether b may directly follow a: [a, b], with the start last and the end last."""
        after = self.allowed.after
        size = len(self.activities)
        into = np.zeros((self.allowed.states, size + 1), dtype=np.bool_)
        sources, labels = np.nonzero(after != NOWHERE)
        into[after[sources, labels], labels] = True
        into[0, size] = True
        out = np.concatenate([after != NOWHERE, self.allowed.ends[:, None]], axis=1)
        return (into.T.astype(np.float32) @ out.astype(np.float32)) > 0


class ModelStates:
    """Semantics of the language of a model."""

    def __init__(self, rules: ModelRules) -> None:
        self.rules = rules
        allowed = rules.allowed
        # A row for HARMFUL comes first; NOWHERE is −1, so that it becomes HARMFUL.
        self._next: Ints = np.pad(allowed.after + 1, ((1, 0), (0, 0)))
        self._allowed = np.column_stack([self._next > HARMFUL, np.append(False, allowed.ends)])

    @property
    def activities(self) -> tuple[str, ...]:
        """Names of activities; the id of an activity is its place here."""
        return self.rules.activities

    def start(self) -> int:
        """Return the state of the empty prefix."""
        return HARMFUL + 1

    def harmless(self, states: Ints) -> Bools:
        """Return which next steps are harmless: a column per activity, the last for the end."""
        return self._allowed[states]

    def step(self, states: Ints, activities: Ints) -> Ints:
        """Return the state after one more activity, for each pair; HARMFUL after a harmful one."""
        return self._next[states, activities]

    def violations(self, prefix: Sequence[int], finished: bool) -> int:
        """Return the number of deviations of a prefix beyond those that are allowed.

        It is the cost of the best alignment with a case of the model, or with the beginning of one
        if the prefix is not finished.
        """
        model = self.rules.model
        graph = np.array(model.graph().edges, dtype=np.int64).reshape(-1, 3)
        sources, labels, targets = graph.T
        costs = np.full(model.states, len(prefix) + model.states + 1, dtype=np.int64)
        costs[0] = 0
        for activity in (NOWHERE, *prefix):
            # The event is one too many, or a step of the model.
            moved, here = costs + (activity != NOWHERE), labels == activity
            np.minimum.at(moved, targets[here], costs[sources[here]])
            # Steps of the model are skipped at the cost of one deviation each.
            while True:
                costs = moved.copy()
                np.minimum.at(moved, targets, costs[sources] + 1)
                if np.array_equal(moved, costs):
                    break
        best = costs[model.ends].min() if finished else costs.min()
        return max(0, int(best) - self.rules.deviations)
