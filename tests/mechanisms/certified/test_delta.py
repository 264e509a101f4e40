"""The budget (ε, δ): settings, promises that add up, and releases of every kind."""

from fractions import Fraction

import pytest

from sacofa import Certified
from sacofa.errors import SettingError
from sacofa.kernel.accounting import ZCDP, PureDP, Spend
from sacofa.kernel.attributes import Attribute
from sacofa.kernel.unit import Unit

MILLIONTH = Fraction(1, 10**6)
CHANNEL = Attribute(name="channel", of_case=True)


@pytest.mark.parametrize("written", ["1e-6", "1/1000000", 1e-6, MILLIONTH, "0.000001"])
def test_delta_is_taken_exactly_as_it_is_written(written: Fraction) -> None:
    assert Certified(epsilon=1, delta=written).delta == MILLIONTH


@pytest.mark.parametrize("written", [-1e-6, "-1/2", "0.002", 1, "nan", "inf", "", None, True])
def test_a_delta_that_is_no_protection_is_refused(written: Fraction) -> None:
    with pytest.raises(SettingError) as error:
        Certified(epsilon=1, delta=written)
    assert error.value.name == "delta"


@pytest.mark.parametrize("none", [0, "0", 0.0, Fraction(0), "0.0"])
def test_without_delta_the_budget_is_epsilon(none: Fraction) -> None:
    mechanism = Certified(epsilon="1/3", delta=none)
    assert mechanism.budget == PureDP(Fraction(1, 3))
    assert mechanism == Certified(epsilon="1/3")
    promise = mechanism.promise(Unit())
    assert (promise.budget, promise.epsilon, promise.delta) == (None, Fraction(1, 3), 0)


@pytest.mark.parametrize("time", [False, True])
@pytest.mark.parametrize("attributes", [(), (CHANNEL,)])
def test_what_is_promised_adds_up_to_the_budget(
    time: bool, attributes: tuple[Attribute, ...]
) -> None:
    mechanism = Certified(epsilon="1/3", delta="1e-7", time=time, attributes=attributes)
    promise = mechanism.promise(Unit())
    assert isinstance(promise.budget, ZCDP)
    spent = sum((a.amount for a in promise.accesses if isinstance(a, Spend)), Fraction(0))
    assert spent == promise.budget.amount == mechanism.price
    assert (promise.epsilon, promise.delta) == (Fraction(1, 3), Fraction(1, 10**7))
    assert 0 < promise.budget.selection < promise.budget.delta
