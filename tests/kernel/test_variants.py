"""Variants with counts: the same log gives the same object, however it is given."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacofa.errors import SettingError
from sacofa.kernel.unit import Unit
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms.prefix_tree import Prefixes

CASES = st.lists(st.lists(st.sampled_from("abcd"), max_size=6), max_size=30)


@given(CASES, st.randoms())
def test_the_order_of_cases_does_not_matter(cases: list[list[str]], random: object) -> None:
    """Shuffled cases give an equal object, whose counts are those of the cases."""
    shuffled = list(cases)
    random.shuffle(shuffled)
    counted = VariantCounts.from_cases(cases)
    assert counted == VariantCounts.from_cases(shuffled)
    assert dict(counted) == Counter(map(tuple, cases))
    assert counted.cases == len(cases)
    assert counted.events == sum(map(len, cases))


@given(CASES, st.integers(1, 7))
def test_cutting_marks_what_was_cut(cases: list[list[str]], length: int) -> None:
    """Longer cases are cut and unfinished; the others are untouched."""
    cut = VariantCounts.from_cases(cases).truncate(length)
    expected = Counter((tuple(c[:length]), len(c) <= length) for c in cases)
    pairs = zip(cut, cut.complete.tolist(), strict=True)
    assert {(variant, flag): n for (variant, n), flag in pairs} == expected


@given(CASES, CASES, st.integers(1, 7))
def test_cutting_by_length_asks_nothing_else(
    cases: list[list[str]], cut_before: list[list[str]], length: int
) -> None:
    """What is shorter is finished, whatever it was before, and nothing else is."""
    log = VariantCounts.of(
        Counter(map(tuple, cases)), truncated=Counter(map(tuple, cut_before))
    ).truncate(length, by_length=True)
    expected = Counter(tuple(c[:length]) for c in (*cases, *cut_before))
    assert dict(log) == expected
    assert log.complete.tolist() == [len(variant) < length for variant, _ in log]


@given(CASES)
def test_other_activities_drop_what_they_do_not_name(cases: list[list[str]]) -> None:
    """Events of unnamed activities vanish; the cases stay."""
    kept = VariantCounts.from_cases(cases).project_onto(["z", "c", "a"])
    assert dict(kept) == Counter(tuple(x for x in c if x in "ac") for c in cases)
    assert kept.activities == ("z", "c", "a")


def test_variants_of_another_unit_are_others() -> None:
    """Their noise has to hide other numbers of cases."""
    counted = VariantCounts.of({("a",): 3})
    assert counted == replace(counted)
    assert counted != replace(counted, unit=Unit(person="patient", max_cases=2))


def test_no_variant_has_a_count_below_zero() -> None:
    """It would take cases away from the sums that noise is added to."""
    with pytest.raises(SettingError, match="count"):
        VariantCounts.of({("a",): 3, ("b",): -1})


def walk(variants: VariantCounts, length: int) -> list[Counter[tuple[int, ...]]]:
    """Count all prefixes up to a length: an end is spelled as one more step, -1."""
    prefixes, spelled, levels = Prefixes(variants), [()], []
    for _ in range(length):
        candidates, counts = prefixes.count()
        rows, steps = np.divmod(candidates, len(variants.activities) + 1)
        ends = steps == len(variants.activities)
        taken = [
            (*spelled[row], step)
            for row, step in zip(rows.tolist(), np.where(ends, -1, steps).tolist(), strict=True)
        ]
        levels.append(Counter(dict(zip(taken, counts.tolist(), strict=True))))
        prefixes.keep(candidates[~ends])
        spelled = [prefix for prefix, end in zip(taken, ends, strict=True) if not end]
    return levels


@given(CASES, st.integers(1, 7))
def test_prefix_counts_are_those_of_the_cases(cases: list[list[str]], length: int) -> None:
    """Each level counts the cases that begin with each prefix, and those finished there."""
    levels = walk(VariantCounts.of(Counter(map(tuple, cases)), "abcd"), length)
    spelled = [tuple("abcd".index(x) for x in case) for case in cases]
    for number, level in enumerate(levels, start=1):
        begins = Counter(c[:number] for c in spelled if len(c) >= number)
        ends = Counter((*c, -1) for c in spelled if len(c) == number - 1)
        assert level == begins + ends


@given(CASES, st.integers(1, 5), st.lists(st.sampled_from("abcd"), max_size=6))
def test_one_case_changes_each_level_by_one(
    cases: list[list[str]], length: int, case: list[str]
) -> None:
    """The sensitivity of a level, ends included, is 1: what the price of a level rests on."""
    before, after = (
        walk(VariantCounts.of(Counter(map(tuple, log)), "abcd"), length)
        for log in (cases, [*cases, case])
    )
    for smaller, larger in zip(before, after, strict=True):
        assert not smaller - larger
        assert (larger - smaller).total() <= 1


def test_only_prefixes_that_are_kept_are_walked() -> None:
    """What was dropped is not counted again, and what no case has counts nothing."""
    prefixes = Prefixes(VariantCounts.of({("a", "b"): 3, ("b", "a"): 2}))
    nobodys, b = 2, 1
    assert prefixes.count()[0].tolist() == [0, b]
    prefixes.keep(np.array([nobodys, b]))
    candidates, counts = prefixes.count()
    width, a = 3, 0
    assert (candidates.tolist(), counts.tolist()) == ([1 * width + a], [2])


def test_a_truncated_case_neither_goes_on_nor_ends() -> None:
    """How it went on is unknown: only the whole case counts as an end."""
    prefixes = Prefixes(VariantCounts.from_cases([["a", "b"], ["a"]]).truncate(1))
    candidates, counts = prefixes.count()
    assert (candidates.tolist(), counts.tolist()) == ([0], [2])
    prefixes.keep(candidates)
    ended, counts = prefixes.count()
    assert (ended % (len("ab") + 1) == len("ab")).all() and counts.tolist() == [1]
