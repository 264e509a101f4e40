"""Pairs are neighbours, and logs that are not are refused."""

from __future__ import annotations

from decimal import Decimal

import pytest

from sacofa import Certified, Laplace, Sacofa, VariantCounts
from sacofa.audit import (
    Pair,
    attribute_pairs,
    built_in_pairs,
    make_minimal,
    pairs_around,
    persons_around,
    persons_pair,
    threshold_of,
    timed_pairs,
)
from sacofa.errors import SettingError
from sacofa.examples import running_example
from sacofa.kernel import queries
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.noise import Noise
from sacofa.kernel.reals import tail
from sacofa.kernel.unit import ONE_CASE
from sacofa.mechanisms import perform
from sacofa.rules import learn_rules


@pytest.mark.parametrize("threshold", [1, 2, 70])
def test_built_in_pairs_are_neighbours(threshold: int) -> None:
    """One log of each pair has one case more, and nothing else is different."""
    for pair in built_in_pairs(threshold):
        pair.check_neighbours()
    persons_pair(4).check_neighbours()


def kinds_of_queries() -> set[type]:
    """All queries that there are: whatever has cells, or counts them, and a name of its own."""
    return {
        kind
        for module in (queries.flow, queries.times, queries.attributes, queries.histogram)
        for kind in vars(module).values()
        if isinstance(kind, type)
        and kind.__module__ == module.__name__
        and (hasattr(kind, "table") or hasattr(kind, "counts"))
        and not getattr(kind, "_is_protocol", False)
    }


def test_every_query_is_asked_on_some_built_in_pair() -> None:
    """But for 3-grams, which are asked of large logs: tests of their own look at these."""
    certified = make_minimal("certified", {"epsilon": 1})
    pairs = (
        *built_in_pairs(threshold_of(certified, ONE_CASE)), *timed_pairs(), *attribute_pairs(),
    )  # fmt: skip
    asked = {
        type(answer.query)
        for pair in pairs
        for answer in perform(certified, pair.larger_cases, Noise(SeededBits(1))).answers
    }
    assert kinds_of_queries() - asked == {queries.flow.TrigramVotes}


def test_pairs_around_a_log_are_neighbours_of_one_another() -> None:
    """Each pair differs by one case; all but the one at the threshold hold the log itself."""
    log = running_example()
    pairs = pairs_around(log, 3)
    assert {pair.name for pair in pairs} == {
        "rules", "rare", "frequent", "long case", "no events", "new variant", "threshold",
    }  # fmt: skip
    for pair in pairs:
        pair.check_neighbours()
        assert pair.name == "threshold" or log in (pair.smaller, pair.larger)
    person = persons_around(log, 3)
    person.check_neighbours()
    assert person.larger.cases == log.cases + 3


def test_the_case_that_changes_the_rules_does() -> None:
    """With it and without it the rules of the log are different."""
    for pairs in (built_in_pairs(2), pairs_around(running_example(), 3)):
        rules = next(pair for pair in pairs if pair.name == "rules")
        one, other = learn_rules(rules.smaller), learn_rules(rules.larger)
        parts = ("never_follows", "always_follows", "always_precedes", "starts")
        assert any((getattr(one, part) != getattr(other, part)).any() for part in parts)


def test_the_threshold_is_that_of_the_mechanism() -> None:
    """The count goes from one below the threshold to it."""
    assert threshold_of(Laplace(level_epsilon=1, max_length=3, prune=7), ONE_CASE) == 7
    sacofa = Sacofa(level_epsilon=1, max_length=3, prune_harmless=4, prune_harmful=9)
    assert threshold_of(sacofa, ONE_CASE) == 4
    small = make_minimal("certified", {"epsilon": 1})
    # Of the 11 sequences up to length 2 at most 1/10 passes by chance, at the share of the counts.
    assert isinstance(small, Certified)
    price = small.shares.frequent
    passed = [11 * tail(price, threshold_of(small, ONE_CASE) - less)(20) for less in (0, 1)]
    assert passed[0] <= Decimal("0.1") < passed[1]
    pair = next(pair for pair in built_in_pairs(4) if pair.name == "threshold")
    assert dict(pair.smaller)[("b",)] == 3
    assert dict(pair.larger)[("b",)] == 4


LOG = {("a",): 5, ("a", "b"): 2}


@pytest.mark.parametrize(
    "other",
    [LOG, {("a",): 7, ("a", "b"): 2}, {("a",): 6, ("a", "b"): 1}, {("a",): 6}],
    ids=["the same", "two more", "one changed", "one more, two fewer"],
)
def test_strangers_are_refused(other: dict[tuple[str, ...], int]) -> None:
    """Logs that do not differ by one added case prove nothing about ε."""
    names = ["a", "b"]
    pair = Pair(
        name="odd",
        what="too much",
        smaller=VariantCounts.of(LOG, names),
        larger=VariantCounts.of(other, names),
    )
    with pytest.raises(SettingError, match="1 to 1 cases more"):
        pair.check_neighbours()


def test_logs_over_different_activities_are_refused() -> None:
    """The activities are public, so neighbours have the same."""
    pair = Pair(
        name="odd",
        what="names",
        smaller=VariantCounts.of({("a",): 1}, ["a"]),
        larger=VariantCounts.of({("a",): 2}, ["a", "b"]),
    )
    with pytest.raises(SettingError):
        pair.check_neighbours()


def test_an_empty_log_has_no_neighbour_below() -> None:
    """Pairs are built around a log that has cases."""
    with pytest.raises(SettingError, match="at least one case"):
        pairs_around(VariantCounts.of({}, ["a"]), 2)
