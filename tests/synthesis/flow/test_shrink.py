"""What cells likely hold: nearer to the truth than their answers, and as sure as it says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sacofa.synthesis.flow.answers import shrink
from sacofa.synthesis.flow.tuning import TUNING
from sacofa.synthesis.thresholds import GAUSSIAN, LAPLACE, VARIANCE, NoiseShape

Floats = NDArray[np.float64]
Shrink = Callable[[Floats], tuple[Floats, Floats]]
ANSWERS = st.lists(st.floats(-50, 50), min_size=1, max_size=60)


def cells(seed: int, full: int, mean: float, size: int = 600) -> tuple[Floats, Floats]:
    """What cells hold, and their noisy answers; so many of them are full."""
    draw = np.random.default_rng(seed)
    truth = np.zeros(size)
    truth[:full] = draw.exponential(mean, full)
    return truth, truth + draw.laplace(size=size)


def as_they_are(answers: Floats) -> tuple[Floats, Floats]:
    """Not to shrink at all."""
    return answers, np.full(len(answers), VARIANCE)


def too_sure(answers: Floats) -> tuple[Floats, Floats]:
    """A tenth of the variance."""
    means, variances = shrink(answers)
    return means, variances / 10


def far_off(found: Shrink, full: int) -> float:
    """Squares of errors beside those of noise, over ten tables."""
    errors = [
        ((found(answers)[0] - truth) ** 2).mean()
        for truth, answers in (cells(seed, full, 6.0) for seed in range(10))
    ]
    return float(np.mean(errors)) / VARIANCE


def surprise(found: Shrink) -> float:
    """Squares of errors beside the variances that were given, over ten tables."""
    squares, given_ = 0.0, 0.0
    for seed in range(10):
        truth, answers = cells(seed, 60, 6.0)
        means, variances = found(answers)
        squares += float(((means - truth) ** 2).sum())
        given_ += float(variances.sum())
    return squares / given_


def test_few_full_cells_are_found_among_many_empty_ones() -> None:
    """Errors are a fifth of the noise where most cells are empty, and no more where none are.

    Answers as they are have all of it.
    """
    assert far_off(shrink, 30) < 0.2 < 0.9 < far_off(as_they_are, 30)
    assert far_off(shrink, 600) < 1.0


def test_it_is_as_sure_as_it_says() -> None:
    """Errors are about as large as the variances say; variances that are too small are noticed."""
    assert 0.7 < surprise(shrink) < 1.4
    assert surprise(too_sure) > 5


def test_the_same_answer_is_noise_here_and_real_there() -> None:
    """Four noise scales are little among many empty cells, and much among full ones."""
    place = 4.0
    _, empty = cells(1, 0, 1.0)
    _, full = cells(1, 600, 6.0)
    among_empty, among_full = (
        float(shrink(np.append(others, place))[0][-1]) for others in (empty, full)
    )
    assert among_empty < 1.5 and 2.5 < among_full < 5


@given(ANSWERS)
@settings(max_examples=100, deadline=None)
def test_more_is_never_expected_to_be_less(answers: list[float]) -> None:
    """A higher answer is not expected to hold less; nothing is below 0; what is clear is kept."""
    means, variances = shrink(np.array(answers))
    order = np.argsort(answers, kind="stable")
    assert (np.diff(means[order]) >= -1 / TUNING.parts_per_scale).all()
    assert (means >= 0).all() and (variances >= -1e-9).all()
    clear = np.array(answers) >= TUNING.clear_cell
    assert (means[clear] == np.array(answers)[clear]).all()
    assert (variances[clear] == VARIANCE).all()


@given(ANSWERS)
@settings(max_examples=50, deadline=None)
def test_places_do_not_matter(answers: list[float]) -> None:
    """Each cell is judged by its answer and by all answers, not by where it is."""
    there = np.array(answers)
    turned = there[::-1].copy()
    assert shrink(turned)[0][::-1] == pytest.approx(shrink(there)[0])


def test_each_noise_is_read_best_by_its_own_shape() -> None:
    """Full cells among empty ones: the other shape is further from the truth."""
    draw = np.random.default_rng(7)
    truth = np.where(draw.random(4_000) < 0.1, 5.0, 0.0)
    noises = {
        LAPLACE: draw.laplace(0, 1, len(truth)),
        GAUSSIAN: draw.normal(0, VARIANCE**0.5, len(truth)),
    }
    for own, noise in noises.items():
        off = {
            shape: float(((shrink(truth + noise, shape)[0] - truth) ** 2).mean())
            for shape in noises
        }
        assert off[own] == min(off.values()) < VARIANCE / 2


@pytest.mark.parametrize("shape", [LAPLACE, GAUSSIAN])
def test_a_shape_says_what_its_noise_does(shape: NoiseShape) -> None:
    draw = np.random.default_rng(8)
    laplace = draw.laplace(0, 1, 200_000)
    noise = draw.normal(0, VARIANCE**0.5, 200_000) if shape.euclidean else laplace
    assert np.abs(noise).mean() == pytest.approx(shape.mean, rel=0.02)
    assert np.abs(noise).std() == pytest.approx(shape.deviation, rel=0.02)
    assert (np.abs(noise) <= shape.sure * VARIANCE**0.5).mean() == pytest.approx(0.95, abs=0.003)
    # Between nothing and the amount, the ratio is that of the densities.
    answers, amount = np.linspace(0, 4, 9), np.full(9, 4.0)
    exact = shape.log_density(answers - amount) - shape.log_density(answers)
    assert shape.log_ratio(answers, amount) == pytest.approx(exact)
