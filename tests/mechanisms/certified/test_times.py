"""Times in a release: at the price they say, and whatever the times of the log are."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sacofa import anonymize
from sacofa.events import count_variants, open_log, read_cases
from sacofa.kernel.accounting import Spend
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.cases import NO_TIME, Cases
from sacofa.kernel.noise import Ints, Noise
from sacofa.kernel.queries.durations import DAY, HOUR, MINUTE
from sacofa.kernel.queries.flow import VOTE_UNITS
from sacofa.kernel.queries.times import ServiceTime
from sacofa.kernel.unit import ONE_CASE, Unit
from sacofa.mechanisms import Certified, perform
from sacofa.mechanisms.certified import run
from sacofa.release import Release, write_release
from sacofa.release.read import read_release
from sacofa.synthesis.times.ask import TimeSettings, time_queries
from tests.kernel.queries.batches import LAST, YEAR_1, YEAR_9999, Event, batch, nasty_cases

SMALL = Certified(epsilon=Fraction(1), max_length=4, min_candidates=4, max_candidates=8)
BEGIN = 18_262 * DAY
UNITS = [ONE_CASE, Unit(person="patient", max_cases=3)]


def cases_of(cases: list[list[Event]], unit: Unit = ONE_CASE) -> Cases:
    """Cases with times, bound to a unit."""
    whole = replace(batch(cases, starts=False), unit=unit)
    return Cases(variants=whole.variants(), by_case=whole)


PLAIN = [
    [(0, 0, BEGIN + i * HOUR), (1, 0, BEGIN + (i + 2) * HOUR), (2, 0, BEGIN + i * HOUR + DAY)]
    for i in range(60)
]


class NotedNoise(Noise):
    """Writes down the scale of all noise."""

    def __init__(self, seed: int) -> None:
        super().__init__(SeededBits(seed))
        self.drawn: list[tuple[Fraction, int]] = []

    def laplace(self, epsilon: Fraction, size: int) -> Ints:
        """Draw as ever."""
        self.drawn.append((epsilon, size))
        return super().laplace(epsilon, size)


def test_more_cases_than_memory_holds_are_scaled_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of very many cases with times a public number is released, and nothing says how far off.

    Without times they are numbers of variants, and all are released.
    """
    monkeypatch.setattr(run, "ONE_BY_ONE", 20)
    cases = cases_of(PLAIN)
    outcome = perform(SMALL, cases, Noise(SeededBits(1)))
    assert outcome.log.variants.cases == 20 and outcome.output.margins is None
    assert sum(note.code == "note.scaled_cases" for note in outcome.output.notes) == 1
    untimed = perform(replace(SMALL, time=False), cases, Noise(SeededBits(1)))
    assert untimed.log.variants.cases > 20 and untimed.output.margins is not None


@pytest.mark.parametrize("unit", UNITS, ids=["case", "person"])
def test_noise_on_times_hides_all_cases_of_a_unit(unit: Unit) -> None:
    """What is charged is the share of times, whoever is protected; noise grows with the unit."""
    noise = NotedNoise(1)
    outcome = perform(SMALL, cases_of(PLAIN, unit), noise)
    timed = [answer for answer in outcome.answers if getattr(answer.query, "by_case", False)]
    spent = [s for s in outcome.spent if isinstance(s, Spend) and s.line == "time"]
    assert len(timed) == len(spent) == 5
    assert sum((s.amount for s in spent), Fraction(0)) == SMALL.price * SMALL.time_share
    drawn = noise.drawn[-len(timed) :]
    for answer, charge, (epsilon, size) in zip(timed, spent, drawn, strict=True):
        assert size == len(answer.query.cells)  # type: ignore[union-attr]
        # L1 sensitivity of a unit: a vote of each of its cases.
        assert epsilon == answer.epsilon == charge.amount / (VOTE_UNITS * unit.max_cases)


@pytest.mark.parametrize("unit", UNITS, ids=["case", "person"])
def test_bins_follow_from_the_noise_that_is_drawn(unit: Unit) -> None:
    """What is asked is chosen for noise that hides all cases of a unit, not for that of one."""
    outcome = perform(SMALL, cases_of(PLAIN * 80, unit), Noise(SeededBits(2)))
    asked = [answer.query for answer in outcome.answers if getattr(answer.query, "by_case", False)]
    found = outcome.log.variants.project_onto(outcome.answers[-1].activities)
    price = SMALL.price * SMALL.time_share
    chosen = {
        cases: [query for query, _ in time_queries(found, TimeSettings(), price / cases).values()]
        for cases in (1, 3)
    }
    assert chosen[1] != chosen[3]
    assert asked == chosen[unit.max_cases]


def check_times(release: Release) -> None:
    """Every event has a time, and the times of a case never decrease."""
    assert release.times is not None
    lengths = np.repeat(release.variants.lengths, release.variants.counts)
    assert len(release.times) == lengths.sum()
    for start, end in pairwise(np.cumsum([0, *lengths]).tolist()):
        assert (np.diff(release.times[start:end]) >= 0).all()


LOGS: dict[str, list[list[Event]]] = {
    "no cases": [],
    "cases without events": [[]] * 30,
    "one event per case": [[(i % 3, 0, BEGIN + i * HOUR)] for i in range(30)],
    "no time is known": [[(0, 0, NO_TIME), (1, 0, NO_TIME)]] * 30,
    "some times are missing": [[(0, 0, BEGIN), (1, 0, NO_TIME), (2, 0, BEGIN + DAY)]] * 30,
    "all times are equal": [[(0, 0, BEGIN), (1, 0, BEGIN)]] * 30,
    "a clock that runs backwards": [[(0, 0, BEGIN), (1, 0, BEGIN - 9 * DAY)]] * 30,
    "dates only": [[(0, 0, BEGIN + i * DAY), (1, 0, BEGIN + 2 * i * DAY)] for i in range(30)],
    "before 1970": [[(0, 0, -9_000 * DAY), (1, 0, -8_000 * DAY)]] * 30,
    "year 1 to year 9999": [[(0, 0, YEAR_1), (1, 0, YEAR_9999)]] * 30,
    "the ends of what a number holds": [[(0, 0, NO_TIME + 1), (1, 0, LAST)]] * 30,
    "one case of 5,000 events": [[(i % 4, 0, BEGIN + i) for i in range(5_000)]],
}


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
@pytest.mark.parametrize("epsilon", ["1/1000", "1", "100"])
def test_every_log_gets_times(log: list[list[Event]], epsilon: str) -> None:
    """Whatever the times of the log are: a release with times in order, at the price asked for."""
    mechanism = Certified(epsilon=Fraction(epsilon), max_length=4)
    release = anonymize(cases_of(log), mechanism, activities=tuple("abcd"), seed=1)
    check_times(release)
    assert sum(s.amount for s in release.certificate.spent) == Fraction(epsilon)  # type: ignore[union-attr]


@settings(deadline=None, max_examples=15, suppress_health_check=list(HealthCheck))
@given(log=st.lists(nasty_cases, max_size=6), seed=st.integers(0, 99))
def test_any_times_get_a_release(log: list[list[Event]], seed: int) -> None:
    """Random logs of nasty times."""
    check_times(anonymize(cases_of(log), SMALL, activities=tuple("abcd"), seed=seed))


TEXTS = {
    "no readable time": ["soon", "later", ""],
    "dates only": ["2020-01-01", "2020-01-02", "2020-01-02"],
    "absurd dates": ["0001-01-01T00:00:00", "9999-12-31T23:59:59", "2020-01-01T00:00:00"],
    "some missing": ["2020-01-01T10:00:00", "", "2020-01-01T12:00:00"],
    "with zones": ["2020-01-01T10:00:00+14:00", "2020-01-01T10:00:00Z", "2020-01-01T10:00:00-12"],
}


@pytest.mark.parametrize("times", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("ending", ["csv", "parquet", "xes"])
def test_files_are_released_and_read_back(times: list[str], ending: str, tmp_path: Path) -> None:
    """Any text for a time gives a release; what is written has its variants, and its times."""
    rows = [
        f"{case},{name},{time}"
        for case in range(20)
        for name, time in zip("abc", times, strict=True)
    ]
    source = tmp_path / "log.csv"
    source.write_text("\n".join(["case,activity,time", *rows]))
    # By time, a log of which no time can be read is refused when it is read.
    order = "file" if times == TEXTS["no readable time"] else "time"
    release = anonymize(open_log(source, order=order), SMALL, seed=3)
    check_times(release)
    target = tmp_path / f"release.{ending}"
    write_release(release, target)
    again = open_log(target)
    assert again.has_times
    assert dict(count_variants(again)) == dict(release.variants)
    read = read_cases(again)
    assert read.variants == count_variants(again)


WORK = [
    f"{case},{name},2020-01-{1 + case % 28:02}T{start}:00,2020-01-{1 + case % 28:02}T{end}:00"
    for case in range(400)
    for name, start, end in (
        ("a", "09:00", "09:05"),
        ("b", "11:00", "11:40"),
        ("c", "14:00", "15:30"),
    )
]
"""Work of five minutes, 40 minutes and one and a half hours, hours apart."""


@pytest.mark.parametrize("ending", ["xes", "parquet"])
def test_work_and_waiting_are_both_kept(ending: str, tmp_path: Path) -> None:
    """A column for the start of work: asked for under the same ε, released, and read back."""
    source = tmp_path / "log.csv"
    source.write_text("\n".join(["case,activity,start,time", *WORK]))
    log = open_log(source, start="start")
    assert log.has_starts
    release = anonymize(log, Certified(epsilon=Fraction(20), max_length=4), seed=3)
    assert release.certificate.epsilon == 20
    assert ServiceTime.what in [spent.what for spent in release.certificate.spent]
    write_release(release, tmp_path / f"release.{ending}")
    back = read_release(tmp_path / f"release.{ending}").by_case
    assert back is not None and back.times is not None and back.starts is not None
    took = (back.times - back.starts) / MINUTE
    ids = back.activity_ids
    for name, minutes in (("a", 5), ("b", 40), ("c", 90)):
        found = float(np.median(took[ids == back.activities.index(name)]))
        assert minutes / 2.5 < found < minutes * 2.5
    # Work that waited does not begin before the event before has ended.
    place = np.flatnonzero(ids == back.activities.index("b"))
    waited = (back.starts[place] - back.times[place - 1]) / HOUR
    assert float(np.median(waited)) > 0.3


def test_starts_are_asked_for_only_where_they_are_declared(tmp_path: Path) -> None:
    """That a log happens to have transitions decides nothing: that would be an unpaid look."""
    source = tmp_path / "log.csv"
    source.write_text("case,activity,stage,time\n1,a,start,2020-01-01\n1,a,complete,2020-01-02\n")
    assert not open_log(source).has_starts
    assert open_log(source, lifecycle="stage").has_starts
    xes = tmp_path / "log.xes"
    xes.write_text(
        '<log><trace><event><string key="concept:name" value="a"/>'
        '<date key="time:timestamp" value="2020-01-01T00:00:00.000+00:00"/>'
        '<string key="lifecycle:transition" value="start"/></event></trace></log>'
    )
    assert not open_log(xes).has_starts
    timed = {"timestamp": "time:timestamp"}
    assert not open_log(xes, **timed).has_starts
    assert open_log(xes, lifecycle="lifecycle:transition", **timed).has_starts
