"""Cases one by one: laid out from variants, chosen, and put together from parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa.base.batches import cases_of, gather
from sacofa.errors import SettingError
from sacofa.kernel.cases import CaseBatch, Cases
from sacofa.kernel.unit import ONE_CASE, Unit
from sacofa.kernel.variants import VariantCounts

logs = st.dictionaries(
    st.lists(st.sampled_from("abc"), max_size=4).map(tuple), st.integers(1, 4), max_size=5
).map(lambda counts: VariantCounts.of(counts, activities="abc"))


class InParts:
    """Cases in parts, as a store on disk has them."""

    def __init__(self, *parts: CaseBatch) -> None:
        self.parts = parts

    def map_parts(self, job: Callable[[int, CaseBatch], Any]) -> list[Any]:
        """Do a job on every part."""
        return [job(number, part) for number, part in enumerate(self.parts)]


def laid_out(variants: VariantCounts) -> CaseBatch:
    """The cases of variants, whose events have the times 0, 1, 2, ...."""
    return cases_of(variants, np.arange(variants.events))


def seen(batch: CaseBatch) -> list[tuple[tuple[int, ...], list[int]]]:
    """Each case with its times."""
    assert batch.times is not None
    times = np.split(batch.times, batch.offsets[1:-1]) if batch.cases else []
    return [(ids, t.tolist()) for ids, t in zip(batch.sequences(), times, strict=True)]


@settings(deadline=None)
@given(variants=logs)
def test_cases_of_variants_have_these_variants(variants: VariantCounts) -> None:
    """In their order."""
    batch = laid_out(variants)
    assert batch.variants() == variants
    sequences = list(variants.sequences())
    wanted = [s for s, n in zip(sequences, variants.counts, strict=True) for _ in range(n)]
    assert list(batch.sequences()) == wanted


@settings(deadline=None)
@given(variants=logs, data=st.data())
def test_parts_are_put_together_again(variants: VariantCounts, data: st.DataObject) -> None:
    """Some cases and the others are all, each with its own times."""
    batch = laid_out(variants)
    size = batch.cases
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), dtype=bool)
    one, other = batch.where(kept), batch.where(~kept)
    assert (one.cases, other.cases) == (int(kept.sum()), int((~kept).sum()))
    together = gather(InParts(one, other))  # type: ignore[arg-type]
    assert seen(together) == seen(one) + seen(other)
    assert sorted(seen(together)) == sorted(seen(batch))


@settings(deadline=None)
@given(variants=logs, events=st.integers(1, 9))
def test_pieces_are_the_cases(variants: VariantCounts, events: int) -> None:
    """All of them, in their order; no piece is larger than asked by more than its last case."""
    batch = laid_out(variants)
    pieces = list(batch.pieces(events))
    assert [case for piece in pieces for case in seen(piece)] == seen(batch)
    assert all(piece.offsets[0] == 0 for piece in pieces)
    longest = int(batch.lengths.max(initial=0))
    assert all(len(piece.activity_ids) < events + longest for piece in pieces if piece.cases)


@settings(deadline=None)
@given(variants=logs, names=st.lists(st.sampled_from("abcz"), unique=True))
def test_cases_are_expressed_over_other_activities_as_their_variants_are(
    variants: VariantCounts, names: list[str]
) -> None:
    """No case is lost where its events are dropped: it stays, without any."""
    batch = laid_out(variants)
    assert batch.project_onto(names).variants() == variants.project_onto(names)
    assert batch.project_onto(names).cases == batch.cases


THREE = Unit(person="patient", max_cases=3)
UNITS = [
    ONE_CASE,
    THREE,
    replace(THREE, max_cases=2),
    replace(THREE, max_cases=1),
    replace(THREE, person="customer"),
    replace(THREE, per_period=True),
]


@pytest.mark.parametrize(("one", "other"), [*permutations(UNITS, 2)])
def test_variants_and_cases_one_by_one_have_one_unit(one: Unit, other: Unit) -> None:
    """Or noise for one case would hide times of a person with three."""
    counted = VariantCounts.of({("a",): 3})
    variants = replace(counted, unit=one)
    assert Cases(variants=variants, by_case=laid_out(variants)).unit == one
    with pytest.raises(SettingError, match="by_case"):
        Cases(variants=variants, by_case=laid_out(replace(counted, unit=other)))
