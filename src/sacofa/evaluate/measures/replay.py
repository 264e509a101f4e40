"""Token-based replay of a log on a Petri net, and the activities that a marking allows next.

Replay (Rozinat and van der Aalst, 2008) follows the tree of prefixes of the log: the effect of an
event depends on the marking and the activity alone, so that pm4py, which decides which silent
transitions fire, is called once for each marking and activity. The figures are those of pm4py's
replay of every case from its start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernel.variants import VariantCounts
from ..extras import optional_module

MAX_SILENT = 50
"""Number of silent transitions in a row that pm4py looks ahead."""
MAX_VISITS = 20_000
"""About ten times the visits of a search that the paper's logs ever needed."""

Marking = Mapping[object, int]
"""The number of tokens on each place."""
Tokens = NDArray[np.int64]
"""Numbers of missing, consumed and produced tokens."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """A Petri net of pm4py with its initial and final marking."""

    net: Any
    initial: Marking
    final: Marking


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """The effect of one event, or of the end of a case, on a marking."""

    marking: int  # the number of the marking that is reached
    tokens: Tokens
    fired: tuple[object, ...] = ()  # silent transitions first
    remaining: int = 0  # tokens that remain at the end of a case


@dataclass(slots=True, eq=False)
class Prefix:
    """The replay of one prefix of the log."""

    step: Step  # its last step
    tokens: Tokens  # since the start of the case
    cases: int = 0  # that begin with the prefix
    ended: int = 0
    following: dict[str, Prefix] = field(default_factory=dict)


class Replay:
    """The replay of one log on one model.

    Attributes:
        prefixes: Every prefix of the log, the empty one first.
        markings: Every marking that was reached.
    """

    def __init__(self, model: Model, log: VariantCounts) -> None:
        """Replay the whole log."""
        self._pm4py = optional_module("pm4py.algo.conformance.tokenreplay.variants.token_replay")
        self._semantics = optional_module("pm4py.objects.petri_net.semantics")
        self._log_objects = optional_module("pm4py.objects.log.obj")
        self.model = model
        self._silent_paths = self._pm4py.get_places_shortest_path_by_hidden(model.net, MAX_SILENT)
        transitions = sorted(model.net.transitions, key=lambda t: str(t.name))
        self._by_label = {t.label: t for t in transitions if t.label is not None}
        self.markings: list[Marking] = [model.initial]
        self._numbers = {frozenset(model.initial.items()): 0}
        self._steps: dict[tuple[int, str], Step] = {}
        self._ends: dict[int, Step] = {}
        begin = Step(0, np.array([0, 0, sum(model.initial.values())]))
        self.prefixes = [Prefix(begin, begin.tokens)]
        for variant, cases in log:
            prefix = self.prefixes[0]
            prefix.cases += cases
            for activity in variant:
                prefix = prefix.following.get(activity) or self._extend(prefix, activity)
                prefix.cases += cases
            prefix.ended += cases

    def _extend(self, prefix: Prefix, activity: str) -> Prefix:
        key = prefix.step.marking, activity
        if key not in self._steps:
            self._steps[key] = self._step(*key)
        step = self._steps[key]
        prefix.following[activity] = longer = Prefix(step, prefix.tokens + step.tokens)
        self.prefixes.append(longer)
        return longer

    def _step(self, number: int, activity: str) -> Step:
        transition = self._by_label.get(activity)
        if transition is None:  # pm4py ignores activities that the model does not know
            return Step(number, np.zeros(3, dtype=np.int64))
        net, marking = self.model.net, copy(self.markings[number])
        silent: list[object] = []
        missing = 0
        if not self._semantics.is_enabled(transition, net, marking):
            _, marking, silent, _ = self._pm4py.apply_hidden_trans(
                transition, net, marking, self._silent_paths, [], 0, set(), [], False
            )
            if not self._semantics.is_enabled(transition, net, marking):
                missing = self._pm4py.add_missing_tokens(transition, marking)[0]
        fired = (*silent, transition)
        consumed = sum(self._pm4py.get_consumed_tokens(t)[0] for t in fired)
        produced = sum(self._pm4py.get_produced_tokens(t)[0] for t in fired)
        after = self._semantics.execute(transition, net, marking)
        return Step(self._number(after), np.array([missing, consumed, produced]), fired)

    def end(self, number: int) -> Step:
        """Return the effect of the end of a case, to which silent transitions lead if they can."""
        if number not in self._ends:
            option = self._pm4py.Parameters
            marking = self.markings[number]
            (result,) = self._pm4py.apply(
                self._log_objects.EventLog([self._log_objects.Trace()]),
                self.model.net,
                marking,
                self.model.final,
                parameters={
                    option.SHOW_PROGRESS_BAR: False,
                    option.PLACES_SHORTEST_PATH_BY_HIDDEN: self._silent_paths,
                },
            )
            names = ("missing_tokens", "consumed_tokens", "produced_tokens")
            # The tokens of the marking were produced before.
            tokens = np.array([result[name] for name in names]) - [0, 0, sum(marking.values())]
            self._ends[number] = Step(
                self._number(result["reached_marking"]),
                tokens,
                tuple(result["activated_transitions"]),
                result["remaining_tokens"],
            )
        return self._ends[number]

    def _number(self, marking: Marking) -> int:
        number = self._numbers.setdefault(frozenset(marking.items()), len(self.markings))
        if number == len(self.markings):
            self.markings.append(marking)
        return number


class AllowedNext:
    """The activities that a model allows next, after any silent transitions, for each marking.

    pm4py answers this for the marking of every prefix by a search over markings that can take
    minutes on models with many silent transitions. Here the same search runs on bit sets, and stops
    as soon as it has found everything that a cheap upper bound allows, which is nearly always at
    once.

    The search gives pm4py's figures, because others compare with those: transitions are visited in
    the order in which they were found, each at the marking where it was *last* found, so that now
    and then it misses an activity. After MAX_VISITS visits the upper bound is returned, so that
    every search ends.
    """

    def __init__(self, model: Model) -> None:
        """Number the places and transitions of the model."""
        self._net = model.net
        transitions = sorted(model.net.transitions, key=lambda t: str(t.name))
        self._bits = {place: 1 << i for i, place in enumerate(model.net.places)}
        self._labels: list[str | None] = [t.label for t in transitions]
        self._takes = [self._mask(arc.source for arc in t.in_arcs) for t in transitions]
        self._gives = [self._mask(arc.target for arc in t.out_arcs) for t in transitions]

    def __call__(self, marking: Marking) -> frozenset[str]:
        """Return the activities that a marking allows next."""
        if any(tokens != 1 for tokens in marking.values()):
            # Bit sets hold one token per place: models of the Inductive Miner never have more.
            search = optional_module("pm4py.objects.petri_net.utils.align_utils")
            found = search.get_visible_transitions_eventually_enabled_by_marking(self._net, marking)
            return frozenset(t.label for t in found)
        return self._search(self._mask(marking))

    def _search(self, start: int) -> frozenset[str]:
        bound = self._bound(start)
        found: set[str] = set()
        visited: set[tuple[int, int]] = set()
        queue = self._enabled(start)
        last_found_at = dict.fromkeys(queue, start)
        for t in queue:  # grows while it is walked
            if len(visited) == MAX_VISITS:
                return bound
            visit = t, last_found_at[t]
            if visit in visited:
                continue
            visited.add(visit)
            label = self._labels[t]
            if label is None:
                after = last_found_at[t] & ~self._takes[t] | self._gives[t]
                enabled = self._enabled(after)
                queue += enabled
                last_found_at.update(dict.fromkeys(enabled, after))
            else:
                found.add(label)
                if len(found) == len(bound):
                    break
        return frozenset(found)

    def _bound(self, marking: int) -> frozenset[str]:
        """Return an upper bound: the activities if silent transitions took no tokens."""
        before = 0
        while marking != before:
            before = marking
            for t in self._enabled(marking):
                if self._labels[t] is None:
                    marking |= self._gives[t]
        labels = (self._labels[t] for t in self._enabled(marking))
        return frozenset(label for label in labels if label is not None)

    def _enabled(self, marking: int) -> list[int]:
        return [t for t, takes in enumerate(self._takes) if takes & marking == takes]

    def _mask(self, places: Iterable[object]) -> int:
        return sum(self._bits[place] for place in places)
