"""Variants with counts: the same log gives the same object, however it is given."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from sacofa.prefixes import count_prefixes
from sacofa.variants import VariantCounts

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
    cut = VariantCounts.from_cases(cases).cut(length)
    expected = Counter((tuple(c[:length]), len(c) <= length) for c in cases)
    pairs = zip(cut, cut.finished.tolist(), strict=True)
    assert {(variant, flag): n for (variant, n), flag in pairs} == expected


@given(CASES)
def test_other_activities_drop_what_they_do_not_name(cases: list[list[str]]) -> None:
    """Events of unnamed activities vanish; the cases stay."""
    kept = VariantCounts.from_cases(cases).over(["z", "c", "a"])
    assert dict(kept) == Counter(tuple(x for x in c if x in "ac") for c in cases)
    assert kept.activities == ("z", "c", "a")


@given(CASES, st.integers(1, 7))
def test_prefix_counts_are_those_of_the_cases(cases: list[list[str]], length: int) -> None:
    """Each level counts the cases that begin with each prefix, and those finished there."""
    variants = VariantCounts.from_cases(cases)
    levels = count_prefixes(variants, length)
    names = variants.activities
    spelled = [()]
    for number, level in enumerate(levels):
        if number:
            spelled = [
                (*spelled[parent], names[activity])
                for parent, activity in zip(
                    level.parents.tolist(), level.activities.tolist(), strict=True
                )
            ]
        begins = Counter(tuple(c[:number]) for c in cases if len(c) >= number)
        ends = Counter(tuple(c) for c in cases if len(c) == number)
        assert dict(zip(spelled, level.counts.tolist(), strict=True)) == (begins or {(): 0})
        assert dict(zip(spelled, level.finished.tolist(), strict=True)) == {
            prefix: ends[prefix] for prefix in spelled
        }


@given(CASES, st.integers(1, 5), st.sampled_from("abcd"), st.integers(0, 6))
def test_one_case_changes_each_level_by_one(
    cases: list[list[str]], length: int, name: str, size: int
) -> None:
    """The sensitivity of a level, ends included, is 1: what the price of a level rests on."""
    activities = "abcd"
    more = [*cases, [name] * size]
    for number in range(1, length + 1):
        tables = []
        for log in (cases, more):
            variants = VariantCounts.of(Counter(map(tuple, log)), activities)
            levels = count_prefixes(variants, number)
            cells: Counter[object] = Counter()
            if len(levels) > number:
                level = levels[number]
                for i, n in enumerate(level.counts.tolist()):
                    cells[_spell(levels, number, i)] = n
            for i, n in enumerate(
                levels[number - 1].finished.tolist() if len(levels) >= number else []
            ):
                cells[(*_spell(levels, number - 1, i), "end")] = n
            tables.append(cells)
        before, after = tables
        change = {key: after[key] - before[key] for key in before | after}
        assert sum(abs(x) for x in change.values()) <= 1


def _spell(levels: list, number: int, place: int) -> tuple[int, ...]:
    spelled: list[int] = []
    while number:
        spelled.append(int(levels[number].activities[place]))
        place = int(levels[number].parents[place])
        number -= 1
    return tuple(reversed(spelled))
