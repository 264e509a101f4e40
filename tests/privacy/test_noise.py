"""Noise: each distribution fits the one it is named after, and the tests reject wrong ones."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, permutations
from math import exp

import numpy as np
import opendp.prelude as dp
import pytest
from scipy import stats

from sacofa.privacy.bits import SeededBits, SystemBits
from sacofa.privacy.noise import Noise, invert
from sacofa.privacy.reals import precision, smallest_threshold, tail
from tests.chances import FITS, REJECTED, agree, fit

EPSILONS = [Fraction(e) for e in ("1", "1/3", "1/7", "1/10", "1/100", "3", "7/2", "2/3", "10")]
DRAWS = 400_000


def laplace_chance(epsilon: Fraction) -> object:
    """P(noise = x) in floating point, as SciPy has it."""
    return lambda x: float(stats.dlaplace.pmf(x, float(epsilon)))


def laplace_fit(values: np.ndarray, epsilon: Fraction) -> float:
    """The p-value of draws under discrete Laplace noise; wide scales are looked at in steps."""
    step = max(1, int(0.1 / epsilon))
    reach = int(8 / epsilon / step) + 3

    def chance(cell: int) -> float:
        return sum(laplace_chance(epsilon)(cell * step + i) for i in range(step))

    return fit(values // step, chance, -reach, reach)


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_laplace_noise_fits_its_distribution(epsilon: Fraction) -> None:
    """Draws at many ε fit P(x) ∝ exp(−ε|x|)."""
    values = Noise(SeededBits(1)).laplace(epsilon, DRAWS)
    assert laplace_fit(values, epsilon) > FITS


@pytest.mark.parametrize("epsilon", EPSILONS[:6], ids=str)
def test_the_fit_rejects_wrong_noise(epsilon: Fraction) -> None:
    """A scale that is 10 % off either way, a value shifted by one, a doubled zero are seen."""
    noise = Noise(SeededBits(2))
    right = noise.laplace(epsilon, DRAWS)
    assert laplace_fit(noise.laplace(epsilon * Fraction(10, 11), DRAWS), epsilon) < REJECTED
    assert laplace_fit(noise.laplace(epsilon * Fraction(10, 9), DRAWS), epsilon) < REJECTED
    doubled = right.copy()
    doubled[np.flatnonzero(right == 1)] = 0
    shifted = right + 1
    if epsilon >= Fraction(1, 10):
        assert laplace_fit(shifted, epsilon) < REJECTED
        assert laplace_fit(doubled, epsilon) < REJECTED
    else:
        # At wide scales one unit is little: the mean and the mass at zero show it.
        assert abs(shifted.mean()) > 4 * right.std() / DRAWS**0.5
        zeros = DRAWS * float(laplace_chance(epsilon)(0))
        assert abs((doubled == 0).sum() - zeros) > 8 * zeros**0.5
        assert abs((right == 0).sum() - zeros) < 4 * zeros**0.5
    assert abs(right.mean()) < 4 * right.std() / DRAWS**0.5


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 3), Fraction(1, 10)], ids=str)
def test_laplace_noise_agrees_with_opendp(epsilon: Fraction) -> None:
    """An independent exact sampler draws the same distribution."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    theirs = dp.m.make_laplace(*space, scale=float(1 / epsilon))([0] * 40_000)
    ours = Noise(SeededBits(3)).laplace(epsilon, 40_000).tolist()
    assert agree(ours, theirs) > FITS
    wrong = Noise(SeededBits(3)).laplace(epsilon * Fraction(9, 10), 40_000).tolist()
    assert agree(wrong, theirs) < 1e-6


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 100), Fraction(1, 10**6)], ids=str)
def test_geometric_has_no_memory(epsilon: Fraction) -> None:
    """P(X ≥ x) = exp(−εx) at points spread over the whole range, for any scale."""
    values = Noise(SeededBits(4)).geometric(epsilon, DRAWS)
    for q in (0.9, 0.5, 0.1, 0.01, 0.001):
        x = int(-np.log(q) / float(epsilon)) + 1
        chance = exp(-float(epsilon) * x)
        error = (DRAWS * chance * (1 - chance)) ** 0.5
        assert abs((values >= x).sum() - DRAWS * chance) < 4.5 * error
    assert (values < 0).sum() == 0


def test_every_digit_of_a_wide_scale_is_uniform_enough() -> None:
    """No value is skipped: the lowest digits of a very wide geometric are all taken alike."""
    values = Noise(SeededBits(5)).geometric(Fraction(1, 10**7), DRAWS)
    assert fit(values % 256, lambda x: 1 / 256, 0, 255) > FITS


class Scripted:
    """Bits that begin with given words and go on from a seed."""

    reproducible = True

    def __init__(self, first: list[int], seed: int) -> None:
        self._first, self._rest = first, SeededBits(seed)

    def words(self, size: int) -> np.ndarray:
        """The next words."""
        given, self._first = self._first[:size], self._first[size:]
        more = self._rest.words(size - len(given))
        return np.concatenate([np.array(given, dtype=np.uint64), more])


def third(digits: int) -> Decimal:
    """One third."""
    with localcontext(precision(digits)):
        return Decimal(1) / 3


def test_what_64_bits_cannot_decide_is_decided_by_more() -> None:
    """Where a word equals the first 64 bits of a threshold, the bits that follow decide."""
    # "Happens" lies above 2/3; 2/3 · 2^64 has a remainder of 2/3.
    tied = 2 * 2**64 // 3
    heads = sum(Noise(Scripted([tied], seed)).happens(third) for seed in range(4000))
    assert abs(heads - 4000 / 3) < 4 * (4000 * 2 / 9) ** 0.5
    assert Noise(Scripted([tied + 1], 1)).happens(third)
    assert not Noise(Scripted([tied - 1], 1)).happens(third)


def test_a_table_resolves_doubt_and_the_far_tail() -> None:
    """Words in doubt or beyond the table are resolved exactly, not cut off."""
    deepest = Noise(Scripted([2**64 - 1], 7)).geometric(Fraction(1), 1)[0]
    # U > 1 − 2^-64, so x > 64 ln 2 = 44.36: inversion without further bits would stop here.
    assert deepest >= 44
    beyond = [
        int(Noise(Scripted([2**64 - 1], seed)).geometric(Fraction(1), 1)[0]) for seed in range(3000)
    ]
    # Given that, the excess is geometric again: P(X ≥ 45 + x | X ≥ 45) = e^-x.
    excess = [x - 45 for x in beyond if x >= 45]
    assert fit(excess, lambda x: exp(-x) * (1 - exp(-1)), 0, 6) > FITS
    assert fit([min(x, 1) for x in excess], lambda x: exp(-x) * (1 - exp(-1)), 0, 6) < REJECTED


def test_scalar_inversion_equals_the_table() -> None:
    """The slow path alone draws the same distribution as the table."""
    bits = SeededBits(8)

    def below(x: int, width: int) -> int:
        with localcontext(precision(width)):
            return int((1 - Decimal(-(x + 1)).exp()) * 2**width)

    slow = [invert(below, bits) for _ in range(20_000)]
    fast = Noise(SeededBits(9)).geometric(Fraction(1), 20_000).tolist()
    assert agree(slow, fast) > FITS


@pytest.mark.parametrize(("epsilon", "threshold"), [("1", 1), ("1", 2), ("1/3", 4), ("1/10", -3)])
def test_survivors_are_each_cell_by_itself(epsilon: str, threshold: int) -> None:
    """Every subset of three empty cells survives with the product of its chances."""
    price = Fraction(epsilon)
    q = float(tail(price, threshold)(20))
    noise = Noise(SeededBits(10))
    subsets = [frozenset(s) for n in range(4) for s in combinations(range(3), n)]
    code = {s: i for i, s in enumerate(subsets)}
    drawn = [code[frozenset(noise.survivors(3, price, threshold).tolist())] for _ in range(30_000)]

    def chance(i: int, q: float = q) -> float:
        return q ** len(subsets[i]) * (1 - q) ** (3 - len(subsets[i]))

    assert fit(drawn, chance, 0, 7) > FITS
    wrong = float(tail(price, threshold + 1)(20))
    assert fit(drawn, lambda i: chance(i, wrong), 0, 7) < 1e-9


def test_many_survivors_are_as_many_as_they_should_be() -> None:
    """Over a million cells the number of survivors and their places fit."""
    noise = Noise(SeededBits(11))
    cells, price, threshold = 1_000_000, Fraction(1, 10), 20
    q = float(tail(price, threshold)(20))
    places = np.concatenate([noise.survivors(cells, price, threshold) for _ in range(20)])
    assert abs(len(places) - 20 * cells * q) < 4 * (20 * cells * q) ** 0.5
    assert fit(places // 10_000, lambda x: 1 / 100, 0, 99) > FITS
    assert (np.diff(noise.survivors(cells, price, threshold)) > 0).all()


def test_tails_are_those_of_the_distribution() -> None:
    """P(noise ≥ p) agrees with SciPy on both sides of zero."""
    for epsilon in EPSILONS:
        for p in (-5, -1, 0, 1, 2, 9):
            exact = float(tail(epsilon, p)(25))
            assert exact == pytest.approx(stats.dlaplace.sf(p - 1, float(epsilon)), rel=1e-9)


@pytest.mark.parametrize(("trials", "p"), [(12, "0.3"), (1000, "0.004"), (1, "0.5"), (5, "0.99")])
def test_binomial_fits(trials: int, p: str) -> None:
    """Small numbers of trials fit the binomial distribution."""
    noise = Noise(SeededBits(12))
    drawn = [noise.binomial(trials, lambda digits: Decimal(p)) for _ in range(8000)]
    assert fit(drawn, lambda x: float(stats.binom.pmf(x, trials, float(p))), 0, trials) > FITS
    off = float(p) * 0.9
    assert fit(drawn, lambda x: float(stats.binom.pmf(x, trials, off)), 0, trials) < 0.01


def test_binomial_of_astronomically_many_trials() -> None:
    """With 400^100 trials the number of successes is Poisson, and nothing overflows."""
    cells = 400**100
    threshold = smallest_threshold(Fraction(1, 2), cells, Fraction(3))
    chance = tail(Fraction(1, 2), threshold)
    mean = float(chance(40) * cells)
    assert 3 * exp(-0.5) < mean <= 3
    noise = Noise(SeededBits(13))
    drawn = [noise.binomial(cells, chance) for _ in range(800)]
    assert fit(drawn, lambda x: float(stats.poisson.pmf(x, mean)), 0, 10) > FITS
    assert fit(drawn, lambda x: float(stats.poisson.pmf(x, mean * 0.7)), 0, 10) < 1e-6


def test_smallest_threshold_is_the_smallest() -> None:
    """One less would let more through than is allowed."""
    for epsilon in EPSILONS:
        for cells in (1, 100, 10**30):
            p = smallest_threshold(epsilon, cells, Fraction(3, 2))
            assert cells * tail(epsilon, p)(30) <= Decimal("1.5")
            assert p == 1 or cells * tail(epsilon, p - 1)(30) > Decimal("1.5")


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 10])
def test_uniform_integers_are_uniform(bound: int) -> None:
    """Every value below a bound is taken alike, by both ways to draw."""
    noise = Noise(SeededBits(14))
    many = noise.below(bound, 50_000)
    few = [noise.integer(bound) for _ in range(5000)]
    for drawn in (many, few):
        assert set(np.asarray(drawn).tolist()) == set(range(bound))
        if bound > 1:
            assert fit(drawn, lambda x: 1 / bound, 0, bound - 1) > FITS


def test_uniform_integers_reject_what_would_bias_them() -> None:
    """Words past the last multiple of the bound are drawn again, not folded."""
    assert Noise(Scripted([2**64 - 1, 5], 1)).below(3, 1)[0] == 5 % 3
    huge = 10**100
    drawn = [Noise(SeededBits(s)).integer(huge) for s in range(300)]
    assert max(drawn) < huge
    assert fit([x * 10 // huge for x in drawn], lambda x: 0.1, 0, 9) > FITS


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_choosing_takes_every_ordered_subset_alike(size: int) -> None:
    """Different integers come in every order with one chance."""
    noise = Noise(SeededBits(15))
    orders = {p: i for i, p in enumerate(permutations(range(4), size))}
    drawn = [orders[tuple(noise.choose(size, 4).tolist())] for _ in range(12_000)]
    assert fit(drawn, lambda x: 1 / len(orders), 0, len(orders) - 1) > FITS


def test_a_seed_repeats_and_the_system_does_not() -> None:
    """The same seed gives the same noise through the same code; the system never repeats."""
    a, b = (Noise(SeededBits(1)).laplace(Fraction(1, 50), 100).tolist() for _ in range(2))
    assert a == b
    c, d = (Noise(SystemBits()).laplace(Fraction(1, 50), 100).tolist() for _ in range(2))
    assert c != d
    assert Noise().bits.reproducible is False
    assert SeededBits(1).reproducible is True


def test_seeded_words_never_change() -> None:
    """A golden value: releases made from a seed can be repeated by later versions."""
    assert Noise(SeededBits(2021)).laplace(Fraction(1, 10), 8).tolist() == GOLDEN


def test_nothing_is_drawn_that_is_not_there() -> None:
    """No draws, no survivors, no trials."""
    noise = Noise(SeededBits(1))
    assert len(noise.laplace(Fraction(1), 0)) == 0
    assert len(noise.survivors(0, Fraction(1), 3)) == 0
    assert noise.binomial(0, third) == 0
    assert len(noise.choose(0, 5)) == 0
    assert Counter(noise.survivors(10, Fraction(100), 50).tolist()) == Counter()


GOLDEN = [2, -1, 4, -12, 10, -1, -5, -2]
