"""Token-based replay of a log on a model, each prefix once (Rozinat and van der Aalst, 2008).

What one event does depends on the marking and the activity alone. So a log is replayed along its
tree of prefixes, and pm4py, which decides which silent transitions fire, is asked once for each
marking and activity. The figures are those of pm4py's replay of every case from its start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

from ...kernel.variants import VariantCounts
from ..extras import optional_module
from .model import Model
from .prefix_tree import Level, count_prefixes

DEPTH = 50
"""How many silent transitions in a row pm4py looks ahead."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """What was counted along a replay."""

    missing: int = 0
    consumed: int = 0
    produced: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.missing + other.missing,
            self.consumed + other.consumed,
            self.produced + other.produced,
        )


@dataclass(frozen=True, slots=True)
class Step:
    """What one event, or the end of a case, does to a marking."""

    marking: int
    """The marking that is reached; markings are numbered."""
    tokens: Tokens
    fired: tuple[Any, ...]
    """The transitions, silent ones first."""
    remaining: int = 0
    """Tokens that are left over, at the end of a case."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One prefix of the log, replayed."""

    marking: int
    tokens: Tokens
    """Counted from the start of the case."""
    cases: int
    """How many cases begin with the prefix."""
    ended: int
    """How many of them end there."""
    next_activities: frozenset[str]
    """What follows it in the log."""


class Replay:
    """The replay of one log on one model."""

    def __init__(self, model: Model, log: VariantCounts) -> None:
        """Replay the whole log."""
        self._pm4py = optional_module("pm4py.algo.conformance.tokenreplay.variants.token_replay")
        self._semantics = optional_module("pm4py.objects.petri_net.semantics")
        self._log_objects = optional_module("pm4py.objects.log.obj")
        self.model = model
        self._silent_paths = self._pm4py.get_places_shortest_path_by_hidden(model.net, DEPTH)
        transitions = sorted(model.net.transitions, key=lambda t: str(t.name))
        self._by_label = {t.label: t for t in transitions if t.label is not None}
        self.markings: list[Any] = [model.initial]
        self._numbers = {_key(model.initial): 0}
        self._steps: dict[tuple[int, str], Step] = {}
        self._ends: dict[int, Step] = {}
        self.fired: Counter[Any] = Counter()
        """How often each transition fired."""
        self.visits: list[Visit] = list(self._walk(log))
        """Every prefix of the log, the empty one first."""

    def _walk(self, log: VariantCounts) -> Iterator[Visit]:
        names = log.activities
        levels = count_prefixes(log, int(log.lengths.max(initial=0)))
        start = Tokens(produced=sum(self.model.initial.values()))
        reached = [(0, start)]
        for level, below in zip(levels, [*levels[1:], None], strict=True):
            if level is not levels[0]:
                reached = [
                    self._advance(reached[parent], names[activity], cases)
                    for parent, activity, cases in _rows(level)
                ]
            follows: list[set[str]] = [set() for _ in reached]
            goes_on = [0] * len(reached)
            for parent, activity, cases in _rows(below) if below is not None else ():
                follows[parent].add(names[activity])
                goes_on[parent] += cases
            for place, cases in enumerate(level.counts.tolist()):
                marking, tokens = reached[place]
                ended = cases - goes_on[place]
                yield Visit(marking, tokens, cases, ended, frozenset(follows[place]))

    def _advance(self, before: tuple[int, Tokens], activity: str, cases: int) -> tuple[int, Tokens]:
        marking, tokens = before
        step = self._steps.get((marking, activity))
        if step is None:
            step = self._steps[marking, activity] = self._step(marking, activity)
        for transition in step.fired:
            self.fired[transition] += cases
        return step.marking, tokens + step.tokens

    def _step(self, number: int, activity: str) -> Step:
        transition = self._by_label.get(activity)
        if transition is None:  # the model does not know the activity: pm4py passes over it
            return Step(number, Tokens(), ())
        net, marking = self.model.net, copy(self.markings[number])
        silent: list[Any] = []
        missing = 0
        if not self._semantics.is_enabled(transition, net, marking):
            _, marking, silent, _ = self._pm4py.apply_hidden_trans(
                transition, net, marking, self._silent_paths, [], 0, set(), [], False
            )
            if not self._semantics.is_enabled(transition, net, marking):
                missing = self._pm4py.add_missing_tokens(transition, marking)[0]
        fired = (*silent, transition)
        tokens = Tokens(
            missing,
            sum(self._pm4py.get_consumed_tokens(t)[0] for t in fired),
            sum(self._pm4py.get_produced_tokens(t)[0] for t in fired),
        )
        after = self._semantics.execute(transition, net, marking)
        return Step(self._number(after), tokens, fired)

    def end(self, number: int) -> Step:
        """End a case: silent transitions bring the marking as near to the last one as they can."""
        if number not in self._ends:
            self._ends[number] = self._end(number)
        return self._ends[number]

    def _end(self, number: int) -> Step:
        parameter = self._pm4py.Parameters
        nothing = self._log_objects.EventLog([self._log_objects.Trace()])
        result = self._pm4py.apply(
            nothing,
            self.model.net,
            self.markings[number],
            self.model.final,
            parameters={
                parameter.SHOW_PROGRESS_BAR: False,
                parameter.PLACES_SHORTEST_PATH_BY_HIDDEN: self._silent_paths,
            },
        )[0]
        there = sum(self.markings[number].values())
        return Step(
            self._number(result["reached_marking"]),
            Tokens(
                result["missing_tokens"],
                result["consumed_tokens"],
                result["produced_tokens"] - there,
            ),
            tuple(result["activated_transitions"]),
            result["remaining_tokens"],
        )

    def _number(self, marking: Any) -> int:
        number = self._numbers.setdefault(_key(marking), len(self.markings))
        if number == len(self.markings):
            self.markings.append(marking)
        return number


def _key(marking: Any) -> frozenset[tuple[Any, int]]:
    return frozenset(marking.items())


def _rows(level: Level) -> Iterator[tuple[int, int, int]]:
    return zip(
        level.parents.tolist(), level.activities.tolist(), level.counts.tolist(), strict=True
    )
