"""Margins of error: figures lie within them about as often as stated, and not always."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from statistics import median

import numpy as np
import pytest

from sacofa import Certified, VariantCounts
from sacofa.base.batches import cases_of
from sacofa.kernel import Cases, Noise
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.laws import DiscreteLaplace
from sacofa.kernel.queries.flow import NearestCandidate
from sacofa.kernel.unit import Unit
from sacofa.mechanisms import Outcome, perform
from sacofa.mechanisms.certified import plan
from sacofa.mechanisms.paper import Laplace, Sacofa
from sacofa.rules import Rules
from sacofa.synthesis.find_margins import find_flow_margins, sizes, step_counts
from sacofa.synthesis.margins import Margins, ShareMargin, Step, VariantMargins

from .mixture import log_of

LOG = log_of([300, 120, 40, 80, 25, 0, 10])
# 575 cases at ε = 1 are few enough for the size to be asked again.
SMALL = Certified(epsilon=1, max_length=6, max_candidates=30, time=False)
TINY = Certified(epsilon="1/10", time=False)
"""So little that activities are not asked, and cases vote as if nothing were repeated."""
GAUSSIAN = replace(SMALL, delta=Fraction(1, 10**6))
"""Euclidean votes, and noise with other tails."""
RUNS = 60

Checked = list[tuple[int, int]]
"""Of each figure how far it is off, and its margin."""


@pytest.fixture(scope="module", params=[SMALL, TINY, GAUSSIAN], ids=["small", "tiny", "delta"])
def outcomes(request: pytest.FixtureRequest) -> list[Outcome]:
    """Many runs on one log, with fixed seeds."""
    return [
        perform(request.param, Cases(variants=LOG), Noise(SeededBits(seed))) for seed in range(RUNS)
    ]


def named_steps(log: VariantCounts) -> dict[Step, int]:
    """How often each activity directly follows another."""
    counts, places = step_counts(log), [*log.activities, None]
    return {(places[a], places[b]): int(counts[a, b]) for a, b in np.argwhere(counts > 0).tolist()}


def named_activities(log: VariantCounts) -> dict[str, int]:
    """The events of each activity."""
    events = np.bincount(
        log.activity_ids, np.repeat(log.counts, log.lengths), minlength=len(log.activities)
    )
    return {name: int(n) for name, n in zip(log.activities, events, strict=True) if n}


def check(outcome: Outcome, kind: str) -> Iterator[tuple[int, int]]:
    """Compare every published figure of a kind with that of the log."""
    released, margins = outcome.log.variants, outcome.output.margins
    assert margins is not None
    if kind == "cases":
        assert margins.cases is not None
        yield abs(released.cases - LOG.cases), margins.cases
    elif kind == "variant":
        assert margins.variants is not None
        true = dict(LOG)
        for (names, count), whole in zip(released, released.complete.tolist(), strict=True):
            margin = margins.variants.of((names, whole), count)
            yield abs(count - true.get(names, 0)), margin
    else:
        numbers = named_steps if kind == "step" else named_activities
        sized = margins.steps if kind == "step" else margins.activities
        before = numbers(LOG)
        for name, count in numbers(released).items():
            yield abs(count - before.get(name, 0)), sized[name]


def is_fair(checked: Checked, times: float) -> bool:
    """Whether margins of so many times the size hold, and could not be a third as large."""
    off = np.array([error / (times * margin) for error, margin in checked])
    return bool((off <= 1).mean() >= 0.93 and np.quantile(off, 0.95) > 0.34)


@pytest.mark.parametrize("kind", ["variant", "step", "activity"])
def test_margins_hold_and_a_third_or_thrice_of_them_would_not_do(
    outcomes: list[Outcome], kind: str
) -> None:
    """Over all published figures of all runs."""
    checked = [one for outcome in outcomes for one in check(outcome, kind)]
    assert is_fair(checked, 1)
    assert not is_fair(checked, 1 / 3)
    assert not is_fair(checked, 3)


def test_the_number_of_cases_lies_within_its_margin(outcomes: list[Outcome]) -> None:
    """In 95 of 100 runs; of 60 runs, fewer than 50 would be 1 in a million."""
    checked = [one for outcome in outcomes for one in check(outcome, "cases")]
    assert sum(error <= margin for error, margin in checked) >= 50
    assert not is_fair(checked, 1 / 3)


def test_persons_have_wider_margins() -> None:
    """With m cases a person, noise is m times as large; disagreement is what it was."""
    outcome = perform(SMALL, Cases(variants=LOG), Noise(SeededBits(1)))
    narrow = find_flow_margins(outcome.answers, outcome.log.variants)
    assert narrow == outcome.output.margins
    louder = [
        replace(answer, noise=DiscreteLaplace(answer.epsilon / 5)) for answer in outcome.answers
    ]
    wide = find_flow_margins(louder, outcome.log.variants)
    assert wide.cases == pytest.approx(5 * (narrow.cases or 0), abs=5)
    assert sum(wide.steps.values()) > 1.2 * sum(narrow.steps.values())


def test_a_variant_that_was_never_asked_for_may_not_occur() -> None:
    """So its margin is its count, and it is below it."""
    outcome = perform(SMALL, Cases(variants=LOG), Noise(SeededBits(2)))
    assert outcome.output.margins is not None and outcome.output.margins.variants is not None
    final = next(a for a in outcome.answers if a.query.name == "final")
    assert isinstance(final.query, NearestCandidate)
    asked = {tuple(final.activities[i] for i in ids) for ids in final.query.candidates}
    assert {names for names, _ in outcome.output.margins.variants.listed} <= asked
    assert outcome.output.margins.variants.of((("nothing", "like", "it"), True), 17) == 17


def test_margins_are_shared_with_figures_of_similar_count() -> None:
    """Half of the squared error is that of neighbours: no figure is certain by luck."""
    squares = np.zeros(10)
    squares[4] = 800.0
    found = sizes(np.arange(10.0), squares, 1.0)
    assert found[4] > found[3] > found[0] == 1


def test_the_plan_states_the_margin_that_the_release_will() -> None:
    """One definition: they differ by the noise that the plan cannot know, and little more."""
    mechanism, found = Certified(epsilon=1, time=False), []
    for seed in range(5):
        released = perform(mechanism, Cases(variants=LOG), Noise(SeededBits(seed))).output.margins
        assert released is not None and released.cases is not None
        found.append(released.cases)
    planned = plan(epsilon=1, activities=len(LOG.activities), cases=LOG.cases)
    assert planned.cases_margin == pytest.approx(median(found), rel=0.1)


RULES = Rules.free(LOG.activities)


@pytest.mark.parametrize(
    "mechanism",
    [
        Laplace(level_epsilon="1/2", max_length=6, prune=8),
        Laplace(level_epsilon="1/2", max_length=6, prune=8, prune_finished=False),
        Sacofa(level_epsilon="1/2", max_length=6, prune=8, rules=RULES),
        Sacofa(level_epsilon="1/2", max_length=6, prune=8, rules=RULES, max_violations=3),
    ],
    ids=["laplace", "unpruned", "sacofa", "continuous"],
)
@pytest.mark.parametrize("cases", [1, 2], ids=["case", "person"])
def test_margins_of_the_papers_mechanisms_hold(mechanism: Laplace | Sacofa, cases: int) -> None:
    """Candidates that no case has are released where noise is large: they count as well."""
    unit = Unit(person="who", max_cases=cases) if cases > 1 else Unit()
    log = replace(LOG, unit=unit) if cases > 1 else LOG
    checked = []
    for seed in range(RUNS):
        outcome = perform(mechanism, Cases(variants=log), Noise(SeededBits(seed)))
        checked += list(check(outcome, "variant"))
        assert outcome.output.margins is not None and outcome.output.margins.cases is None
    assert np.mean([error <= margin for error, margin in checked]) >= 0.94


def test_margins_are_read_back_as_they_were_written() -> None:
    """With times: margins of shares and waits, too."""
    names = ("a", "b", "")
    margins = Margins(
        cases=7,
        variants=VariantMargins(listed={(("a", "", "a"), True): 3, ((), False): 1}, others=2),
        activities={"a": 5, "": 1},
        steps={(None, "a"): 4, ("a", ""): 2, ("b", None): 9},
        waits={("a", "b"): 0.25},
        cycle_time=(0.5, 0.125),
        begin=ShareMargin(fixed=0.25, slope=0.0),
        attributes={"case:x": ShareMargin(fixed=0.5, slope=0.25, edges=(-1.0, 2.5))},
    )
    content = margins.to_content()
    assert content["names"] == sorted(names)
    assert Margins.from_content(content) == margins
    assert Margins.from_content(Margins().to_content()) == Margins()


@pytest.mark.parametrize(
    "wrong",
    [
        {"cases": -1}, {"cases": True}, {"names": [1]}, {"steps": [[0, 9, 1]]}, {"waits": 3},
        {"variants": {"listed": []}}, {"begin": {"fixed": -1, "slope": 0}},
        {"cycle_time": ["x"]}, {"begin": {"fixed": float("nan"), "slope": 0}},
    ],
)  # fmt: skip
def test_damaged_margins_are_refused(wrong: dict[str, object]) -> None:
    """As what makes a certificate damaged."""
    content = {**Margins(activities={"a": 1}).to_content(), **wrong}
    with pytest.raises((ValueError, TypeError, KeyError)):
        Margins.from_content(content)


def test_shares_of_times_have_margins() -> None:
    """A distribution of cycle times, of months, and a median wait for pairs with their own row."""
    log = VariantCounts.of({("a", "b"): 3_000, ("a",): 500})
    hours = np.cumsum(np.random.default_rng(1).lognormal(1.0, 2.0, log.events))
    batch = cases_of(log, (hours * 3.6e9).astype(np.int64))
    cases = Cases(variants=log, by_case=batch)
    outcome = perform(Certified(epsilon=1), cases, Noise(SeededBits(3)))
    margins = outcome.output.margins
    assert margins is not None and margins.begin is not None
    assert len(margins.cycle_time) == 14 and 0 < min(margins.cycle_time) < 0.05
    assert 0 < margins.begin.of(0.5) < 0.1
    assert 0 < margins.waits["a", "b"] < 0.5
