"""All measures of one release."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from sacofa.errors import MissingExtraError, SettingError
from sacofa.evaluation import Evaluator, Measures, evaluate_release
from sacofa.evaluation.extras import optional_module
from sacofa.variants import VariantCounts

ORIGINAL = VariantCounts.of({("a", "b", "c"): 60, ("a", "c", "b"): 30, ("a", "b"): 10})


def test_the_original_itself() -> None:
    """A release that is the original keeps everything and invents nothing."""
    measures = evaluate_release(ORIGINAL, ORIGINAL)
    assert measures.similarity == measures.mass_kept == 1
    assert measures.size_error == measures.invented == 0
    assert measures.fitness > 0.9


def test_an_empty_release_is_a_result() -> None:
    """Zeros, and a size that is off by everything."""
    measures = asdict(evaluate_release(ORIGINAL, VariantCounts.of({})))
    assert measures.pop("size_error") == 1
    assert set(measures.values()) == {0}


def test_logs_that_share_no_activity() -> None:
    """Nothing is kept, all is invented."""
    measures = evaluate_release(ORIGINAL, VariantCounts.of({("x", "y"): 100}))
    assert measures.similarity == pytest.approx(0)
    assert measures.mass_kept == measures.size_error == 0
    assert measures.invented == 1


def test_a_release_with_one_case() -> None:
    """One case is enough to measure."""
    measures = evaluate_release(ORIGINAL, VariantCounts.of({("a", "b", "c"): 1}))
    assert measures.mass_kept == 0.6
    assert measures.size_error == 0.99
    assert measures.precision == 1


def test_an_original_with_one_variant() -> None:
    """A log of one variant is kept or not."""
    log = VariantCounts.of({("a",): 1})
    assert evaluate_release(log, log) == Measures(
        f_score=1,
        fitness=1,
        precision=1,
        generalization=0,
        normal=1,
        similarity=1,
        mass_kept=1,
        size_error=0,
        invented=0,
    )


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
