"""Rules as a value."""

from __future__ import annotations

import numpy as np
import pytest

from sacofa.errors import SettingError
from sacofa.rules.learn import learn_rules
from sacofa.rules.rules import Rules

from .cases import RUNNING_EXAMPLE, random_rules


def test_never_precedes_is_never_follows_read_the_other_way() -> None:
    """b never precedes a where a never follows b."""
    rules = random_rules(np.random.default_rng(1), 5, 0.3)
    for a in range(5):
        for b in range(5):
            assert rules.never_precedes[a, b] == rules.never_follows[b, a]


def test_the_same_activities_in_another_order_lose_nothing() -> None:
    """Going to another order and back gives the same rules."""
    rules = random_rules(np.random.default_rng(2), 7, 0.3)
    there = rules.project_onto(tuple(reversed(rules.activities)))
    assert there.always_follows[0, 1] == rules.always_follows[6, 5]
    assert there.project_onto(rules.activities) == rules


def test_rules_about_absent_activities_vanish_and_unknown_ones_are_free() -> None:
    """Only pairs of known activities are restricted."""
    rules = learn_rules(RUNNING_EXAMPLE)
    moved = rules.project_onto(("Lunch", "Release", "Register"))
    assert not moved.never_follows[0].any() and not moved.never_follows[:, 0].any()
    assert moved.starts.tolist() == [True, False, True]
    assert moved.never_follows[1, 2] and moved.always_follows[2, 1] and moved.always_precedes[1, 2]


def test_a_start_rule_without_any_activity_left_vanishes() -> None:
    """Where no activity that may begin a case is left, any may begin."""
    rules = learn_rules(RUNNING_EXAMPLE)
    assert rules.project_onto(("Triage", "Release")).starts.all()


def test_free_rules_say_nothing() -> None:
    """Nothing is forbidden or demanded."""
    rules = Rules.free(("a", "b"))
    assert not (rules.never_follows | rules.always_follows | rules.always_precedes).any()
    assert rules.starts.all()


def test_rules_cannot_be_changed() -> None:
    """A frozen value has frozen arrays, apart from those it was made of."""
    given = np.zeros((1, 1), dtype=bool)
    rules = Rules(
        activities=("a",),
        never_follows=given,
        always_follows=given,
        always_precedes=given,
        starts=np.ones(1, dtype=bool),
        source="test",
    )
    with pytest.raises(ValueError, match="read-only"):
        rules.never_follows[0, 0] = True
    given[0, 0] = True
    assert not rules.never_follows[0, 0]


@pytest.mark.parametrize(
    ("kind", "cell", "never"),
    [
        ("always_follows", (0, 1), (0, 1)),
        ("always_precedes", (0, 1), (1, 0)),
        ("always_precedes", (1, 1), (0, 0)),
    ],
)
def test_contradictions_are_refused(
    kind: str, cell: tuple[int, int], never: tuple[int, int]
) -> None:
    """What always holds cannot never hold, and nothing comes before its own first time."""
    parts = {name: np.zeros((2, 2), dtype=bool) for name in ("always_follows", "always_precedes")}
    parts[kind][cell] = True
    forbidden = np.zeros((2, 2), dtype=bool)
    forbidden[never] = True
    with pytest.raises(SettingError, match="opposite"):
        Rules(
            activities=("a", "b"),
            never_follows=forbidden,
            **parts,
            starts=np.ones(2, dtype=bool),
            source="test",
        )


def test_wrong_shapes_are_refused() -> None:
    """A matrix that does not fit the activities is named."""
    one = np.zeros((1, 1), dtype=bool)
    with pytest.raises(SettingError, match="never_follows"):
        Rules(
            activities=("a", "b"),
            never_follows=one,
            source="test",
        )
