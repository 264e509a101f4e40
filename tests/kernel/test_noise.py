"""Noise: each distribution fits the one it is named after, and the tests reject wrong ones."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, permutations
from math import exp, log

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from sacofa.kernel import noise as noise_module
from sacofa.kernel.bits import Bits, SeededBits
from sacofa.kernel.laws import DiscreteLaplace
from sacofa.kernel.noise import Below, Noise, invert
from sacofa.kernel.reals import GUARD, WIDE, rounded, tail
from sacofa.synthesis.thresholds import smallest_threshold
from tests.chances import FITS, FITS_UNSEEDED, REJECTED, agree, fit

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


@pytest.mark.parametrize("size", [2, 3])
def test_the_cells_of_one_draw_have_independent_noise(size: int) -> None:
    """Every place of a draw, the last one too, and any two of them together."""
    noise, price, reach = Noise(SeededBits(6)), Fraction(2), 2
    width = 2 * reach + 1
    drawn = np.array([noise.laplace(price, size) for _ in range(20_000)])
    codes = np.where(np.abs(drawn) <= reach, drawn + reach, -width * width)

    def chance(code: int) -> float:
        one, other = divmod(code, width)
        return laplace_chance(price)(one - reach) * laplace_chance(price)(other - reach)

    for one, other in combinations(range(size), 2):
        pairs = codes[:, one] * width + codes[:, other]
        assert fit(pairs, chance, 0, width * width - 1) > FITS


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
    """An independent exact sampler draws the same distribution.

    It takes no seed: one run in three million fails by chance.
    """
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    theirs = dp.m.make_laplace(*space, scale=float(1 / epsilon))([0] * 40_000)
    ours = Noise(SeededBits(3)).laplace(epsilon, 40_000).tolist()
    assert agree(ours, theirs) > FITS_UNSEEDED
    wrong = Noise(SeededBits(3)).laplace(epsilon * Fraction(4, 5), 40_000).tolist()
    assert agree(wrong, theirs) < REJECTED


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


def test_the_second_digit_of_a_wide_scale_counts_256() -> None:
    """Its values decrease as those of a geometric variable that is cut at 256."""
    values = Noise(SeededBits(5)).geometric(Fraction(1, 10**6), DRAWS)
    ratio = exp(-256 / 10**6)
    whole = (1 - ratio**256) / (1 - ratio)
    assert fit((values >> 8) % 256, lambda x: ratio**x / whole, 0, 255) > FITS


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


def exact_draw(words: list[int], epsilon: Fraction) -> int:
    """The geometric variable that inversion makes of the real number 0.words000…, by its formula.

    P(X ≥ x) = e^(−εx), so X is the largest x with 1 − U ≤ e^(−εx).
    """
    rest = 1 - Fraction(
        int.from_bytes(b"".join(w.to_bytes(8) for w in words)), 2 ** (64 * len(words))
    )
    with localcontext(WIDE, prec=60 + 40 * len(words) + GUARD):
        size = -(Decimal(rest.numerator) / Decimal(rest.denominator)).ln()
        return int(size * epsilon.denominator / epsilon.numerator)


class Finite:
    """Bits that are given words, then zeros."""

    reproducible = True

    def __init__(self, words: list[int]) -> None:
        self._words = words

    def words(self, size: int) -> np.ndarray:
        """The next words."""
        given, self._words = self._words[:size], self._words[size:]
        return np.array([*given, *[0] * (size - len(given))], dtype=np.uint64)


HIGHEST = 2**64 - 1
LARGE = [Fraction(e) for e in (40, 42, 43, 44, 45, 50, 84, 100, 500, 1000)]
TOP = st.one_of(st.integers(0, HIGHEST), st.integers(HIGHEST - 40, HIGHEST))


@settings(deadline=None)
@given(
    st.fractions(Fraction(1, 20), 1000, max_denominator=1000),
    st.lists(TOP, min_size=1, max_size=30),
)
@example(Fraction(42), [HIGHEST])
@example(Fraction(84), [HIGHEST, HIGHEST])
@example(Fraction(1000), [HIGHEST] * 30)
def test_every_draw_is_the_one_that_its_bits_stand_for(epsilon: Fraction, words: list[int]) -> None:
    """For any ε and any bits, however far out: no value is rounded, and none is out of reach."""
    assert Noise(Finite(words)).geometric(epsilon, 1)[0] == exact_draw(words, epsilon)


@pytest.mark.parametrize("value", [1, 2, 3])
@pytest.mark.parametrize("epsilon", LARGE, ids=str)
def test_the_far_tail_has_its_exact_probability(epsilon: Fraction, value: int) -> None:
    """At a large ε noise of any size is drawn, with probability e^(−εx) up to 2^−32 of it.

    The set of numbers U that give at least x is an interval that ends at 1: it is enough to find
    where it begins. Bits just below give less, bits just above give as much.
    """
    many = int((float(epsilon) * value / log(2) + 36) / 64) + 1
    with localcontext(WIDE, prec=40 * many + GUARD):
        begins = int((1 - (-value * Decimal(epsilon.numerator)).exp()) * 2 ** (64 * many))
    for number, reached in ((begins - 4, False), (begins + 4, True)):
        words = [(number >> 64 * (many - 1 - i)) & HIGHEST for i in range(many)]
        assert (Noise(Finite(words)).geometric(epsilon, 1)[0] >= value) == reached
        # Laplace noise is the first draw less the second.
        first = Noise(TwoDraws(words, [0])).laplace(epsilon, 1)[0]
        assert (first >= value) == reached
    tail_size = Fraction(2 ** (64 * many) - begins, 2 ** (64 * many))
    assert abs(float(tail_size * Fraction((value * Decimal(int(epsilon))).exp())) - 1) < 2**-30


class TwoDraws:
    """Bits of two draws that are asked for together: first words first, the rest as they come."""

    reproducible = True

    def __init__(self, one: list[int], two: list[int]) -> None:
        self._first, self._rest = [one[0], two[0]], Finite([*one[1:], *two[1:]])

    def words(self, size: int) -> np.ndarray:
        """The next words."""
        if self._first:
            given, self._first = self._first, []
            return np.array(given, dtype=np.uint64)
        return self._rest.words(size)


def rounds_to_the_last(below: Below, bits: Bits, word: int | None = None) -> int:
    """Inversion that takes a threshold which rounds to 1 for the last: what must be noticed."""
    number = int(bits.words(1)[0]) if word is None else word
    width, value = 64, 0
    while True:
        threshold = below(value, width)
        if threshold is None or number < threshold - 2 or threshold >= 1 << width:
            return value
        if number > threshold + 2:
            value += 1
        else:
            number = (number << 64) | int(bits.words(1)[0])
            width += 64


def test_a_tail_that_is_cut_off_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same two tests fail where what rounds to 1 is taken for the last value."""
    monkeypatch.setattr(noise_module, "invert", rounds_to_the_last)
    with pytest.raises(AssertionError):
        test_the_far_tail_has_its_exact_probability(Fraction(84), 1)
    with pytest.raises(AssertionError):
        assert Noise(Finite([HIGHEST] * 30)).geometric(Fraction(1000), 1)[0] == exact_draw(
            [HIGHEST] * 30, Fraction(1000)
        )


@pytest.mark.parametrize("zeros", [3, 19, 40, 200])
def test_the_rarest_coin_can_fall(zeros: int) -> None:
    """A probability far below what 64 bits can tell is kept exactly, not taken for 0."""
    chance = Decimal(10) ** -zeros
    many = zeros * 4 // 64 + 2
    with localcontext(WIDE, prec=zeros + 40 + GUARD):
        begins = 2 ** (64 * many) - int(chance * 2 ** (64 * many))
    for number, falls in ((begins - 4, False), (begins + 4, True)):
        words = [(number >> 64 * (many - 1 - i)) & HIGHEST for i in range(many)]
        assert Noise(Finite(words)).binomial(1, lambda digits: chance) == falls
        # Of one trial, the binomial is that coin.
        assert Noise(Finite(words)).binomial(1, lambda digits: chance) == falls


def third(digits: int) -> Decimal:
    """One third."""
    with localcontext(WIDE, prec=digits + GUARD):
        return Decimal(1) / 3


def test_what_64_bits_cannot_decide_is_decided_by_more() -> None:
    """Where a word equals the first 64 bits of a threshold, the bits that follow decide."""
    # "Happens" lies above 2/3; 2/3 · 2^64 has a remainder of 2/3.
    tied = 2 * 2**64 // 3
    heads = sum(Noise(Scripted([tied], seed)).binomial(1, third) for seed in range(4000))
    assert abs(heads - 4000 / 3) < 4 * (4000 * 2 / 9) ** 0.5
    assert Noise(Scripted([tied + 1], 1)).binomial(1, third)
    assert not Noise(Scripted([tied - 1], 1)).binomial(1, third)


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
        with localcontext(WIDE, prec=width + GUARD):
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


@pytest.mark.parametrize(("trials", "p"), [(12, "0.3"), (1000, "0.004"), (1, "0.5"), (5, "0.99")])
def test_binomial_fits(trials: int, p: str) -> None:
    """Small numbers of trials fit the binomial distribution."""
    noise = Noise(SeededBits(12))
    drawn = [noise.binomial(trials, lambda digits: Decimal(p)) for _ in range(8000)]
    assert fit(drawn, lambda x: float(stats.binom.pmf(x, trials, float(p))), 0, trials) > FITS
    off = float(p) * 0.9
    assert fit(drawn, lambda x: float(stats.binom.pmf(x, trials, off)), 0, trials) < 0.01


@pytest.mark.parametrize(
    "cells", [400**100, 200**2000, 4000**100_000], ids=["260", "4,602", "360,206"]
)
def test_binomial_of_astronomically_many_trials(cells: int) -> None:
    """With numbers of trials of many digits the number of successes is Poisson.

    Python itself refuses to write numbers of more than 4,300 digits.
    """
    threshold = smallest_threshold(DiscreteLaplace(Fraction(1, 2)), cells, Fraction(3))
    chance = tail(Fraction(1, 2), threshold)
    with localcontext(WIDE, prec=40 + GUARD):
        mean = float(chance(40) * rounded(cells, 40))
    assert 3 * exp(-0.5) < mean <= 3
    noise = Noise(SeededBits(13))
    drawn = [noise.binomial(cells, chance) for _ in range(800)]
    assert fit(drawn, lambda x: float(stats.poisson.pmf(x, mean)), 0, 10) > FITS
    assert fit(drawn, lambda x: float(stats.poisson.pmf(x, mean * 0.7)), 0, 10) < 1e-6


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


def test_nothing_is_drawn_that_is_not_there() -> None:
    """No draws, no survivors, no trials."""
    noise = Noise(SeededBits(1))
    assert len(noise.laplace(Fraction(1), 0)) == 0
    assert len(noise.survivors(0, Fraction(1), 3)) == 0
    assert noise.binomial(0, third) == 0
    assert len(noise.choose(0, 5)) == 0
    assert Counter(noise.survivors(10, Fraction(100), 50).tolist()) == Counter()
