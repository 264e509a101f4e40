"""Token-based replay of a log on a model, each prefix once (Rozinat and van der Aalst, 2008).

The effect of an event depends on the marking and the activity alone. Therefore a log is replayed
along the tree of its prefixes, and pm4py, which decides which silent transitions fire, is called
once for each marking and activity. The figures are those of pm4py's replay of every case from its
start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...kernel.variants import VariantCounts
from ..extras import optional_module
from .nets import Marking, Model

Ints = NDArray[np.int64]

MAX_SILENT = 50
"""Number of silent transitions in a row that pm4py looks ahead."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Counters of a replay."""

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
    """The effect of one event, or of the end of a case, on a marking.

    Attributes:
        marking: Number of the marking that is reached.
        tokens: Tokens that the step moves.
        fired: Its transitions, silent ones first.
        remaining: Tokens that remain at the end of a case.
    """

    marking: int
    tokens: Tokens
    fired: tuple[object, ...]
    remaining: int = 0


@dataclass(frozen=True, slots=True)
class Visit:
    """The replay of one prefix of the log.

    Attributes:
        marking: Number of the marking after it.
        tokens: Tokens since the start of the case.
        cases: Number of cases that begin with the prefix.
        ended: Number of cases that end there.
        next_activities: Activities that follow it in the log.
    """

    marking: int
    tokens: Tokens
    cases: int
    ended: int
    next_activities: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Level:
    """All prefixes of one length, ordered so that the children of a prefix are adjacent.

    Attributes:
        parents: Place of the parent of each prefix in the level above.
        activities: Last activity of each prefix.
        counts: Number of cases that begin with each prefix.
    """

    parents: Ints
    activities: Ints
    counts: Ints

    def rows(self) -> Iterator[tuple[int, int, int]]:
        """Return parent, activity and count of each prefix."""
        return zip(
            self.parents.tolist(), self.activities.tolist(), self.counts.tolist(), strict=True
        )


def count_prefixes(variants: VariantCounts, max_length: int) -> list[Level]:
    """Count the cases that begin with each prefix; level 0 is the empty prefix."""
    lengths, counts = variants.lengths, variants.counts
    rows = np.arange(len(variants))
    node = np.zeros(len(variants), dtype=np.int64)
    levels = [
        Level(
            parents=np.array([-1]),
            activities=np.array([-1]),
            counts=np.array([counts.sum()]),
        )
    ]
    for length in range(1, max_length + 1):
        keep = lengths[rows] >= length
        rows, node = rows[keep], node[keep]
        if not len(rows):
            break
        # Variants are sorted, so those that share a prefix are adjacent.
        last = variants.activity_ids[variants.offsets[rows] + length - 1]
        new = np.ones(len(rows), dtype=np.bool_)
        new[1:] = (node[1:] != node[:-1]) | (last[1:] != last[:-1])
        starts = np.flatnonzero(new)
        levels.append(
            Level(
                parents=node[starts],
                activities=last[starts].astype(np.int64),
                counts=np.add.reduceat(counts[rows], starts),
            )
        )
        node = np.cumsum(new) - 1
    return levels


class Replay:
    """The replay of one log on one model."""

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
        self._numbers = {_key(model.initial): 0}
        self._steps: dict[tuple[int, str], Step] = {}
        self._ends: dict[int, Step] = {}
        self.fired: Counter[object] = Counter()
        """Number of times that each transition fired."""
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
                    for parent, activity, cases in level.rows()
                ]
            follows: list[set[str]] = [set() for _ in reached]
            goes_on = [0] * len(reached)
            for parent, activity, cases in below.rows() if below is not None else ():
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
        if transition is None:  # pm4py ignores activities that the model does not know
            return Step(number, Tokens(), ())
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
        tokens = Tokens(
            missing,
            sum(self._pm4py.get_consumed_tokens(t)[0] for t in fired),
            sum(self._pm4py.get_produced_tokens(t)[0] for t in fired),
        )
        after = self._semantics.execute(transition, net, marking)
        return Step(self._number(after), tokens, fired)

    def end(self, number: int) -> Step:
        """Return the effect of the end of a case, to which silent transitions lead if they can."""
        if number not in self._ends:
            self._ends[number] = self._end(number)
        return self._ends[number]

    def _end(self, number: int) -> Step:
        parameter = self._pm4py.Parameters
        empty = self._log_objects.EventLog([self._log_objects.Trace()])
        result = self._pm4py.apply(
            empty,
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

    def _number(self, marking: Marking) -> int:
        number = self._numbers.setdefault(_key(marking), len(self.markings))
        if number == len(self.markings):
            self.markings.append(marking)
        return number


def _key(marking: Marking) -> frozenset[tuple[object, int]]:
    return frozenset(marking.items())
