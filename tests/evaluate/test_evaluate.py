"""All measures of one release."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sacofa.errors import MissingExtraError, SettingError
from sacofa.evaluate import Evaluator, evaluate_release
from sacofa.evaluate.extras import optional_module
from sacofa.evaluate.registry import BY_NAME
from sacofa.kernel.cases import CaseBatch, Cases
from sacofa.kernel.variants import VariantCounts
from tests.report.releases import without_packages
from tests.synthesis.times.releases import office

ORIGINAL = VariantCounts.of({("a", "b", "c"): 60, ("a", "c", "b"): 30, ("a", "b"): 10})


def test_the_original_itself() -> None:
    """A release that is the original keeps everything and invents nothing."""
    measures = evaluate_release(ORIGINAL, ORIGINAL)
    less = {name for name, one in BY_NAME.items() if one.better == "less" and not one.timed}
    assert less == {name for name in measures if measures[name] == 0}
    assert measures["similarity"] == measures["mass_kept"] == measures["top_steps"] == 1
    assert measures["fitness"] > 0.9


def test_an_empty_release_is_a_result() -> None:
    """It keeps nothing, and everything is off; only inventing takes a case."""
    measures = evaluate_release(ORIGINAL, VariantCounts.of({}))
    for name, value in measures.items():
        if name not in ("invented", "activity", "repeated", "eventually"):
            assert value == (BY_NAME[name].better == "less"), name
    assert measures["invented"] == 0
    # 100, 100 and 90 of 100 cases have a, b and c.
    assert measures["activity"] == pytest.approx((1 + 1 + 0.9) / 3)


def test_logs_that_share_no_activity() -> None:
    """Nothing is kept, all is invented."""
    measures = evaluate_release(ORIGINAL, VariantCounts.of({("x", "y"): 100}))
    assert measures["similarity"] == pytest.approx(0)
    assert measures["mass_kept"] == measures["size_error"] == 0
    assert measures["invented"] == 1
    assert measures["steps"] == pytest.approx(1)


def test_a_release_with_one_case() -> None:
    """One case is enough to measure."""
    measures = evaluate_release(ORIGINAL, VariantCounts.of({("a", "b", "c"): 1}))
    assert measures["mass_kept"] == 0.6
    assert measures["size_error"] == 0.99
    assert measures["precision"] == 1


def test_an_original_with_one_variant() -> None:
    """A log of one variant is kept or not."""
    log = VariantCounts.of({("a",): 1})
    flow = {name: one for name, one in BY_NAME.items() if not one.timed}
    expected = {name: float(one.better == "more") for name, one in flow.items()}
    assert dict(evaluate_release(log, log)) == {**expected, "generalization": 0}


def test_the_limit_is_what_a_second_sample_shows() -> None:
    """Closer for a larger log; a model is held against that of the log itself."""
    small = Evaluator(ORIGINAL).limit()
    large = Evaluator(replace(ORIGINAL, counts=100 * ORIGINAL.counts)).limit()
    assert 0 < large["steps"] < small["steps"] < 0.2
    assert large["similarity"] > small["similarity"]
    assert small["fitness"] == evaluate_release(ORIGINAL, ORIGINAL)["fitness"]
    assert "size_error" not in small
    alone = Evaluator(VariantCounts.of({("a",): 1})).limit()
    assert alone["similarity"] == 1


def cases(log: CaseBatch) -> Cases:
    """A log with its times."""
    return Cases(variants=log.variants(), by_case=log)


def test_times_are_measured_where_both_have_them() -> None:
    """A log is no distance from itself; where one has no times, nothing is said of them."""
    log = cases(office(60))
    same = evaluate_release(log, log)
    # What is measured case by case, but for attributes, of which this log has none.
    valued = {"values", "values_by_activity", "value_pairs", "decisions"}
    assert not valued & set(same)
    timed = {name for name, measure in BY_NAME.items() if measure.timed} - valued
    # A model of the log itself does not foretell all of it.
    assert same["remaining"] > 0
    exact = timed - {"remaining"}
    assert {name: same[name] for name in exact} == {
        name: BY_NAME[name].better == "more" for name in exact
    }
    for one, other in ((log, log.variants), (log.variants, log)):
        assert not timed & set(evaluate_release(one, other))
    other = evaluate_release(log, cases(office(60, seed=2)))
    assert other["cycle_time"] > 0 and other["arrivals"] > 0


def test_a_release_without_a_time_is_a_result() -> None:
    """What would be infinite is left out; the rest is as bad as can be."""
    nothing = office(60).where(np.zeros(60, dtype=bool))
    measures = evaluate_release(cases(office(60)), cases(nothing))
    assert "cycle_time" not in measures and "mean_cycle" not in measures
    assert (measures["bottlenecks"], measures["arrivals"]) == (0, 1)


def test_the_limit_of_times_shrinks_with_the_log() -> None:
    """Two halves of a large log are nearer to each other than those of a small one."""
    small, large = (Evaluator(cases(office(n))).limit() for n in (20, 2_000))
    # Medians of waits jump: those of this log are whole hours.
    for name in ("cycle_time", "arrivals", "cycle_hours"):
        assert 0 < large[name] < small[name], name


def test_what_needs_no_library_is_measured_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The analysts' questions need numpy alone; the rest is named."""
    without_packages(monkeypatch, "pm4py", "sklearn", "ot")
    measures = evaluate_release(ORIGINAL, ORIGINAL)
    assert {"steps", "trigrams", "activity", "repeated", "eventually", "length"} <= set(measures)
    assert "f_score" not in measures and "similarity" not in measures
    assert measures.missing is not None and "pip install" in measures.missing


def test_an_original_without_cases_is_refused() -> None:
    """There is nothing to compare with."""
    with pytest.raises(SettingError, match="at least one case"):
        evaluate_release(VariantCounts.of({}), ORIGINAL)


def test_an_evaluator_measures_many_releases() -> None:
    """What was measured before does not matter."""
    evaluator = Evaluator(ORIGINAL)
    other = VariantCounts.of({("c", "b"): 4})
    first = evaluator.measure(other)
    evaluator.measure(ORIGINAL)
    assert evaluator.measure(other) == first == evaluate_release(ORIGINAL, other)


def test_a_missing_extra_is_named() -> None:
    """One line says how to install what is missing."""
    with pytest.raises(MissingExtraError, match=r"pip install 'sacofa\[evaluate\]'"):
        optional_module("no_such_library_at_all")
