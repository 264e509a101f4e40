"""How ε is divided: exact fractions that add up."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from sacofa.errors import SettingError
from sacofa.mechanisms.certified import Certified
from sacofa.mechanisms.certified.budget import Shares
from sacofa.rules.rules import Rules


@pytest.mark.parametrize("max_length", [None, 5])
@pytest.mark.parametrize("rules", [None, Rules.free(("a",))], ids=["no rules", "rules"])
def test_shares_add_up(max_length: int | None, rules: Rules | None) -> None:
    """Whether frequent variants are shown or not, the queries cost ε."""
    settings = Certified(epsilon=Fraction(2, 3), max_length=max_length, rules=rules)
    for activities in (5, 500):
        whole = settings.split(activities)
        for small, tiny, hidden in product((False, True), repeat=3):
            split = whole.for_size(small=small, tiny=tiny, hidden=hidden)
            lines = split.size + split.length + split.activities + split.semantics
            assert lines + split.counts == 1
            votes = split.size_again + split.search
            assert votes + split.frequent + split.final(frequent=True) == split.counts
            assert votes + split.final(frequent=False) == split.counts
            for frequent in (False, True):
                trigrams = split.trigrams(frequent=frequent)
                left = split.final(frequent=frequent, trigrams=True)
                assert trigrams > 0 < left
                assert trigrams + left == split.final(frequent=frequent)
            # The first line of the promise is the same whatever is answered.
            assert split.size == whole.size
            # What is hidden is not asked.
            assert (split.activities > 0) != hidden
            for mean in (0.0, 1.0, 7.3, 10.0, 400.0):
                moved = split.for_length(mean)
                assert moved.semantics + moved.counts == split.semantics + split.counts
                assert moved.semantics > 0 and moved.final(frequent=True) > 0


def test_steps_of_long_cases_get_more() -> None:
    """Eight hundredths for each doubling, within bounds; nothing at the usual length."""
    split = Certified(epsilon=1).split()
    moved = [split.for_length(mean).semantics - split.semantics for mean in (1, 6, 10, 20, 999)]
    assert moved == [Fraction(part, 100) for part in (-4, -4, 0, 8, 10)]


def test_shares_leave_something_for_the_final_vote() -> None:
    """Shares of 1 and more, or of nothing, are refused."""
    for bad in (
        {"semantics": Fraction(9, 10)},
        {"size": Fraction(0)},
        {"frequent": Fraction(-1)},
        {"tiny": Shares().activities},
    ):
        with pytest.raises(SettingError):
            Shares(**bad)
