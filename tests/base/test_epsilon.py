"""ε is taken as it is written, and what cannot be an ε is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from sacofa.base.epsilon import LARGEST_EPSILON, parse_epsilon
from sacofa.errors import SettingError

WRITTEN = {0.1: "1/10", 1e-3: "1/1000", "0.1": "1/10", "1/3": "1/3", 2: "2", 0.3: "3/10"}


@pytest.mark.parametrize(("written", "exact"), WRITTEN.items(), ids=str)
def test_a_number_is_the_decimal_that_was_written(written: Any, exact: str) -> None:
    """The float 0.1 is a little more than a tenth, and ten of them would not fit a budget of 1."""
    assert parse_epsilon("epsilon", written) == Fraction(exact)


WRONG = [True, False, 0, -1, "0", "", "much", float("nan"), float("inf"), None, "1e999999999",
         "1/0", Fraction(1, 10**13), LARGEST_EPSILON + 1]  # fmt: skip


@pytest.mark.parametrize("written", WRONG, ids=repr)
def test_what_cannot_be_an_epsilon_is_refused(written: Any) -> None:
    """By the name of the setting; True is no number."""
    with pytest.raises(SettingError, match="epsilon"):
        parse_epsilon("epsilon", written)


def test_the_largest_epsilon_can_be_lifted() -> None:
    """A budget may be larger than any ε of a release."""
    assert parse_epsilon("epsilon", LARGEST_EPSILON) == LARGEST_EPSILON
    assert parse_epsilon("budget", 10**6, None) == 10**6
