"""Model quality: how well the model of a release describes the original log."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import sqrt

from ...kernel.variants import VariantCounts
from .enabled import AllowedNext
from .model import Model, discover_model
from .replay import Replay


@dataclass(frozen=True, kw_only=True)
class ModelQuality:
    """What a model is worth on a log; all from 0 (bad) to 1."""

    fitness: float = 0.0
    """Average over the cases of how well the model can replay them."""
    precision: float = 0.0
    """How little the model allows beyond the log (Muñoz-Gama and Carmona, 2010)."""
    generalization: float = 0.0
    """How well the parts of the model are supported by use (Buijs et al., 2014)."""

    @property
    def f_score(self) -> float:
        """The harmonic mean of fitness and precision."""
        total = self.fitness + self.precision
        return 2 * self.fitness * self.precision / total if total else 0.0


def model_quality(original: VariantCounts, released: VariantCounts) -> ModelQuality:
    """Mine a model from the release and judge it by the original.

    A release without a single event gets zeros: replay passes over activities that a model does
    not know, so that a model of nothing would fit everything.
    """
    if not released.events:
        return ModelQuality()
    return judge_model(discover_model(released), original)


def judge_model(model: Model, log: VariantCounts) -> ModelQuality:
    """Replay a log on a model and sum up."""
    replay = Replay(model, log)
    return ModelQuality(
        fitness=_fitness(replay),
        precision=_precision(replay),
        generalization=_generalization(replay),
    )


def _fitness(replay: Replay) -> float:
    total, cases = 0.0, 0
    for visit in replay.visits:
        if not visit.ended:
            continue
        end = replay.end(visit.marking)
        tokens = visit.tokens + end.tokens
        fitness = 1.0
        if tokens.consumed and tokens.produced:
            fitness = 1 - (tokens.missing / tokens.consumed + end.remaining / tokens.produced) / 2
        total += visit.ended * fitness
        cases += visit.ended
    return total / cases


def _precision(replay: Replay) -> float:
    allowed_by = AllowedNext(replay.model)

    @cache
    def allowed_next(marking: int) -> frozenset[str]:
        return allowed_by(replay.markings[marking])

    allowed = unused = 0
    for visit in replay.visits:
        # Ends of cases do not count, but for the empty prefix; as in pm4py.
        weight = visit.cases if visit is replay.visits[0] else visit.cases - visit.ended
        if weight and not visit.tokens.missing:
            options = allowed_next(visit.marking)
            allowed += weight * len(options)
            unused += weight * len(options - visit.next_activities)
    return 1 - unused / allowed if allowed else 1.0


def _generalization(replay: Replay) -> float:
    fired = replay.fired.copy()
    for visit in replay.visits:
        if visit.ended:
            for transition in replay.end(visit.marking).fired:
                fired[transition] += visit.ended
    transitions = replay.model.net.transitions
    rare = sum(1 / sqrt(fired[t]) if fired[t] else 1.0 for t in transitions)
    return 1 - rare / len(transitions) if transitions else 1.0
