"""Variants that lie in parts give the release that they would give in one place."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacofa import Certified, SettingError, anonymize
from sacofa.examples import hospital
from sacofa.mechanisms.certified import cells
from sacofa.mechanisms.paper import Laplace
from sacofa.privacy.bits import KeyedBits, SeededBits, Words
from sacofa.privacy.noise import Noise
from sacofa.queries.cells import CellsInParts
from sacofa.queries.histogram import Histogram
from sacofa.queries.session import Looks
from sacofa.semantics.allowed import all_sequences
from sacofa.variants import VariantCounts
from tests.chances import FITS, REJECTED, agree, fit
from tests.mechanisms.certified.test_histogram import (
    DRAWS,
    EPSILON,
    LOG,
    Shown,
    explicitly,
    lazily,
    summaries,
)

Result = TypeVar("Result")
NAMES = ("a", "b", "c")


class Parts:
    """Variants dealt into parts in this process; everything is sent as to another machine."""

    def __init__(self, variants: VariantCounts, number: int = 3) -> None:
        self.activities = variants.activities
        self._whole, self._number = variants, number

    @property
    def parts(self) -> Sequence[int]:
        return [i for i in range(self._number) if len(self._part(i))]

    def _part(self, number: int) -> VariantCounts:
        whole = self._whole
        mine = np.arange(len(whole)) % self._number == number
        steps = whole.activity_ids[np.repeat(mine, whole.lengths)]
        return VariantCounts.from_arrays(
            whole.activities, steps, whole.lengths[mine], whole.counts[mine], whole.complete[mine]
        )

    def cut(self, max_length: int, *, by_length: bool = False) -> Parts:
        return Parts(self._whole.truncate(max_length, by_length=by_length), self._number)

    def over(self, activities: Sequence[str]) -> Parts:
        return Parts(self._whole.project_onto(activities), self._number)

    def map(self, job: Callable[[int, VariantCounts], Result]) -> list[Result]:
        sent = pickle.dumps(job)
        return [
            pickle.loads(pickle.dumps(pickle.loads(sent)(i, self._part(i)))) for i in self.parts
        ]


CASES = st.lists(st.lists(st.sampled_from(NAMES), max_size=6), max_size=30)


@given(CASES, st.integers(1, 5), st.integers(1, 6))
def test_every_look_adds_up(cases: list[list[str]], parts: int, max_length: int) -> None:
    """With the same noise, each look gives the same answer in parts as in one place."""
    log = VariantCounts.from_cases(cases).project_onto(NAMES)
    one, price = Fraction(1), Fraction(1, 3)
    whole, split = (Looks(v, Noise(SeededBits(1))) for v in (log, Parts(log, parts)))
    for looks in (whole, split):
        looks.size(price)
        looks.lengths([1, 2, 4], price)
        looks.truncate(max_length)
        looks.steps(one)
        looks.nearest("last", [(0, 1), (), (2, 2, 1)], price)
    for name, answer in whole.transcript.items():
        assert np.array_equal(answer, split.transcript[name]), name  # type: ignore[arg-type]
    assert whole.spent == split.spent


def test_a_release_that_shows_no_names_is_the_same() -> None:
    """Where no histogram is asked, the same seed gives the same release, in parts or not."""
    log = hospital()
    mechanism = Certified(epsilon=Fraction(1), rich=Fraction(1, 10**9))
    here, there = (anonymize(v, mechanism, seed=5) for v in (log, Parts(log)))
    assert here.variants == there.variants
    assert here.certificate == there.certificate


def test_other_mechanisms_refuse_parts() -> None:
    """A mechanism that must see all variants at once says so before it looks."""
    with pytest.raises(SettingError, match="certified, where variants lie in parts"):
        anonymize(Parts(LOG), Laplace(level_epsilon=Fraction(1), max_length=2, prune=2))


def in_parts(noise: Noise) -> Shown:
    """The stages of the histogram, over parts."""
    return lazily(noise, partial(_scattered, number=2))  # type: ignore[arg-type]


def _scattered(log: VariantCounts, noise: Noise, epsilon: Fraction, number: int) -> Histogram:
    return Histogram(Parts(log, number), noise, epsilon)


def all_values(shown: list[Shown]) -> list[object]:
    """The values of the three variants of the log, together and coarse."""
    words = [((0,), True), ((1,), True), ((0, 1), False)]
    return [tuple(min(max(dict(one).get(w, 0), 0), 4) // 2 for w in words) for one in shown]


@pytest.mark.slow
def test_parts_and_one_place_agree_across_stages() -> None:
    """Which cells are shown, with which values: one distribution, wherever they lie."""
    noise, other = Noise(SeededBits(3)), Noise(SeededBits(4))
    scattered = [in_parts(noise) for _ in range(DRAWS)]
    explicit = [explicitly(other) for _ in range(DRAWS)]
    assert agree(summaries(scattered), summaries(explicit)) > FITS
    assert agree(all_values(scattered), all_values(explicit)) > FITS


def _one_key(number: int, variants: VariantCounts, **sent: object) -> object:
    keys: dict[int, Words] = sent.pop("keys")  # type: ignore[assignment]
    return _NOISED(number, variants, keys=dict.fromkeys(keys, keys[min(keys)]), **sent)


def _fresh_each_time(number: int, variants: VariantCounts, **sent: object) -> object:
    keys: dict[int, Words] = sent.pop("keys")  # type: ignore[assignment]
    _ASKED.append(number)
    fresh = SeededBits(len(_ASKED)).words(KeyedBits.SIZE)
    return _NOISED(number, variants, keys=dict.fromkeys(keys, fresh), **sent)


_NOISED: Callable[..., object] = cells._noised
_ASKED: list[int] = []


@pytest.mark.slow
@pytest.mark.parametrize("broken", [_one_key, _fresh_each_time])
def test_the_comparison_notices_wrong_keys(
    broken: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts that share a key, and cells that get new noise at each stage, are rejected."""
    monkeypatch.setattr(cells, "_noised", broken)
    noise, other = Noise(SeededBits(3)), Noise(SeededBits(4))
    scattered = [in_parts(noise) for _ in range(DRAWS)]
    explicit = [explicitly(other) for _ in range(DRAWS)]
    assert agree(all_values(scattered), all_values(explicit)) < REJECTED


def test_a_cell_has_one_noise() -> None:
    """Asked again, as after a failure or at a later stage, a cell gives the same value."""
    log = VariantCounts.of({("a",): 10, ("b", "a"): 12, ("c",): 9, (): 11}, NAMES)
    taken = CellsInParts(Parts(log), Noise(), Fraction(1, 2))
    everything = all_sequences(NAMES, 2)
    low = taken.reach(everything, -1_000)
    assert low.inside == len(low.cells) == len(log)
    assert taken.reach(everything, -1_000) == low
    high = taken.reach(everything, 10)
    assert high.cells == {word: value for word, value in low.cells.items() if value >= 10}


def test_which_words_are_taken() -> None:
    """Each part tells which of the words it has."""
    taken = CellsInParts(Parts(LOG), Noise(SeededBits(0)), EPSILON)
    asked = [((0,), True), ((0, 1), False), ((0, 1), True), ((1, 1), True)]
    assert taken.among(asked) == {((0,), True), ((0, 1), False)}


def test_a_key_determines_uniform_words() -> None:
    """One key, the same words; another, others; and bits that are fair."""
    key, other = Noise(SeededBits(1)).bits.words(4), Noise(SeededBits(2)).bits.words(4)
    first, again = (KeyedBits(key, reproducible=True) for _ in range(2))
    words = np.concatenate([first.words(3), first.words(20_000)])
    assert np.array_equal(words, np.concatenate([again.words(3), again.words(20_000)]))
    assert len(set(words.tolist())) == len(words)
    assert not set(words.tolist()) & set(KeyedBits(other, reproducible=True).words(20_003).tolist())
    bits = np.unpackbits(words.view(np.uint8))
    assert fit(bits, lambda _: 0.5, 0, 1) > FITS
    assert fit(bits[:-1] ^ bits[1:], lambda _: 0.5, 0, 1) > FITS
    with pytest.raises(ValueError, match="4 words"):
        KeyedBits(key[:2], reproducible=True)
