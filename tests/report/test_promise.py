"""A certificate in plain words says neither more nor less than holds."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from sacofa.kernel.accounting import Leak, Spend
from sacofa.kernel.unit import Unit
from sacofa.report.promise import (
    explain_epsilon,
    say_factor,
    say_number,
    say_promise,
    say_reasons,
    say_spent,
)

from .releases import hospital, leaking


def test_the_promise_names_the_factor() -> None:
    """ε = 1 is a factor of e."""
    certificate = hospital().certificate
    assert certificate.epsilon == 1
    assert "about one case" in say_promise(certificate)
    assert "a factor of at most 2.72" in say_promise(certificate)
    assert say_reasons(certificate) == ()


def test_a_person_is_called_a_person() -> None:
    """Where a person with several cases is protected the sentence says so."""
    unit = Unit(person="patient", max_cases=3)
    certificate = replace(hospital().certificate, unit=unit)
    assert "about one person" in say_promise(certificate)


def test_a_release_without_a_finite_price_promises_nothing() -> None:
    """A leak is named, with what follows from it."""
    certificate = leaking().certificate
    assert certificate.epsilon is None
    assert "no mathematical promise" in say_promise(certificate)
    assert "factor" not in say_promise(certificate)
    (reason,) = say_reasons(certificate)
    assert "rules" in reason


def test_a_seeded_release_must_not_be_published() -> None:
    """A seed is said before anything else, whatever the price."""
    assert "must not be published" in say_promise(hospital(seed=3).certificate)


@pytest.mark.parametrize("epsilon", ["1/100", "1/10", "1/3", "1", "23", "1000000"])
def test_beliefs_move_by_just_the_factor(epsilon: str) -> None:
    """The odds of a belief change by e^ε upwards and downwards, and no further."""
    price = Fraction(epsilon)
    for belief in explain_epsilon(price).beliefs:
        assert 0 <= belief.least <= belief.before <= belief.most <= 1
        if price <= 1:
            odds = [p / (1 - p) for p in (belief.least, belief.before, belief.most)]
            assert odds[1] / odds[0] == pytest.approx(math.exp(price))
            assert odds[2] / odds[1] == pytest.approx(math.exp(price))


def test_factors_and_prices_read_well() -> None:
    """No digits without meaning, no overflow."""
    assert say_factor(Fraction(1, 10)) == "1.11"
    assert say_factor(Fraction(10)) == "22,000"
    assert say_factor(Fraction(10**6)) == "10 to the power of 434294 and more"
    assert say_number(Fraction(1, 10)) == "0.1"
    assert say_number(Fraction(1, 3)) == "1/3"
    assert say_number(Fraction(12_345_678)) == "12,345,678"
    assert explain_epsilon(Fraction(1, 10)).strength == "very strong"
    assert explain_epsilon(Fraction(9)).strength == "next to nothing"


def test_the_account_adds_up() -> None:
    """Runs of one price are told once, with how often and what they come to."""
    looks = tuple(Spend(what=f"level {i}", amount=Fraction(1, 10)) for i in range(1, 8))
    leak = Leak(what="rules", why="unpaid")
    lines = list(say_spent((leak, Spend(what="size", amount=Fraction(1, 20)), *looks)))
    assert [(line.price, line.times, line.total) for line in lines] == [
        ("nothing", 1, "no limit"),
        ("0.05", 1, "0.05"),
        ("0.1", 7, "0.7"),
    ]
    assert lines[0].leak == "unpaid"
    assert lines[2].what == "level 1 … level 7"


def test_prices_of_queries_are_short() -> None:
    """Nobody compares fractions of large numbers; the certificate has them exact."""
    prices = [Fraction(1, 3), Fraction(41, 1000), Fraction(10_909, 109_785), Fraction(91, 1500)]
    lines = say_spent(tuple(Spend(what="x", amount=price) for price in prices))
    assert [line.price for line in lines] == ["1/3", "0.041", "≈ 0.0994", "≈ 0.0607"]
