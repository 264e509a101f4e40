"""A release from several: price and unit follow from what the certificates say, sizes add up."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sacofa import Certified, Laplace, VariantCounts, anonymize, write_release
from sacofa.errors import ReadError, SettingError
from sacofa.evaluate.measures.flow import steps_distance
from sacofa.events import open_log
from sacofa.events.periods import Period
from sacofa.examples import running_example
from sacofa.kernel.accounting import Leak
from sacofa.kernel.statements import Statement
from sacofa.kernel.unit import Unit
from sacofa.release import Release, read_release, verify
from sacofa.release.certificate import PeriodStatement
from sacofa.release.combine import cases_margin, combine, combine_files
from sacofa.release.read import read_earlier, start_from
from tests.report.releases import with_parts

MECHANISM = Laplace(level_epsilon="1/4", max_length=2, prune=1)
BASE = anonymize(running_example(), MECHANISM, seed=3)


def made(
    period: str | None = None,
    series: str | None = "s",
    *,
    epsilon: str = "1/4",
    unit: Unit | None = None,
) -> Release:
    """A release of a period, with a certificate of its own."""
    mechanism = replace(MECHANISM, level_epsilon=epsilon)
    certificate = replace(
        anonymize(VariantCounts.of({("a",): 9}), mechanism, seed=1).certificate,
        period=None
        if period is None
        else PeriodStatement(period=Period.parse(period), series=series),
    )
    if unit is not None:
        certificate = replace(certificate, unit=unit)
    return replace(BASE, certificate=certificate)


def price(*releases: Release) -> Fraction | None:
    """What they cost together."""
    return combine(releases).certificate.epsilon


def test_periods_of_a_series_cost_what_the_dearest_does() -> None:
    """Others add up, and so do several releases of one period."""
    half = Fraction(1, 2)
    assert price(made("2025-01"), made("2025-02")) == half
    assert price(made("2025-01"), made("2025-02", epsilon="1/2")) == 1
    assert price(made("2025-01"), made("2025-01")) == 2 * half
    assert price(made("2025-01"), made("2025-02", "other")) == 2 * half
    assert price(made("2025-01", None), made("2025-02", None)) == 2 * half
    assert price(made("2025-01"), made("2025-02"), made(None)) == 2 * half


def test_persons_pay_for_every_period_unless_each_stands_for_itself() -> None:
    """And the unit says so."""
    person = Unit(person="p", max_cases=2)
    both = combine([made("2025-01", unit=person), made("2025-02", unit=person)]).certificate
    assert (both.epsilon, both.unit.max_cases) == (1, 4)
    # Each is listed by itself: a person may have cases in both.
    assert len(both.spent) == 2
    each = replace(person, per_period=True)
    both = combine([made("2025-01", unit=each), made("2025-02", unit=each)]).certificate
    assert (both.epsilon, both.unit.max_cases) == (Fraction(1, 2), 2)
    assert Statement("note.per_person_period", epsilon=1) in both.notes
    units = [person, each, Unit(), replace(person, person="q"), replace(each, person="q")]
    for one in units:
        for other in units:
            if one is not other:
                with pytest.raises(SettingError, match="same unit of privacy"):
                    price(made("2025-01", unit=one), made("2025-02", unit=other))


def test_person_periods_add_up_where_they_overlap() -> None:
    """January and the year share the cases of January; cases never do."""
    each = Unit(person="p", max_cases=2, per_period=True)
    jan, feb, year = (made(name, unit=each) for name in ("2025-01", "2025-02", "2025"))
    assert price(jan, feb) == Fraction(1, 2)
    assert price(jan, year) == 1
    assert price(jan, feb, year) == Fraction(3, 2)
    assert price(made("2025-01"), made("2025-02"), made("2025")) == Fraction(1, 2)


SEEDED = Statement("limit.seeded")


@pytest.mark.parametrize("seeded", [(), (0,), (1,), (2,), (0, 2), (0, 1, 2)])
def test_a_combination_may_be_published_if_all_parts_may(seeded: tuple[int, ...]) -> None:
    """Noise that anyone can draw again hides nothing, wherever it is."""
    parts = [
        replace(
            part,
            certificate=replace(
                part.certificate,
                publishable=number not in seeded,
                not_promised=(SEEDED,) if number in seeded else (),
            ),
        )
        for number, part in enumerate((made("2025-01"), made("2025-02"), made("2025-03")))
    ]
    both = combine(parts).certificate
    assert both.publishable == (not seeded)
    assert (SEEDED in both.not_promised) == bool(seeded)


def test_a_combination_says_what_a_copy_of_the_ledger_means() -> None:
    """Both copies name one series, and the certificates do not reveal that there were two."""

    def said(*releases: Release) -> bool:
        lines = combine(releases).certificate.assumptions
        return Statement("assumption.one_ledger", releases=2, epsilon=1) in lines

    assert said(made("2025-01"), made("2025-02"))
    assert not said(made("2025-01", "a"), made("2025-02", "b"))
    assert not said(made("2025-01", None), made("2025-02", None))


def test_what_has_no_finite_price_has_none_with_others() -> None:
    """One release that read something without payment is enough."""
    leak = Leak(what="rules", why="they were read off the log")
    leaking = replace(BASE, certificate=replace(made(None).certificate, spent=(leak,)))
    assert price(leaking, made(None)) is None
    assert price(made(None), leaking) is None


def test_cases_add_up(tmp_path: Path) -> None:
    """Variant by variant, over all activities of either; and the file can be read back."""
    one = anonymize(VariantCounts.of({("a", "b"): 50}), MECHANISM, seed=1)
    other = anonymize(VariantCounts.of({("a", "c"): 50}), MECHANISM, seed=1)
    both = combine([one, other])
    assert both.variants.cases == one.variants.cases + other.variants.cases
    assert both.variants.activities == ("a", "b", "c")
    assert both.certificate.epsilon == 1 and not both.certificate.publishable
    write_release(both, tmp_path / "both.csv")
    assert verify(tmp_path / "both.csv").holds
    with pytest.raises(ReadError, match="is a combination itself"):
        combine_files([tmp_path / "both.csv", tmp_path / "both.csv"])


def test_times_stay_with_their_cases() -> None:
    """Where all releases have them."""
    times = np.arange(BASE.variants.events, dtype=np.int64) * 1000
    timed = with_parts(BASE, times=times)
    both = combine([timed, timed])
    assert both.times is not None and both.by_case is not None
    assert sorted(both.times.tolist()) == sorted([*times.tolist(), *times.tolist()])
    assert timed.by_case is not None
    first = {
        (ids, tuple(timed.by_case.times[a:b].tolist()))  # type: ignore[index]
        for ids, a, b in zip(
            timed.by_case.sequences(),
            timed.by_case.offsets,
            timed.by_case.offsets[1:],
            strict=False,
        )
    }
    again = {
        (ids, tuple(both.by_case.times[a:b].tolist()))  # type: ignore[index]
        for ids, a, b in zip(
            both.by_case.sequences(), both.by_case.offsets, both.by_case.offsets[1:], strict=False
        )
    }
    assert first == again
    mixed = combine([timed, BASE])
    assert mixed.times is None and any(
        note.code == "note.combined_artificial_times" for note in mixed.certificate.notes
    )


def test_what_cannot_be_put_together_is_refused(tmp_path: Path) -> None:
    """One alone, or one twice."""
    with pytest.raises(SettingError, match="two or more"):
        combine([BASE])
    write_release(BASE, tmp_path / "a.csv")
    with pytest.raises(SettingError, match="different releases"):
        combine_files([tmp_path / "a.csv", tmp_path / "a.csv"])


def test_the_range_of_the_size_holds_in_95_of_100_runs() -> None:
    """And not in all of them: half of it is too small."""
    log = VariantCounts.of({("a",): 300, ("a", "b"): 200})
    mechanism = Certified(epsilon=1, **Certified.minimal)
    inside = close = 0
    runs = 40
    for run in range(runs):
        parts = [anonymize(log, mechanism, seed=1000 * run + n) for n in range(3)]
        margin = cases_margin([part.certificate for part in parts])
        assert margin is not None
        off = abs(combine(parts).variants.cases - 3 * log.cases)
        inside += off <= margin
        close += off <= margin / 3
    assert inside >= 0.85 * runs
    assert close < 0.8 * runs


def test_months_beat_a_twelfth_each() -> None:
    """On a log of twelve months: what is put together is nearer to the log."""
    month = VariantCounts.of(
        {("a", "b", "c", "d"): 60, ("a", "c", "b", "d"): 40, ("a", "e", "d"): 25, ("a", "d"): 15}
    )
    names = list("abcde")

    def year(epsilon: Fraction) -> Release:
        mechanism = Certified(epsilon=epsilon)
        return combine([anonymize(month, mechanism, activities=names, seed=n) for n in range(12)])

    whole = steps_distance(month, year(Fraction(1)).variants)
    assert whole < 0.5 * steps_distance(month, year(Fraction(1, 12)).variants)


def test_earlier_releases_are_candidates(tmp_path: Path) -> None:
    """They are named as public, and what is not publishable is no public release."""
    release = anonymize(running_example(), MECHANISM)
    write_release(release, tmp_path / "1.csv")
    write_release(BASE, tmp_path / "seeded.csv")
    helped = start_from(Certified(epsilon=1), [tmp_path / "1.csv"])
    assert isinstance(helped, Certified) and helped.earlier is not None
    assert helped.earlier.cases == release.variants.cases
    later = anonymize(running_example(), helped, seed=1).certificate
    assert any(line.code == "assumption.earlier" for line in later.assumptions)
    assert later.epsilon == 1
    with pytest.raises(ReadError, match="must not be published"):
        read_earlier([tmp_path / "seeded.csv"])
    with pytest.raises(SettingError, match="left out for laplace"):
        start_from(MECHANISM, [tmp_path / "1.csv"])


def with_attributes(folder: Path, name: str, columns: str, value: str) -> Release:
    """A release of a log with two attributes and times, all of one value."""
    path = folder / f"{name}.csv"
    rows = [f"{i},a,2025-01-0{1 + i % 9}T10:00:00,{value},{i % 2}" for i in range(60)]
    path.write_text("\n".join([f"case,activity,timestamp,case:kind,{columns}", *rows]))
    log = open_log(path, attribute=("case:kind", columns))
    return anonymize(log, Certified(epsilon=50), seed=2)


def test_attributes_that_all_have_stay(tmp_path: Path) -> None:
    """Each case keeps its own, the file can be read back, and what is left out is named."""
    one = with_attributes(tmp_path, "one", "paid", "x")
    other = with_attributes(tmp_path, "other", "left", "y")
    both = combine([one, other])
    (kind,) = both.columns
    assert kind.key == "case:kind" and set(kind.texts) >= {"x", "y"}
    many = dict(
        zip(kind.texts, np.bincount(kind.codes + 0, minlength=len(kind.texts)), strict=True)
    )
    assert {many["x"], many["y"]} == {one.variants.cases, other.variants.cases}
    left_out = Statement("note.attributes_left_out", attributes=("left", "paid"))
    assert left_out in both.certificate.notes
    write_release(both, tmp_path / "both.csv")
    (again,) = read_release(tmp_path / "both.csv").columns
    assert again.key == kind.key
    assert np.bincount(again.codes).tolist() == sorted(np.bincount(kind.codes).tolist())
    # Whoever takes the earlier release twice gets every value twice, in the order of the cases.
    twice = combine([one, replace(one, certificate=other.certificate)])
    assert [column.key for column in twice.columns] == [column.key for column in one.columns]
    for before, after in zip(one.columns, twice.columns, strict=True):
        assert (np.bincount(after.codes + 1) == 2 * np.bincount(before.codes + 1)).all()
