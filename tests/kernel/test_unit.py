"""Units: what is refused, because no reader could keep to it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sacofa.errors import SettingError
from sacofa.events import ReadOptions
from sacofa.kernel.unit import MAX_CASES_BOUND, Unit

WRONG = [Fraction(3, 2), Fraction(2), 1.5, 2.0, "2", True, np.int64(2), None, 0, -1, 10**6 + 1]


@pytest.mark.parametrize("max_cases", WRONG, ids=repr)
def test_only_whole_numbers_of_cases_are_taken(max_cases: Any) -> None:
    """Noise for 3/2 cases does not hide the two that would be counted of each person."""
    with pytest.raises(SettingError, match="max_cases"):
        Unit(person="p", max_cases=max_cases)
    with pytest.raises(SettingError, match="max_cases"):
        ReadOptions(person="p", max_cases=max_cases)


@pytest.mark.parametrize("max_cases", [1, 2, MAX_CASES_BOUND])
def test_whole_numbers_are_taken(max_cases: int) -> None:
    """As they are."""
    assert Unit(person="p", max_cases=max_cases).max_cases == max_cases
    assert ReadOptions(person="p", max_cases=max_cases).unit == Unit(
        person="p", max_cases=max_cases
    )


def test_several_cases_need_a_person() -> None:
    """A case is one case, in whichever period."""
    with pytest.raises(SettingError, match="given together with person"):
        Unit(max_cases=2)
    with pytest.raises(SettingError, match="given together with person"):
        Unit(per_period=True)
