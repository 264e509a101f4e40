"""The process model that a miner finds in a release, and its quality on the original log.

The model is a Petri net of pm4py's Inductive Miner infrequent (Leemans et al., 2013), which reads
each sequence once, with its count.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from math import sqrt
from typing import Any

import numpy as np

from ...kernel.unit import ONE_CASE
from ...kernel.variants import VariantCounts
from ...mechanisms.certified import Certified
from ..extras import optional_module
from .flow import name_sequences
from .replay import AllowedNext, Model, Replay

NOISE_THRESHOLD = 0.2
"""Noise threshold of the miner, as in the SaCoFa paper."""
CORE_FILTER = Certified(epsilon=1, time=False)
"""Marks the orderly core of any log: the filter of `certified` at ε = 1 without times. A release
of `certified` at a smaller ε marks its core more strictly (`case:sacofa:core`), but comparisons
need the same filter on both sides."""
MAX_CORE_VARIANTS = 2_000
"""Number of the most frequent variants that the filter considers. It compares each with each,
which takes 32 MB. In larger releases the other variants occur once or twice."""


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

    settings: dict[str, Any] = {"noise_threshold": NOISE_THRESHOLD}
    tree = trees.fold(miner(settings).apply(structure(name_sequences(counts)), settings))
    trees.tree_sort(tree)
    net, initial, final = converter.apply(tree)
    return Model(net=net, initial=initial, final=final)


def model_quality(original: VariantCounts, released: VariantCounts) -> ModelQuality:
    """Mine a model from the release and judge it by the original.

    Args:
        original: The original log.
        released: The release.

    Returns:
        Zeros for a release without events: replay ignores activities that a model does not know,
        so that an empty model would fit everything.
    """
    if not released.events:
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
        precision=_precision(replay),
        generalization=1 - rare / len(transitions) if transitions else 1.0,
    )


def _precision(replay: Replay) -> float:
    allowed_by = AllowedNext(replay.model)
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
