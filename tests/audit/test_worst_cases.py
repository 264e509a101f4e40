"""Pairs with times: what is broken about times is found out, and what holds is left alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction

import numpy as np
import pytest

from sacofa import Certified, Unit
from sacofa.audit import Finding, audit, make_minimal, timed_pairs, timed_persons_pair
from sacofa.audit.views import ALL, NEARER, UNIT, LikelihoodRatioAttack, view_release
from sacofa.errors import SettingError
from sacofa.kernel import Session, Spend
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.cases import CaseBatch, Cases
from sacofa.kernel.laws import Law
from sacofa.kernel.noise import Ints
from sacofa.kernel.queries.protocol import Query
from sacofa.kernel.queries.times import Clock, Gaps
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms import Output, Promise, perform
from sacofa.mechanisms.protocol import Capabilities, Mechanism, Outcome, Progress
from sacofa.mechanisms.released import ReleasedLog
from sacofa.synthesis.times.ask import TimeSettings, time_queries

from .test_likelihood import ZeroNoise

PAIRS = {pair.name: pair for pair in (*timed_pairs(), timed_persons_pair(3))}
FLOW = VariantCounts.of({("a", "b"): 200})
"""Public variants, from which it follows what is asked about times."""
PUBLIC = TimeSettings(calendar="2019-01/2020-12")
"""A small calendar, so that many runs take little time."""


def worst(findings: tuple[Finding, ...]) -> Finding:
    """The finding with the highest bound."""
    return max(findings, key=lambda finding: finding.certified)


def test_pairs_are_neighbours() -> None:
    """Each differs by one unit, and the cases one by one are those that are counted."""
    for pair in PAIRS.values():
        pair.check_neighbours()
        assert pair.smaller_cases.by_case is not None
        both = pair.larger_cases.by_case
        assert isinstance(both, CaseBatch) and both.variants() == pair.larger
        assert both.times is not None and len(both.times) == len(both.activity_ids)
    assert len(PAIRS) == 7


def test_other_cases_than_those_that_are_counted_are_refused() -> None:
    """Times of strangers prove nothing."""
    one, other = PAIRS["long wait"], PAIRS["many times"]
    for odd in (
        replace(one, added_by_case=other.added_by_case),
        replace(one, smaller_by_case=one.added_by_case),
        replace(one, added_by_case=None),
    ):
        with pytest.raises(SettingError, match="cases more"):
            odd.check_neighbours()


@pytest.mark.slow
def test_the_whole_mechanism_holds() -> None:
    """`certified`, flow and times together, is not refuted on any of them.

    On pairs without times it does not ask for any: tests/cli/test_audit.py shows that it holds.
    """
    certified = make_minimal("certified", {"epsilon": 1})
    findings = [*audit(certified, list(PAIRS.values()), runs=100, seed=1)]
    assert {finding.pair for finding in findings} == set(PAIRS)
    assert {finding.claimed for finding in findings} == {1}
    assert not any(finding.refuted for finding in findings)


QUESTIONS = {
    name: query
    for name, (query, _) in time_queries(FLOW, PUBLIC, Fraction(1), service=True).items()
}


@dataclass(frozen=True, kw_only=True)
class OnlyTimes(Mechanism):
    """What `certified` asks about times, by itself: all of ε is spent on it."""

    asked: tuple[str, ...] = tuple(QUESTIONS)
    """The questions, which share ε."""
    session: type[Session] = Session
    """What asks on its behalf: one that breaks the promise, if it is to be found out."""
    name = "times"
    capabilities = Capabilities(times=True)

    def settings(self) -> Mapping[str, object]:
        return {}

    def promise(self, unit: Unit) -> Promise:
        return Promise(accesses=(Spend(what="times", amount=Fraction(1), line="time"),))

    def run(self, session: Session, progress: Progress | None = None) -> Output:
        asking = self.session.__new__(self.session)
        vars(asking).update(vars(session))
        for name in self.asked:
            asking.ask(QUESTIONS[name], Fraction(1, len(self.asked)), "time")
        return Output(log=ReleasedLog(variants=VariantCounts.of({}, session.activities)))


@dataclass(frozen=True, kw_only=True)
class EveryGapVotes(Gaps):
    """Gives a whole vote to each gap, and calls that one vote for all."""

    def table(self, batch: CaseBatch) -> Ints:
        return super().table(batch) * max(int(np.diff(batch.offsets).max(initial=2)) - 1, 1)


class GreedyGaps(Session):
    """Lets gaps vote without a bound."""

    def ask(self, query: Query, epsilon: Fraction, line: str) -> Ints:
        if isinstance(query, Gaps):
            query = EveryGapVotes(activities=query.activities, steps=query.steps, rungs=query.rungs)
        return super().ask(query, epsilon, line)


class HalfTheNoise(Session):
    """Draws half the noise that times need."""

    def noise_on(self, sensitivity: int, epsilon: Fraction) -> Law:
        return super().noise_on(sensitivity, 2 * epsilon)


class ForgetsCases(Session):
    """Hides one case of a person, whatever the person has."""

    def noise_on(self, sensitivity: int, epsilon: Fraction) -> Law:
        return self.budget.law(sensitivity, epsilon)


@pytest.mark.parametrize("name", PAIRS)
def test_questions_about_times_are_not_refuted(name: str) -> None:
    """Asked together, they cost what they say; without times a case leaves no trace."""
    finding = worst(audit(OnlyTimes(), [PAIRS[name]], runs=300, seed=1))
    assert finding.claimed == 1
    assert not finding.refuted
    if name == "no times":
        assert finding.certified < 0.3


@pytest.mark.parametrize(
    ("question", "name"),
    [
        *(
            (question, name)
            for question in QUESTIONS
            for name in ("long wait", "person with times")
            if question != "service"
        ),
        ("service", "long work"),
    ],
)
def test_a_question_uses_what_it_costs(question: str, name: str) -> None:
    """Asked alone, each shows most of ε, and no more; with half the noise it is refuted."""
    asks = OnlyTimes(asked=(question,))
    finding = worst(audit(asks, [PAIRS[name]], runs=1_000, seed=1))
    assert not finding.refuted
    assert 0.6 < finding.certified < 1.2
    several = name == "person with times"
    for broken in (HalfTheNoise, ForgetsCases) if several else (HalfTheNoise,):
        assert worst(
            audit(replace(asks, session=broken), [PAIRS[name]], runs=1_000, seed=2)
        ).refuted


def test_gaps_that_vote_without_a_bound_are_refuted() -> None:
    """A case of thousands of events shows, where each gap has a vote of its own."""
    greedy = OnlyTimes(session=GreedyGaps)
    assert worst(audit(greedy, [PAIRS["many times"]], runs=300, seed=2)).refuted


@dataclass(frozen=True, kw_only=True)
class ReadsDates(Certified):
    """Takes the year in which a release begins off the log, unpaid."""

    def run(self, session: Session, progress: Progress | None = None) -> Output:
        output = super().run(session, progress)
        secret = session._by_case
        times = output.log.times
        assert isinstance(secret, CaseBatch) and times is not None
        first = int(Clock(secret).times.min()) // 1_000_000
        moved = times - times.min(initial=2**40) + first
        return replace(output, log=replace(output.log, times=moved))


def test_dates_that_are_read_unpaid_are_refuted() -> None:
    """The earliest date of a release gives the case of the year 1 away, with very few runs."""
    small = make_minimal("certified", {"epsilon": 1})
    careless = ReadsDates(**{each.name: getattr(small, each.name) for each in fields(small)})
    finding = worst(audit(careless, [PAIRS["year 1"]], runs=100, seed=3))
    assert finding.refuted
    assert finding.view == "release"
    assert "earliest" in finding.evidence


@pytest.mark.parametrize("name", ["long wait", "many times", "person with times", "long work"])
def test_without_noise_every_question_knows_the_log(name: str) -> None:
    """The attacker who knows both logs compares the tables of times as well."""
    pair = PAIRS[name]
    view = LikelihoodRatioAttack(pair)
    # Work is asked about only where the log says when it began.
    asked = tuple(q for q in QUESTIONS if q != "service" or pair.larger_cases.has_starts)
    for log, sign in ((pair.smaller_cases, -1), (pair.larger_cases, 1)):
        outcome = perform(OnlyTimes(asked=asked), log, ZeroNoise(SeededBits(1)))
        seen = view(outcome)
        assert {rest[0] for part, *rest in seen if part == NEARER} == {*outcome.transcript, ALL}
        # Votes that do not share evenly leave a remainder.
        least = 0.9 if name != "many times" else 0.5
        assert least * UNIT < sign * seen[NEARER, ALL] <= UNIT + 1


def test_a_release_shows_what_stands_out_about_its_times() -> None:
    """First and last, the longest gap and case, and all cases together."""
    variants = VariantCounts.of({("a", "b"): 2, (): 1, ("a",): 1}, ("a", "b"))
    # The order of the variants is their own: cases without events have no times.
    times = {(): [], ("a",): [7], ("a", "b"): [100, 105, 200, 290]}
    told = [time for names, _ in variants for time in times[names]]
    log = ReleasedLog(variants=variants, times=np.array(told))
    seen = view_release(Outcome(output=Output(log=log)))
    assert {rest[0]: value for (part, *rest), value in seen.items() if part == "times"} == {
        "earliest": 7,
        "latest": 290,
        "longest gap": 90,
        "longest case": 90,
        "all cases": 95,
    }


def one_log() -> Cases:
    """Any log with times."""
    return PAIRS["no times"].larger_cases
