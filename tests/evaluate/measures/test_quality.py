"""Model quality from variants equals pm4py's own from every case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sacofa.evaluate.extras import optional_module
from sacofa.evaluate.measures import model as models
from sacofa.evaluate.measures.model import (
    AllowedNext,
    Model,
    ModelQuality,
    Replay,
    discover_model,
    judge_model,
    model_quality,
)
from sacofa.kernel.variants import VariantCounts

Log = Callable[[str], VariantCounts]
RandomLog = Callable[..., VariantCounts]


def every_case(counts: VariantCounts) -> Any:
    """The log as pm4py wants it: every case, every event."""
    objects = optional_module("pm4py.objects.log.obj")
    return objects.EventLog(
        objects.Trace(objects.Event({"concept:name": counts.activities[i]}) for i in ids)
        for ids, number in zip(counts.sequences(), counts.counts.tolist(), strict=True)
        for _ in range(number)
    )


def pm4py_quality(model: Model, counts: VariantCounts) -> ModelQuality:
    """What plain pm4py says."""
    algorithms = "pm4py.algo.evaluation"
    fitness = optional_module(f"{algorithms}.replay_fitness.variants.token_replay")
    precision = optional_module(f"{algorithms}.precision.variants.etconformance_token")
    generalization = optional_module(f"{algorithms}.generalization.variants.token_based")
    where = (every_case(counts), model.net, model.initial, model.final)
    quiet = {"show_progress_bar": False}
    return ModelQuality(
        fitness=fitness.apply(*where, parameters=quiet)["average_trace_fitness"],
        precision=precision.apply(*where, parameters=quiet),
        generalization=generalization.apply(*where, parameters=quiet),
    )


def assert_same(ours: ModelQuality, theirs: ModelQuality) -> None:
    """All three figures agree to rounding."""
    assert ours.fitness == pytest.approx(theirs.fitness, abs=1e-9)
    assert ours.precision == pytest.approx(theirs.precision, abs=1e-9)
    assert ours.generalization == pytest.approx(theirs.generalization, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("receipt", (0.917, 0.266, 0.413, 0.641)),
        ("sepsis", (0.980, 0.452, 0.619, 0.880)),
        ("traffic_fines", (1.000, 0.615, 0.762, 0.948)),
    ],
)
def test_the_paper_s_logs(original: Log, name: str, expected: tuple[float, ...]) -> None:
    """The model of each original log, on that log: fitness, precision, F, generalization."""
    log = original(name)
    quality = model_quality(log, log)
    figures = (quality.fitness, quality.precision, quality.f_score, quality.generalization)
    assert tuple(round(figure, 3) for figure in figures) == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", ["receipt", "sepsis"])
def test_equals_pm4py_on_real_logs(original: Log, name: str) -> None:
    """Each prefix once, or each case from its start: the same figures, and the same model."""
    log = original(name)
    whole = optional_module("pm4py.algo.discovery.inductive.algorithm")
    converter = optional_module("pm4py.objects.conversion.process_tree.converter")
    tree = whole.apply(
        every_case(log), variant=whole.Variants.IMf, parameters={"noise_threshold": 0.2}
    )
    net, initial, final = converter.apply(tree)
    # Some of the variants are enough to compare with, and plain pm4py needs a minute for all.
    some = VariantCounts.from_arrays(
        log.activities,
        log.activity_ids,
        log.lengths,
        np.where(np.arange(len(log)) % 8 == 0, np.minimum(log.counts, 50), 0),
    )
    theirs = pm4py_quality(Model(net=net, initial=initial, final=final), some)
    assert_same(judge_model(discover_model(log), some), theirs)


@pytest.mark.parametrize("seed", range(12))
def test_equals_pm4py_on_other_logs(random_log: RandomLog, seed: int) -> None:
    """A model of one log, judged by another that it does not fit and that has a new activity."""
    model = discover_model(random_log(seed, noise=0.1 * (seed % 5)))
    log = random_log(seed + 1000, activities=7, noise=0.4)
    assert_same(judge_model(model, log), pm4py_quality(model, log))


@pytest.mark.parametrize("seed", range(12))
def test_allowed_next_equals_pm4py(random_log: RandomLog, seed: int) -> None:
    """The search on bit sets finds what pm4py's finds, at every marking a log leads to."""
    utilities = optional_module("pm4py.objects.petri_net.utils.align_utils")
    search = utilities.get_visible_transitions_eventually_enabled_by_marking
    model = discover_model(random_log(seed, activities=7, variants=25, noise=0.5))
    allowed = AllowedNext(model)
    replay = Replay(model, random_log(seed, activities=7, noise=0.5))
    for marking in replay.markings:
        assert allowed(marking) == {t.label for t in search(model.net, marking)}


@pytest.mark.parametrize("seed", range(4))
def test_a_search_without_end_is_given_up(
    random_log: RandomLog, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is then allowed is never less than what the search would have found."""
    model = discover_model(random_log(seed, activities=7, variants=25, noise=0.5))
    allowed = AllowedNext(model)
    found = allowed(model.initial)
    monkeypatch.setattr(models, "MAX_VISITS", 1)
    assert allowed(model.initial) >= found


def test_no_event_released_is_zero(original: Log) -> None:
    """Neither an empty release nor one of empty cases has a model worth anything."""
    for released in ({}, {(): 5}):
        quality = model_quality(original("receipt"), VariantCounts.of(released))
        assert quality == ModelQuality(fitness=0, precision=0, generalization=0)
        assert quality.f_score == 0


def test_one_variant_is_described_perfectly() -> None:
    """A log of one variant is fitted exactly by its own model, whatever the count."""
    log = VariantCounts.of({("a", "b", "c"): 400})
    quality = model_quality(log, VariantCounts.of({("a", "b", "c"): 1}))
    assert (quality.fitness, quality.precision, quality.f_score) == (1, 1, 1)
    assert quality.generalization == pytest.approx(1 - 1 / 20)


def test_one_frequent_variant_wins_the_f_score(original: Log) -> None:
    """Why F never stands alone: the most frequent variant of Receipt beats the log itself."""
    log = original("receipt")
    place = int(log.counts.argmax())
    ids = list(log.sequences())[place]
    release = VariantCounts.of({tuple(log.activities[i] for i in ids): int(log.counts[place])})
    assert model_quality(log, release).f_score > 0.9 > 2 * model_quality(log, log).f_score
