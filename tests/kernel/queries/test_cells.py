"""Variants that lie in parts give the release that they would give in one place."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacofa import Certified, anonymize
from sacofa.base.distance import nearest
from sacofa.errors import SettingError
from sacofa.examples import hospital
from sacofa.kernel.bits import KeyedBits, SeededBits
from sacofa.kernel.laws import DiscreteLaplace
from sacofa.kernel.noise import Noise
from sacofa.kernel.queries import histogram as cells
from sacofa.kernel.queries.flow import CaseCount, CaseLengths, NearestCandidate, StepVotes
from sacofa.kernel.queries.histogram import CellsInParts
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms.paper import Laplace
from sacofa.rules.allowed import all_sequences
from tests.chances import FITS, REJECTED, agree

from .bare import session_of
from .test_histogram import (
    DRAWS,
    EPSILON,
    FEW,
    LOG,
    Shown,
    explicit_draws,
    lazily,
    summaries,
    taken_values,
)

Result = TypeVar("Result")
NAMES = ("a", "b", "c")


class Parts:
    """Variants dealt into parts in this process; everything is sent as to another machine."""

    def __init__(self, variants: VariantCounts, number: int = 3) -> None:
        self.activities, self.unit = variants.activities, variants.unit
        self._whole, self._number = variants, number

    @property
    def parts(self) -> Sequence[int]:
        return list(self._dealt)

    @cached_property
    def _dealt(self) -> dict[int, VariantCounts]:
        every = {number: self._part(number) for number in range(self._number)}
        return {number: part for number, part in every.items() if len(part)}

    def _part(self, number: int) -> VariantCounts:
        whole = self._whole
        mine = np.arange(len(whole)) % self._number == number
        return VariantCounts.from_arrays(
            whole.activities,
            whole.activity_ids[np.repeat(mine, whole.lengths)],
            whole.lengths[mine],
            whole.counts[mine],
            whole.complete[mine],
            whole.unit,
        )

    def truncate(self, max_length: int, *, by_length: bool = False) -> Parts:
        return Parts(self._whole.truncate(max_length, by_length=by_length), self._number)

    def project_onto(self, activities: Sequence[str]) -> Parts:
        return Parts(self._whole.project_onto(activities), self._number)

    def map_parts(self, job: Callable[[int, VariantCounts], Result]) -> list[Result]:
        sent = pickle.dumps(job)
        return [
            pickle.loads(pickle.dumps(pickle.loads(sent)(i, part)))
            for i, part in self._dealt.items()
        ]


CASES = st.lists(st.lists(st.sampled_from(NAMES), max_size=6), max_size=30)


@given(CASES, st.integers(1, 5), st.integers(1, 6))
def test_every_query_adds_up(cases: list[list[str]], parts: int, max_length: int) -> None:
    """With the same noise, each query gets the same answer in parts as in one place."""
    log = VariantCounts.from_cases(cases).project_onto(NAMES)
    price = Fraction(1, 4)
    whole, split = (session_of(v, noise=Noise(SeededBits(1))) for v in (log, Parts(log, parts)))
    for session in (whole, split):
        session.ask(CaseCount(), price, "all")
        session.ask(CaseLengths((1, 2, 4)), price, "all")
        session.truncate(max_length)
        session.ask(StepVotes(len(NAMES)), price, "all")
        session.ask(NearestCandidate("final", ((0, 1), (), (2, 2, 1)), nearest), price, "all")
    for name, answer in whole.transcript.items():
        assert np.array_equal(answer, split.transcript[name]), name  # type: ignore[arg-type]
    assert whole.close() == split.close()


def test_a_release_that_shows_no_names_is_the_same() -> None:
    """Where no histogram is asked, the same seed gives the same release, in parts or not."""
    log = hospital()
    mechanism = Certified(epsilon=Fraction(1), large_log_ratio=Fraction(1, 10**9))
    here, there = (anonymize(v, mechanism, seed=5) for v in (log, Parts(log)))
    assert here.variants == there.variants
    assert here.certificate == there.certificate


def test_other_mechanisms_refuse_parts() -> None:
    """A mechanism that must see all variants at once says so before it looks."""
    with pytest.raises(SettingError, match="certified if the variants lie in parts"):
        anonymize(Parts(LOG), Laplace(level_epsilon=Fraction(1), max_length=2, prune=2))


IN_TWO = Parts(LOG, 2)


def in_parts(noise: Noise) -> Shown:
    """The stages of the histogram, over parts."""
    return lazily(noise, log=IN_TWO)


@pytest.mark.slow
def test_parts_and_one_place_agree_across_stages() -> None:
    """Which cells are shown, with which values: one distribution, wherever they lie."""
    noise = Noise(SeededBits(3))
    scattered, explicit = [in_parts(noise) for _ in range(DRAWS // 4)], explicit_draws(2)
    assert agree(summaries(scattered), summaries(explicit)) > FITS
    assert agree(taken_values(scattered), taken_values(explicit)) > FITS


class OneKey(cells._Part):
    """Uses the key of the first part for all parts."""

    def reach(self, number: int, variants: VariantCounts, **stage: Any) -> cells.Reached:
        return super().reach(min(self.keys), variants, **stage)


class FreshEachTime(cells._Part):
    """Draws new noise at each stage."""

    def reach(self, number: int, variants: VariantCounts, **stage: Any) -> cells.Reached:
        _ASKED.append(number)
        self.keys[number] = SeededBits(len(_ASKED)).words(KeyedBits.SIZE)
        return super().reach(number, variants, **stage)


_ASKED: list[int] = []


@pytest.mark.slow
@pytest.mark.parametrize("broken", [OneKey, FreshEachTime])
def test_the_comparison_notices_wrong_keys(
    broken: type[cells._Part], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts that share a key, and cells that get new noise at each stage, are rejected."""
    monkeypatch.setattr(cells, "_Part", broken)
    noise = Noise(SeededBits(3))
    scattered = [in_parts(noise) for _ in range(FEW // 3)]
    assert agree(taken_values(scattered), taken_values(explicit_draws(2))) < REJECTED


def test_a_cell_has_one_noise() -> None:
    """Asked again, as after a failure or at a later stage, a cell gives the same value."""
    log = VariantCounts.of({("a",): 10, ("b", "a"): 12, ("c",): 9, (): 11}, NAMES)
    taken = CellsInParts(Parts(log), Noise(), DiscreteLaplace(Fraction(1, 2)))
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
