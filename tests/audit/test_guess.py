"""Learning to guess: what is learnt is what is used, and it finds what is there."""

from __future__ import annotations

import numpy as np
import pytest

from sacofa.audit.guess import Guesser, Sample, learn_guesser

RUNS = 20_000


def sample_of(seed: int, shifts: dict[str, float], there: dict[str, float] | None = None) -> Sample:
    """Values with Laplace noise of scale 1, shifted on the larger log; some not always there."""
    rng = np.random.default_rng(seed)
    sides = rng.random(RUNS) < 0.5
    columns = {}
    for name, shift in shifts.items():
        chance = np.where(sides, (there or {}).get(name, 1.0), 1.0)
        runs = np.flatnonzero(rng.random(RUNS) < chance)
        values = np.rint(100 * (rng.laplace(size=RUNS) + shift * sides)).astype(np.int64)
        columns[(name,)] = (runs, values[runs])
    return Sample(sides=sides, columns=columns)


def odds(guesser: Guesser, sample: Sample) -> float:
    """The logarithm of right by wrong guesses."""
    right, guesses = guesser.count(sample)
    return float(np.log((right + 0.5) / (guesses - right + 0.5)))


def test_one_shifted_value_is_found_among_others() -> None:
    """Noise of scale 1 and a shift of 1 is an ε of 1: guesses come near to it, on new runs."""
    guesser = learn_guesser(sample_of(1, {"x": 1.0, "y": 0.0, "z": 0.0}))
    assert list(guesser.weights) == [("x",)]
    assert odds(guesser, sample_of(2, {"x": 1.0, "y": 0.0, "z": 0.0})) > 0.9


def test_several_values_add_up() -> None:
    """Two independent values that each tell an ε of 1/2 are worth nearly 1 together."""
    shifts = {"x": 0.5, "y": 0.5}
    guesser = learn_guesser(sample_of(3, shifts))
    assert set(guesser.weights) == {("x",), ("y",)}
    assert odds(guesser, sample_of(4, shifts)) > 0.8


def test_a_value_that_is_missing_tells_too() -> None:
    """A value that is there more often on one log gives it away, whatever it is."""
    there = {"x": 0.5}
    guesser = learn_guesser(sample_of(5, {"x": 0.0}, there))
    right, guesses = guesser.count(sample_of(6, {"x": 0.0}, there))
    assert right == guesses > 4_000


def test_nothing_is_learnt_where_nothing_differs() -> None:
    """Twenty values that say nothing are all left out."""
    guesser = learn_guesser(sample_of(7, {str(i): 0.0 for i in range(20)}))
    assert not guesser.weights


def test_samples_are_joined_run_by_run() -> None:
    """Runs of later samples come after those of earlier ones."""
    one, other = sample_of(8, {"x": 1.0}), sample_of(9, {"x": 1.0, "y": 0.0})
    joined = Sample.join([one, other])
    assert len(joined.sides) == 2 * RUNS
    assert joined.columns[("x",)][0].tolist() == list(range(2 * RUNS))
    assert joined.columns[("y",)][0].tolist() == list(range(RUNS, 2 * RUNS))


@pytest.mark.parametrize("value", [-(10**9), 10**9])
def test_values_never_seen_are_weighed_as_the_nearest(value: int) -> None:
    """A value beyond all that were learnt from falls into the outermost bin."""
    guesser = learn_guesser(sample_of(10, {"x": 1.0}))
    column = {("x",): (np.array([0]), np.array([value]))}
    for larger in (True, False):
        guessed = guesser.count(Sample(sides=np.array([larger]), columns=column))
        assert guessed == (larger == (value > 0), 1)
