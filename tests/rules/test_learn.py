"""Rules as a log keeps them, against the definitions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from sacofa.events import count_variants, open_log
from sacofa.rules import learn
from sacofa.rules.learn import learn_rules
from sacofa.rules.rules import Rules
from sacofa.rules.semantics import RuleStates

from . import oracle
from .cases import RUNNING_EXAMPLE, logs, random_cases, variants_of


@given(logs())
@settings(max_examples=1000, deadline=None)
def test_any_small_log_is_read_as_defined(log: tuple[list[oracle.Case], int]) -> None:
    """Every fact equals that of the literal definition."""
    cases, size = log
    assert learn_rules(variants_of(cases, size), "test") == oracle.learn(cases, size)


def test_larger_logs_are_read_as_defined() -> None:
    """So on logs with more activities, longer cases and rules of every kind."""
    rng = np.random.default_rng(3)
    kinds = np.zeros(3, dtype=int)
    for _ in range(150):
        size = int(rng.integers(3, 12))
        cases = random_cases(rng, size, int(rng.integers(1, 12)), 12)
        rules = learn_rules(variants_of(cases, size), "test")
        assert rules == oracle.learn(cases, size)
        parts = rules.never_follows, rules.always_follows, rules.always_precedes
        kinds += [part.any() for part in parts]
    assert (kinds > 50).all()


@pytest.mark.parametrize(
    "spoilt",
    [
        pytest.param(lambda cases: [(case, True) for case, _ in cases], id="cut cases testify"),
        pytest.param(lambda cases: [case for case in cases if case[1]], id="cut cases ignored"),
        pytest.param(lambda cases: [(case[::-1], end) for case, end in cases], id="backwards"),
        pytest.param(lambda cases: cases[1:], id="a case is missed"),
    ],
)
def test_a_wrong_reader_is_caught(
    spoilt: Callable[[list[oracle.Case]], list[oracle.Case]],
) -> None:
    """The comparison with the definitions sees each of these mistakes."""
    rng = np.random.default_rng(5)
    logs = [random_cases(rng, 5, 6, 8) for _ in range(30)]
    read = [learn_rules(variants_of(spoilt(cases), 5), "test") for cases in logs]
    assert any(rules != oracle.learn(cases, 5) for rules, cases in zip(read, logs, strict=True))


def test_working_in_small_blocks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound on memory is not part of the meaning."""
    cases = random_cases(np.random.default_rng(4), 9, 60, 15)
    whole = learn_rules(variants_of(cases, 9))
    monkeypatch.setattr(learn, "CELLS", 40)
    assert learn_rules(variants_of(cases, 9)) == whole


@given(logs())
@settings(max_examples=500, deadline=None)
def test_a_log_keeps_its_own_rules(log: tuple[list[oracle.Case], int]) -> None:
    """Every prefix of every case is harmless, and so is the end of every finished case."""
    cases, size = log
    states = RuleStates(learn_rules(variants_of(cases, size)))
    for case, finished in cases:
        assert states.violations(case, finished) == 0
        assert all(states.violations(prefix, False) == 0 for prefix in oracle.prefixes(case))


def test_asking_before_the_last_occurrence_would_make_a_log_break_its_own_rules() -> None:
    """Why *always precedes* is about the first occurrence: ⟨b, c, b⟩ begins with a bare b."""
    cases = [((0, 1, 0), True)]
    assert not learn_rules(variants_of(cases, 2)).always_precedes[0, 1]
    assert 1 in oracle.before_last(cases[0][0], 0)
    strict = Rules.free(("0", "1"))
    precedes = np.array([[False, True], [False, False]])
    strict = Rules(**{**vars(strict), "always_precedes": precedes})
    assert RuleStates(strict).violations((0,), False) == 1


def test_an_unfinished_case_cannot_deny_what_always_follows() -> None:
    """What a cut case lacks may have come after the cut."""
    finished, cut = ((0, 1), True), ((0,), False)
    assert learn_rules(variants_of([finished, cut], 2)).always_follows[0, 1]
    assert not learn_rules(variants_of([finished, ((0,), True)], 2)).always_follows[0, 1]
    assert not learn_rules(variants_of([cut], 2)).always_follows.any()


def test_activities_that_no_case_has_are_harmful_everywhere() -> None:
    """Harmless is what agrees with what was seen."""
    states = RuleStates(learn_rules(variants_of([((0, 1), True)], 3)))
    reached = np.array([states.start()])
    for activity in (0, 1):
        assert not states.harmless(reached)[0, 2]
        reached = states.step(reached, np.array([activity]))
    assert not states.harmless(reached)[0, 2]


def test_an_empty_log_allows_the_empty_case_alone() -> None:
    """No case was seen, so no activity may begin one."""
    states = RuleStates(learn_rules(variants_of([], 2)))
    assert states.harmless(np.array([states.start()])).tolist() == [[False, False, True]]


def test_the_running_example() -> None:
    """After Register, Triage, Antibiotics, Surgery only Antibiotics and Release make sense."""
    states = RuleStates(learn_rules(RUNNING_EXAMPLE))
    reached = np.array([states.start()])
    for name in ("Register", "Triage", "Antibiotics", "Surgery"):
        reached = states.step(reached, np.array([states.activities.index(name)]))
    *allowed, end = states.harmless(reached)[0].tolist()
    names = {name for name, fine in zip(states.activities, allowed, strict=True) if fine}
    assert names == {"Antibiotics", "Release"}
    assert not end


@pytest.mark.parametrize(
    ("name", "length", "differences"),
    [("receipt", 10, 1), ("sepsis", 23, 0), ("traffic_fines", 9, 0)],
)
def test_the_paper_logs_keep_their_own_rules(
    logs: Path, name: str, length: int, differences: int
) -> None:
    """None has a harmful prefix under its own rules, cut where the paper cuts it or whole.

    The paper's reading of *always precedes* gives the same rules where they are cut, and one rule
    more for the whole of Receipt.
    """
    whole = count_variants(open_log(logs / f"{name}.parquet"))
    for variants, expected in ((whole, differences), (whole.truncate(length), 0)):
        rules = learn_rules(variants)
        states = RuleStates(rules)
        pairs = zip(variants.sequences(), variants.complete.tolist(), strict=True)
        assert not any(states.violations(case, finished) for case, finished in pairs)
        different = 0
        for a in range(len(rules.activities)):
            having = [case for case in variants.sequences() if a in case]
            before = [oracle.before_last(case, a) for case in having]
            paper = set.intersection(*before) if before else set()
            ours = set(np.flatnonzero(rules.always_precedes[a]).tolist())
            assert ours <= paper
            different += len(paper - ours)
        assert different == expected
