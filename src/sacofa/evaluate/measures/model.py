"""The process model that is mined from a release, and its quality on the original log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernel.unit import ONE_CASE
from ...kernel.variants import VariantCounts
from ...mechanisms.certified import Certified
from ..extras import optional_module
from .flow import name_sequences

NOISE_THRESHOLD = 0.2
"""Noise threshold of the miner, as in the SaCoFa paper."""
CORE_FILTER = Certified(epsilon=1, time=False)
"""Marks the orderly core of any log: the filter of `certified` at ε = 1 without times. A release
of `certified` at a smaller ε marks its core more strictly (`case:sacofa:core`), but comparisons
need the same filter on both sides."""
MAX_CORE_VARIANTS = 2_000
"""Number of the most frequent variants that the filter considers. It compares each with each,
which takes 32 MB. In larger releases the other variants occur once or twice."""
MAX_SILENT = 50
"""Number of silent transitions in a row that pm4py looks ahead."""
MAX_VISITS = 20_000
"""About ten times the visits of a search that the paper's logs ever needed."""

Marking = Mapping[object, int]
"""The number of tokens on each place."""
Tokens = NDArray[np.int64]
"""Numbers of missing, consumed and produced tokens."""


@dataclass(frozen=True, kw_only=True)
class ModelQuality:
    """Quality of a model on a log; each figure is between 0 (bad) and 1.

    Attributes:
        fitness: Mean over the cases of how completely the model replays them.
        precision: How little the model allows beyond the log (Muñoz-Gama and Carmona, 2010).
        generalization: How well use supports the parts of the model (Buijs et al., 2014).
    """

    fitness: float = 0.0
    precision: float = 0.0
    generalization: float = 0.0

    @property
    def f_score(self) -> float:
        """Harmonic mean of fitness and precision."""
        total = self.fitness + self.precision
        return 2 * self.fitness * self.precision / total if total else 0.0


@dataclass(frozen=True, kw_only=True)
class Model:
    """A Petri net of pm4py with its initial and final marking."""

    net: Any
    initial: Marking
    final: Marking


def orderly_core(log: VariantCounts) -> VariantCounts:
    """Return the variants that represent the others and hardly contradict each other's order."""
    if not log.cases:
        return log
    frequent = np.zeros(len(log), dtype=np.bool_)
    frequent[np.argsort(-log.counts, kind="stable")[:MAX_CORE_VARIANTS]] = True
    considered = replace(log.where(frequent), unit=ONE_CASE)
    return considered.where(CORE_FILTER.mark_core(considered))


def discover_model(counts: VariantCounts) -> Model:
    """Mine a model from cases; there must be at least one."""
    inductive = "pm4py.algo.discovery.inductive"
    miner = optional_module(f"{inductive}.variants.imf").IMFUVCL
    structure = optional_module(f"{inductive}.dtypes.im_ds").IMDataStructureUVCL
    trees = optional_module("pm4py.objects.process_tree.utils.generic")
    converter = optional_module("pm4py.objects.conversion.process_tree.converter")

    settings: dict[str, object] = {"noise_threshold": NOISE_THRESHOLD}
    tree = trees.fold(miner(settings).apply(structure(name_sequences(counts)), settings))
    trees.tree_sort(tree)
    net, initial, final = converter.apply(tree)
    return Model(net=net, initial=initial, final=final)


def model_quality(original: VariantCounts, released: VariantCounts) -> ModelQuality:
    """Mine a model from the release and judge it by the original."""
    if not released.events:
        # Replay ignores activities that a model does not know: an empty model would fit everything.
        return ModelQuality()
    return judge_model(discover_model(released), original)


def judge_model(model: Model, log: VariantCounts) -> ModelQuality:
    """Replay a log on a model and return the quality of the model."""
    replay = Replay(model, log)
    fitness = 0.0
    fired: Counter[object] = Counter()
    for prefix in replay.prefixes:
        for transition in prefix.step.fired:
            fired[transition] += prefix.cases
        if prefix.ended:
            end = replay.end(prefix.step.marking)
            for transition in end.fired:
                fired[transition] += prefix.ended
            missing, consumed, produced = prefix.tokens + end.tokens
            share = 1.0
            if consumed and produced:
                share = 1 - (missing / consumed + end.remaining / produced) / 2
            fitness += prefix.ended * float(share)
    transitions = model.net.transitions
    rare = sum(1 / sqrt(fired[t]) if fired[t] else 1.0 for t in transitions)
    return ModelQuality(
        fitness=fitness / log.cases,
        precision=_precision(replay, AllowedNext(model)),
        generalization=1 - rare / len(transitions) if transitions else 1.0,
    )


def _precision(replay: Replay, allowed_by: AllowedNext) -> float:
    allowed_next = cache(lambda marking: allowed_by(replay.markings[marking]))
    allowed = unused = 0
    for prefix in replay.prefixes:
        # As in pm4py, ends of cases do not count, except for the empty prefix.
        weight = prefix.cases if prefix is replay.prefixes[0] else prefix.cases - prefix.ended
        if weight and not prefix.tokens[0]:
            options = allowed_next(prefix.step.marking)
            allowed += weight * len(options)
            unused += weight * len(options - prefix.following.keys())
    return 1 - unused / allowed if allowed else 1.0


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
    """The replay of one log on one model: all prefixes, and all markings that were reached."""

    def __init__(self, model: Model, log: VariantCounts) -> None:
        """Replay the whole log."""
        self._pm4py = optional_module("pm4py.algo.conformance.tokenreplay.variants.token_replay")
        self._semantics = optional_module("pm4py.objects.petri_net.semantics")
        self._model = model
        self._silent_paths = self._pm4py.get_places_shortest_path_by_hidden(model.net, MAX_SILENT)
        transitions = sorted(model.net.transitions, key=lambda t: str(t.name))
        self._by_label = {t.label: t for t in transitions if t.label is not None}
        self.markings: list[Marking] = [model.initial]
        self._numbers = {frozenset(model.initial.items()): 0}
        begin = Step(0, np.array([0, 0, sum(model.initial.values())]))
        self.prefixes = [Prefix(begin, begin.tokens)]  # the empty one first
        self.end, step_to = cache(self._end), cache(self._step)
        for variant, cases in log:
            prefix = self.prefixes[0]
            prefix.cases += cases
            for activity in variant:
                if activity not in prefix.following:
                    step = step_to(prefix.step.marking, activity)
                    prefix.following[activity] = Prefix(step, prefix.tokens + step.tokens)
                    self.prefixes.append(prefix.following[activity])
                prefix = prefix.following[activity]
                prefix.cases += cases
            prefix.ended += cases

    def _step(self, number: int, activity: str) -> Step:
        transition = self._by_label.get(activity)
        if transition is None:  # pm4py ignores activities that the model does not know
            return Step(number, np.zeros(3, dtype=np.int64))
        net, marking = self._model.net, copy(self.markings[number])
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

    def _end(self, number: int) -> Step:
        """The effect of the end of a case, which silent transitions reach if possible."""
        logs, option = optional_module("pm4py.objects.log.obj"), self._pm4py.Parameters
        marking = self.markings[number]
        (result,) = self._pm4py.apply(
            logs.EventLog([logs.Trace()]),
            self._model.net,
            marking,
            self._model.final,
            parameters={
                option.SHOW_PROGRESS_BAR: False,
                option.PLACES_SHORTEST_PATH_BY_HIDDEN: self._silent_paths,
            },
        )
        names = ("missing_tokens", "consumed_tokens", "produced_tokens")
        # The tokens of the marking were produced before.
        tokens = np.array([result[name] for name in names]) - [0, 0, sum(marking.values())]
        fired, after = tuple(result["activated_transitions"]), result["reached_marking"]
        return Step(self._number(after), tokens, fired, result["remaining_tokens"])

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
            enabled = search.get_visible_transitions_eventually_enabled_by_marking
            return frozenset(t.label for t in enabled(self._net, marking))
        start = self._mask(marking)
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
                following = self._enabled(after)
                queue += following
                last_found_at.update(dict.fromkeys(following, after))
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
