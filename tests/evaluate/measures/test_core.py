"""The orderly core is one function of the released variants, the same for every mechanism."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sacofa import anonymize, write_release
from sacofa.base.batches import cases_of
from sacofa.evaluate import Evaluator
from sacofa.evaluate.evaluate import read_measured
from sacofa.evaluate.experiment import Performer
from sacofa.evaluate.measures.model import MAX_CORE_VARIANTS, model_quality, orderly_core
from sacofa.evaluate.runs import ORIGINAL, Run
from sacofa.events import open_log
from sacofa.examples import hospital
from sacofa.kernel.cases import Cases
from sacofa.kernel.unit import Unit
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms.registry import make_mechanism

LOG = hospital()
MECHANISMS = {
    "certified": {"epsilon": "1"},
    "certified, small ε": {"epsilon": "0.1"},
    "sacofa": {"epsilon": "1", "max_length": 12, "prune": 4},
    "laplace": {"epsilon": "1", "max_length": 12, "prune": 4},
}
TIES = 1e-3
"""pm4py breaks ties between silent transitions by the identity of objects: figures of one release
differ by some 1e-5 between two calls, those of a core and of the whole by far more."""
MODEL = ("f_score", "fitness", "precision", "generalization", "core_share", "core_f_score")


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_way_to_measure_a_release_gives_the_same_model_quality(
    name: str, tmp_path: Path
) -> None:
    """F is that of the whole release; the core stands apart, by the same filter for each mechanism.

    Experiments, the evaluator and a written file agree, and whatever the mechanism marked itself
    makes no difference.
    """
    run = Run(log="h", series=name, mechanism=make_mechanism(name.split(",")[0], MECHANISMS[name]))
    row = Performer({"h": LOG})(run)
    in_experiment = row.measures
    assert row.times == "no"
    release = anonymize(LOG, run.mechanism, seed=run.seed)
    whole = model_quality(LOG, release.variants)
    core = orderly_core(release.variants)
    expected = {
        "f_score": whole.f_score,
        "fitness": whole.fitness,
        "precision": whole.precision,
        "generalization": whole.generalization,
        "core_share": core.cases / release.variants.cases,
        "core_f_score": model_quality(LOG, core).f_score,
    }
    path = tmp_path / "released.xes"
    write_release(release, path)
    from_file = Evaluator(LOG).measure(read_measured(open_log(path)))
    for measured in (in_experiment, from_file, Evaluator(LOG).measure(release.variants)):
        assert {one: measured[one] for one in MODEL} == pytest.approx(expected, abs=TIES)


def test_released_times_do_not_change_the_model() -> None:
    """A release with times is measured like one without, on the same variants."""
    events = np.arange(LOG.events, dtype=np.int64) * 3_600_000_000
    log = Cases(variants=LOG, by_case=cases_of(LOG, events))
    run = Run(log="h", series="certified", mechanism=make_mechanism("certified", {"epsilon": "1"}))
    row = Performer({"h": log})(run)
    measures = row.measures
    release = anonymize(log, run.mechanism, seed=run.seed)
    assert release.times is not None and row.times == "yes"
    whole = model_quality(LOG, release.variants)
    assert measures["f_score"] == pytest.approx(whole.f_score, abs=TIES)
    assert measures["core_share"] == pytest.approx(
        orderly_core(release.variants).cases / release.variants.cases
    )


def test_the_original_has_a_core_of_its_own() -> None:
    """It stands beside that of a release: as the original's row and as the reference value."""
    core = orderly_core(LOG)
    wanted = (core.cases / LOG.cases, model_quality(LOG, core).f_score)
    row = Performer({"h": LOG})(Run(log="h", series=ORIGINAL)).measures
    limit = Evaluator(LOG).limit()
    for measures in (row, limit):
        assert (measures["core_share"], measures["core_f_score"]) == pytest.approx(wanted, abs=TIES)


def test_the_core_is_the_one_that_certified_marks_at_1_without_times() -> None:
    """There the marks in the release and the filter of the comparison agree."""
    mechanism = make_mechanism("certified", {"epsilon": "1"})
    release = anonymize(LOG, mechanism, seed=5)
    assert release.core_variants == orderly_core(release.variants)


def test_the_core_of_nothing_is_nothing() -> None:
    """An empty release has no core, and cases without events are no model."""
    empty = VariantCounts.of({}, ("a", "b"))
    assert orderly_core(empty).cases == 0
    hollow = VariantCounts.of({(): 10}, ("a", "b"))
    assert Evaluator(LOG).measure(hollow)["core_f_score"] == 0


def test_the_filter_is_the_same_for_persons() -> None:
    """How many cases a person may have is no property of the variants."""
    bound = replace(LOG, unit=Unit(person="patient", max_cases=5))
    assert orderly_core(bound).counts.tolist() == orderly_core(LOG).counts.tolist()


def test_releases_of_very_many_variants_have_a_core() -> None:
    """Only the most frequent variants are compared with each other."""
    rare = {(f"b{i // 100}", f"c{i % 100}"): 1 for i in range(MAX_CORE_VARIANTS + 500)}
    log = VariantCounts.of({**rare, ("a", "b0"): 900, ("c1",): 600})
    core = orderly_core(log)
    assert {900, 600} <= set(core.counts.tolist())
