"""Public domains: every text takes a cell, whatever it is, and nothing is refused."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sacofa.base.cells import cell_of, cells_of
from sacofa.base.domains import (
    ALL_DATES,
    ALL_NUMBERS,
    MAX_BINS,
    Categories,
    Dates,
    Numbers,
    YesNo,
    found_domain,
    labels_of,
    read_number,
)
from sacofa.errors import SettingError
from sacofa.kernel.attributes import Domain

DOMAINS: tuple[Domain, ...] = (
    Categories(names=("a", "b")),
    Categories(names=("x", "y"), groups={"a": "x", "b": "x", "c": "y"}),
    YesNo(),
    ALL_NUMBERS,
    Numbers(edges=(Decimal(0), Decimal(10), Decimal(20)), unit=Decimal(1)),
    Numbers.between(Decimal(0), Decimal(1000), Decimal("0.5")),
    ALL_DATES,
    Dates.between(date(2020, 1, 1), date(2020, 12, 31), "month"),
    Numbers.between(Decimal(0), Decimal(250), Decimal(1)),
    Numbers.between(Decimal(0), Decimal(100), Decimal(10)),
    Dates.between(date(9999, 1, 1), date(9999, 12, 31), "day"),
)
ODD = [
    "", " ", "nan", "NaN", "inf", "-inf", "1e300", "-1e300", "1e400", "0x10", "1_000", "١٢", "𝟙",
    "9" * 5000, "0001-01-01", "9999-12-31T23:59:59+14:00", "0001-01-01T00:00:00-14:00", "\x00",
    "2020-06-31", "true", "TRUE ", "-0", "1e-400", "null", "None",
]  # fmt: skip


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: type(domain).__name__)
@given(st.one_of(st.sampled_from(ODD), st.text(), st.floats().map(str), st.integers().map(str)))
def test_every_text_takes_a_cell(domain: Domain, text: str) -> None:
    """Odd ones too: no value of a log is an error."""
    assert 0 <= cell_of(domain, text) < cells_of(domain) == len(labels_of(domain))
    assert cell_of(domain, None) == cells_of(domain) - 1


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1.5", 1.5), ("1,5", 1.5), (" 1,50 ", 1.5), ("-0,25", -0.25), ("1234,5678", 1234.5678),
        ("1.234,5", 1234.5), ("1.234.567,125", 1234567.125), ("1,234.5", 1234.5), ("1e3", 1000.0),
        ("1,234", None), ("1,2,3", None), ("1.23,4", None), (",5", None), ("x", None),
    ],
)  # fmt: skip
def test_numbers_with_a_comma(text: str, number: float | None) -> None:
    """Each is read by itself; what may be two numbers is none."""
    assert read_number(text) == number


def test_blanks_and_what_is_no_number_are_missing() -> None:
    """Missing is a cell of its own, and so is what is none of the values."""
    numbers = DOMAINS[4]
    found = [
        cell_of(numbers, text) for text in ("", " ", "nan", "inf", "x", "0", "9.9", "10", "20")
    ]
    assert found == [3, 3, 3, 2, 2, 0, 0, 1, 1]
    assert [cell_of(YesNo(), text) for text in ("no", "True", "1", "maybe", "")] == [0, 1, 1, 2, 3]
    assert [cell_of(DOMAINS[1], text) for text in ("a", "b", "c", "d", "x")] == [0, 0, 1, 2, 2]


def test_released_numbers_lie_in_their_bin_at_their_unit() -> None:
    """Whatever chance says; and so do those of the public bins."""
    for domain in DOMAINS:
        for value in range(domain.values):
            for chance in (0.0, 0.3, 0.999999):
                if isinstance(domain, Numbers):
                    text = domain.sample(value, chance)
                    if domain.unit is not None:
                        assert (Decimal(text) - domain.edges[0]) % domain.unit == 0
                elif isinstance(domain, Dates):
                    text = domain.sample(value, chance)
                else:
                    continue
                assert domain.cell(text) == value, (domain, value, chance, text)


BOUNDS = st.decimals(-(10**6), 10**6, places=2)
CHANCES = st.floats(0, 1)


@given(
    low=BOUNDS,
    size=st.decimals("0.01", 10**4, places=2),
    unit=st.decimals("0.01", 500, places=2),
    beyond=st.decimals("0.01", 10**3, places=2),
    chance=CHANCES,
)
def test_numbers_end_where_it_was_said(
    low: Decimal, size: Decimal, unit: Decimal, beyond: Decimal, chance: float
) -> None:
    """Both ends are inside, what lies beyond is other, and nothing beyond is released."""
    high = low + size
    domain = Numbers.between(low, high, unit)
    assert domain.values <= MAX_BINS
    assert (domain.cell(str(low)), domain.cell(str(high))) == (0, domain.values - 1)
    assert domain.cell(str(high + beyond)) == domain.cell(str(low - beyond)) == domain.values
    for value in range(domain.values):
        text = domain.sample(value, chance)
        assert low <= Decimal(text) <= high
        assert domain.cell(text) == value
    assert Decimal(str(domain.describe().values["last"])) == high


def test_every_unit_can_be_released() -> None:
    """The last one too, and each where it belongs; few enough of them have a bin each."""
    grades = Numbers.between(Decimal(1), Decimal(5), Decimal(1))
    assert [grades.label(i) for i in range(grades.values)] == ["1", "2", "3", "4", "5"]
    ages = Numbers.between(Decimal(0), Decimal(250), Decimal(1))
    shown = {ages.sample(i, c / 3) for i in range(ages.values) for c in range(4)}
    assert shown == {str(age) for age in range(251)}
    assert [ages.cell(text) for text in ("250", "250.5", "251")] == [ages.values - 1, 84, 84]
    assert ages.label(ages.values - 1) == "249 – 250"


@given(
    first=st.dates(),
    days=st.integers(0, 800),
    by=st.sampled_from(["day", "month", "year"]),
    chance=CHANCES,
)
def test_days_end_where_it_was_said(first: date, days: int, by: str, chance: float) -> None:
    """Also in the middle of a month, and on the last day that there is."""
    last = date.fromordinal(min(first.toordinal() + days, date.max.toordinal()))
    domain = Dates.between(first, last, by)
    assert domain.cell(first.isoformat()) == 0
    assert domain.cell(last.isoformat()) == domain.values - 1
    if last < date.max:
        assert domain.cell((last + timedelta(days=1)).isoformat()) == domain.values
    for value in range(domain.values):
        day = domain.sample(value, chance)
        assert first.isoformat() <= day <= last.isoformat()
        assert domain.cell(day) == value


def test_domains_that_cannot_be_are_refused() -> None:
    """Before any log is read."""
    for make in (
        lambda: Categories(names=()),
        lambda: Categories(names=("a", "a")),
        lambda: Categories(names=tuple(map(str, range(1001)))),
        lambda: Numbers(edges=(Decimal(1),)),
        lambda: Numbers(edges=(Decimal(2), Decimal(1))),
        lambda: Numbers.between(Decimal(1), Decimal(0), Decimal(1)),
        lambda: Numbers.between(Decimal(0), Decimal(1), Decimal(0)),
        lambda: Numbers.between(Decimal(0), Decimal("1e300"), Decimal("1e-300")),
        lambda: Numbers(edges=(Decimal(0), Decimal("1e300")), unit=Decimal("1e-300")),
        lambda: Dates.between(date(2021, 1, 1), date(2020, 1, 1), "day"),
        lambda: Dates.between(date(2000, 1, 1), date(2020, 1, 1), "day"),
        lambda: Dates.between(date(2000, 1, 1), date(2020, 1, 1), "week"),
        lambda: Dates.between(date(1, 1, 1), date(9999, 12, 31), "year"),
        lambda: Dates(edges=()),
    ):
        with pytest.raises(SettingError):
            make()


def test_a_column_of_identifiers_has_no_value_of_its_own() -> None:
    """Its domain is one word that says nothing, so that no id is ever released."""
    assert found_domain([f"id{i}" for i in range(1000)], 200).names == ("other",)
    assert found_domain(["b", "a", " ", "b"], 200).names == ("a", "b")
    assert found_domain([], 200).names == ("other",)
