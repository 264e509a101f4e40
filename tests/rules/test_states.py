"""The automaton of rules, against the definitions."""

from __future__ import annotations

import numpy as np
import pytest

from sacofa.rules.kinds import Semantics
from sacofa.rules.learn import learn_rules
from sacofa.rules.rules import Rules
from sacofa.rules.semantics import HARMFUL, RuleStates

from . import oracle
from .cases import random_cases, random_rules, variants_of


def disagreements(states: Semantics, rules: Rules, prefixes: list[tuple[int, ...]]) -> int:
    """Count where an automaton and the definitions disagree, over all next steps of prefixes."""
    size, wrong = len(rules.activities), 0
    reached = np.full(len(prefixes), states.start())
    for place in range(max(map(len, prefixes))):
        rows = np.array([i for i, prefix in enumerate(prefixes) if len(prefix) > place])
        activities = np.array([prefixes[i][place] for i in rows.tolist()])
        reached[rows] = states.step(reached[rows], activities)
    allowed = states.harmless(reached)
    assert allowed.shape == (len(prefixes), size + 1)
    for prefix, row in zip(prefixes, allowed.tolist(), strict=True):
        for b in range(size):
            wrong += row[b] != (not oracle.broken(rules, (*prefix, b), False))
        wrong += row[size] != (not oracle.broken(rules, prefix, True))
        for finished in (False, True):
            facts = oracle.broken(rules, prefix, finished)
            wrong += states.violations(prefix, finished) != len(facts)
    return wrong


def some_prefixes(rng: np.random.Generator, rules: Rules, number: int) -> list[tuple[int, ...]]:
    """Prefixes of which many are harmless and some are not, and the empty one."""
    states, found = RuleStates(rules), [()]
    for _ in range(number):
        prefix: tuple[int, ...] = ()
        reached = np.array([states.start()])
        for _ in range(int(rng.integers(1, 9))):
            fine = np.flatnonzero(states.harmless(reached)[0, :-1])
            if not len(fine) or rng.random() < 0.08:
                fine = np.arange(len(rules.activities))
            prefix = (*prefix, int(rng.choice(fine)))
            reached = states.step(reached, np.array(prefix[-1:]))
        found.append(prefix)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_learnt_rules_are_judged_as_defined(seed: int) -> None:
    """Harmless next steps, harmless ends and the number of violations, on random logs."""
    rng = np.random.default_rng(seed)
    for _ in range(10):
        size = int(rng.integers(1, 8))
        rules = learn_rules(variants_of(random_cases(rng, size, 6, 8), size))
        assert disagreements(RuleStates(rules), rules, some_prefixes(rng, rules, 12)) == 0


@pytest.mark.parametrize("seed", range(20))
def test_written_rules_are_judged_as_defined(seed: int) -> None:
    """So for rules that no log keeps, over more activities than one machine word has bits too."""
    rng = np.random.default_rng(seed)
    for size, density in ((3, 0.2), (5, 0.1), (9, 0.05), (70, 0.004)):
        rules = random_rules(rng, size, density)
        assert disagreements(RuleStates(rules), rules, some_prefixes(rng, rules, 10)) == 0


class ForgetsRepeats(RuleStates):
    """Owes again what already followed, whenever an activity is repeated."""

    def _sets_after(self, states, activities):  # type: ignore[no-untyped-def]
        sets = super()._sets_after(states, activities)
        sets[:, len(self.activities) :] |= self.rules.always_follows[activities]
        return sets


class IgnoresPrecedes(RuleStates):
    """Does not ask what always precedes."""

    def __init__(self, rules: Rules) -> None:
        none = np.zeros_like(rules.always_precedes)
        super().__init__(Rules(**{**vars(rules), "always_precedes": none}))


class StartsAnywhere(RuleStates):
    """Lets every activity begin a case."""

    def __init__(self, rules: Rules) -> None:
        super().__init__(Rules(**{**vars(rules), "starts": np.ones_like(rules.starts)}))


class CountsNeverOnce(RuleStates):
    """Counts a broken never as one fact although it breaks two."""

    def violations(self, prefix, finished):  # type: ignore[no-untyped-def]
        facts = oracle.broken(self.rules, prefix, finished)
        return len([fact for fact in facts if fact[2] != "never precedes"])


@pytest.mark.parametrize(
    "wrong", [ForgetsRepeats, IgnoresPrecedes, StartsAnywhere, CountsNeverOnce]
)
def test_a_wrong_automaton_is_caught(wrong: type[RuleStates]) -> None:
    """The comparison with the definitions sees each of these mistakes."""
    rng = np.random.default_rng(7)
    seen = {wrong: 0, RuleStates: 0}
    for _ in range(10):
        rules = random_rules(rng, 4, 0.15)
        prefixes = some_prefixes(rng, rules, 20)
        for kind in seen:
            seen[kind] += disagreements(kind(rules), rules, prefixes)
    assert seen[wrong] > 0
    assert seen[RuleStates] == 0


def test_harm_stays() -> None:
    """After a harmful step nothing is harmless, whatever comes next."""
    rng = np.random.default_rng(8)
    rules = random_rules(rng, 5, 0.4)
    states = RuleStates(rules)
    start = np.full(5, states.start())
    every = np.arange(5)
    reached = states.step(start, every)
    assert (reached == HARMFUL).tolist() == (~states.harmless(start)[0, :5]).tolist()
    harmful = np.full(5, HARMFUL)
    assert not states.harmless(harmful).any()
    assert (states.step(harmful, every) == HARMFUL).all()


def test_equal_pairs_in_one_call_lead_to_one_state() -> None:
    """Many rows at once and one row at a time give the same states."""
    rng = np.random.default_rng(9)
    rules = random_rules(rng, 12, 0.05)
    together, alone = RuleStates(rules), RuleStates(rules)
    left = np.full(3000, together.start())
    prefixes: list[tuple[int, ...]] = [()] * 3000
    for _ in range(8):
        steps = rng.integers(0, 12, 3000)
        left = together.step(left, steps)
        prefixes = [(*prefix, a) for prefix, a in zip(prefixes, steps.tolist(), strict=True)]
    harmless = together.harmless(left)
    for row in range(0, 3000, 37):
        one = np.array([alone.start()])
        for a in prefixes[row]:
            one = alone.step(one, np.array([a]))
        assert (alone.harmless(one)[0] == harmless[row]).all()


def test_no_rows_and_no_activities_are_fine() -> None:
    """Empty arrays in, empty arrays out; without activities only the end is left."""
    none = np.zeros(0, dtype=np.int64)
    states = RuleStates(Rules.free(("a",)))
    assert states.step(none, none).shape == (0,) and states.harmless(none).shape == (0, 2)
    empty = RuleStates(learn_rules(variants_of([((), True)], 0)))
    assert empty.harmless(np.array([empty.start()])).tolist() == [[True]]
    assert empty.violations((), True) == 0


def test_states_fit_what_mechanisms_ask_for() -> None:
    """RuleStates is a Semantics."""
    semantics: Semantics = RuleStates(Rules.free(("a", "b")))
    assert semantics.activities == ("a", "b")
