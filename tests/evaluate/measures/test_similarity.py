"""Similarity is 1 − the exact earth mover's distance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import linprog

from sacofa.evaluate.measures.flow import name_sequences, similarity
from sacofa.kernel.variants import VariantCounts


def counts(**variants: int) -> VariantCounts:
    """Variants of one-letter activities; `_` is the case without activities."""
    return VariantCounts.of({tuple(name.strip("_")): n for name, n in variants.items()})


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (counts(ab=1), counts(ab=7), 1),
        (counts(ab=1), counts(cd=1), 0),
        (counts(ab=1), counts(ac=1), 1 / 2),
        (counts(abcd=3), counts(abc=1), 3 / 4),
        (counts(abcd=1), counts(_=1), 0),
        (counts(_=2), counts(_=1), 1),
        (counts(ab=1, cd=1), counts(ab=1), 1 / 2),
        (counts(ab=3, cd=1), counts(ab=1, cd=3), 1 / 2),
    ],
)
def test_small_distributions_by_hand(
    left: VariantCounts, right: VariantCounts, expected: float
) -> None:
    """Distances that one can work out on paper; both directions."""
    assert similarity(left, right) == pytest.approx(expected)
    assert similarity(right, left) == pytest.approx(expected)


def test_mass_in_common_moves_where_that_is_cheaper() -> None:
    """ab → ba costs 1, but ab → aba → ba costs 2/3: the distance is no metric."""
    left, right = counts(ab=1, aba=1), counts(aba=1, ba=1)
    assert similarity(left, right) == pytest.approx(1 - (1 / 3 + 1 / 3) / 2)


def test_activities_are_matched_by_name() -> None:
    """The order in which two files name their activities does not matter."""
    left = VariantCounts.of({("x", "y"): 1}, activities=["x", "y"])
    right = VariantCounts.of({("x", "y"): 1}, activities=["unused", "y", "x"])
    assert similarity(left, right) == 1


def test_cut_cases_are_the_sequences_they_are() -> None:
    """A case that was cut after ab compares as ab."""
    cut = VariantCounts.of({("a", "b"): 1}, truncated={("a", "b"): 3})
    assert similarity(counts(ab=1), cut) == 1


def test_empty_release_is_zero() -> None:
    """Nothing released is not an error and not similar."""
    assert similarity(counts(ab=1), VariantCounts.of({})) == 0


@pytest.mark.parametrize("seed", range(10))
def test_equals_a_linear_program(seed: int, random_log: Callable[..., VariantCounts]) -> None:
    """An independent solver with an independent edit distance finds the same optimum."""
    left, right = random_log(seed), random_log(seed + 100, noise=0.5)
    assert similarity(left, right) == pytest.approx(1 - _transport(left, right), abs=1e-7)


def test_more_activities_than_two_bytes() -> None:
    """Each of 70,000 activities keeps its own character."""
    names = [str(i) for i in range(70_000)]
    left = VariantCounts.of({(names[0xD7FF], names[0xD800]): 1}, activities=names)
    right = VariantCounts.of({(names[0xD7FF], names[0xDFFF]): 1}, activities=names)
    assert similarity(left, right) == 1 / 2


def test_halves_of_a_log(original: Callable[[str], VariantCounts]) -> None:
    """Two random halves are about as similar as two samples of one population can be."""
    expected = {"receipt": (0.93, 0.96), "sepsis": (0.78, 0.82)}
    for name, (low, high) in expected.items():
        log = original(name)
        rows = np.random.default_rng(0).permutation(np.repeat(np.arange(len(log)), log.counts))
        halves = [
            VariantCounts.from_arrays(
                log.activities,
                log.activity_ids,
                log.lengths,
                np.bincount(part, minlength=len(log)),
            )
            for part in (rows[: len(rows) // 2], rows[len(rows) // 2 :])
        ]
        assert low < similarity(*halves) < high


def _transport(left: VariantCounts, right: VariantCounts) -> float:
    ours, theirs = (list(name_sequences(log).items()) for log in (left, right))
    cost = np.array([[_edits(a, b) / max(len(a), len(b), 1) for b, _ in theirs] for a, _ in ours])
    rows, columns = cost.shape
    constraints = np.zeros((rows + columns, rows * columns))
    for i in range(rows):
        constraints[i, i * columns : (i + 1) * columns] = 1
    for j in range(columns):
        constraints[rows + j, j::columns] = 1
    masses = [n / left.cases for _, n in ours] + [n / right.cases for _, n in theirs]
    return float(linprog(cost.ravel(), A_eq=constraints, b_eq=masses).fun)


def _edits(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row, above = [i], row
        for j, y in enumerate(b, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (x != y)))
    return row[-1]
