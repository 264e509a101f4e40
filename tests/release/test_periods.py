"""Releases that repeat: a case is in one of a series at most, and pays for that one alone."""

from __future__ import annotations

import os
import random
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sacofa import Certified, Laplace, Ledger, ReadOptions, publish, read_release
from sacofa.errors import BudgetError, LedgerError, SacofaError, SettingError
from sacofa.events import open_log
from sacofa.events.source import Log
from sacofa.kernel.variants import VariantCounts
from sacofa.ledger.case_key import key_path
from sacofa.release.combine import combine
from sacofa.release.publish import Listener, Request
from sacofa.release.read import verify

ONE = Laplace(level_epsilon="1/2", max_length=2, prune=1)


class Broken(Laplace):
    """Dies when it is run."""

    def run(self, *arguments: Any) -> Any:
        """Die."""
        raise RuntimeError


BROKEN = Broken(level_epsilon="1/2", max_length=2, prune=1)
Events = dict[str, list[str]]
"""For each case the days of its events."""


class Recording:
    """The real reader, which remembers what it gave."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self.counted: list[VariantCounts] = []

    def count(self, *arguments: Any) -> VariantCounts:
        """Read, and remember."""
        self.counted.append(self._reader.count(*arguments))
        return self.counted[-1]


def write(path: Path, events: Events) -> Path:
    """A log whose cases can be told apart by their one activity."""
    lines = ['<log><global scope="event"><date key="time:timestamp" value="1970-01-01"/></global>']
    for case, days in events.items():
        lines.append(f'<trace><string key="concept:name" value="{case}"/>')
        lines.append(f'<string key="person" value="p{case[0]}"/>')
        for day in days:
            lines.append(f'<event><string key="concept:name" value="{case}"/>')
            lines.append(f'<date key="time:timestamp" value="{day}"/></event>')
        lines.append("</trace>")
    path.write_text("\n".join([*lines, "</log>"]))
    return path


def release(
    ledger: Ledger, log: Path, period: str, output: Path | None = None, **more: Any
) -> set[str]:
    """Release a period; give the cases that the mechanism was handed."""
    opened = open_log(log, ReadOptions(period=period, **more))
    reader = Recording(opened.reader)
    opened = replace(opened, reader=reader)  # type: ignore[arg-type]
    target = output or log.with_name(f"out{random.Random(str(os.urandom(8))).random()}.csv")
    publish(opened, ONE, target, ledger=ledger, dataset="visits")
    (counted,) = reader.counted
    return set(counted.activities)


@pytest.fixture
def quick_folder() -> Iterator[Path]:
    """A folder in memory, where that can be: bringing ledgers to a disk takes time."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as name:
        yield Path(name)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger with a budget of 1."""
    made = Ledger.create(tmp_path / "a.ledger")
    made.set_budget("visits", Fraction(1))
    return made


def test_every_period_may_cost_the_whole_budget(ledger: Ledger, tmp_path: Path) -> None:
    """Once each; and after them a release of the whole log does not fit."""
    log = write(tmp_path / "log.xes", {"a": ["2025-01-02"], "b": ["2025-01-30", "2025-02-01"]})
    assert release(ledger, log, "2025-01") == {"a"}
    assert release(ledger, log, "2025-02") == {"b"}
    assert ledger.account("visits").spent == 1
    assert [part.period for part in ledger.account("visits").parts] == ["2025-01", "2025-02"]
    with pytest.raises(BudgetError, match="left of 1 in period 2025-01"):
        release(ledger, log, "2025-01")
    with pytest.raises(BudgetError):
        publish(log, ONE, tmp_path / "all.csv", ledger=ledger, dataset="visits")
    ledger.check()


def test_the_whole_log_and_the_dearest_period_add_up(ledger: Ledger, tmp_path: Path) -> None:
    """Both touch the cases of that period."""
    log = write(tmp_path / "log.xes", {"a": ["2025-01-02"], "b": ["2025-02-01"]})
    ledger.set_budget("visits", Fraction(2))
    publish(log, ONE, tmp_path / "all.csv", ledger=ledger, dataset="visits")
    release(ledger, log, "2025-01")
    assert ledger.account("visits").spent == 2
    release(ledger, log, "2025-02")
    assert ledger.account("visits").spent == 2
    with pytest.raises(BudgetError):
        release(ledger, log, "2025-02")


def test_a_case_is_released_once_for_ever(ledger: Ledger, tmp_path: Path) -> None:
    """Also where it comes again with later events, and where periods overlap."""
    told: list[str] = []
    log = write(tmp_path / "log.xes", {"a": ["2025-01-02"], "b": ["2025-02-01"]})
    assert release(ledger, log, "2025-01") == {"a"}
    write(log, {"a": ["2025-01-02", "2025-02-03", "2025-02-04"], "b": ["2025-02-01"]})
    opened = open_log(log, period="2025-02")
    Request(
        log=opened, mechanism=ONE, output=tmp_path / "2.csv", ledger=ledger, dataset="visits"
    ).publish(Listener(holder=told.append))
    assert any("1 case " in line and "(2)" in line for line in map(str, told))
    assert release(ledger, log, "2025-Q1") == set()
    assert sum((claim.number or 0) for claim in ledger.claims().values()) == 2
    text = "".join(path.read_text() for path in tmp_path.glob("*.certificate.json"))
    assert "released before" not in text
    ledger.check()


def test_neighbours_differ_in_one_release_of_a_series(quick_folder: Path) -> None:
    """Whatever the history: growing cases, overlapping periods, repeats; a case moves no other."""
    chance = random.Random(3)
    for turn in range(6):
        history: list[tuple[str, Events]] = []
        events: Events = {}
        for _ in range(4):
            for _ in range(4):
                case = chance.choice("abcdefgh")
                day = f"2025-{chance.randint(1, 4):02}-{chance.randint(1, 28):02}"
                events = {**events, case: [*events.get(case, []), day]}
            history.append((chance.choice(["2025-01", "2025-02", "2025-03", "2025-Q1"]), events))
        gone = chance.choice(sorted(events))
        seen: list[list[set[str]]] = []
        for without in (None, gone):
            folder = quick_folder / f"{turn}{without}"
            folder.mkdir()
            ledger = Ledger.create(folder / "a.ledger")
            ledger.set_budget("visits", None)
            seen.append(
                [
                    release(
                        ledger,
                        write(
                            folder / f"{n}.xes",
                            {c: days for c, days in content.items() if c != without}
                            or {"z": ["1999-01-01"]},
                        ),
                        period,
                    )
                    for n, (period, content) in enumerate(history)
                ]
            )
            ledger.check()
        released = [case for some in seen[0] for case in some]
        assert len(released) == len(set(released)), "a case twice"
        changes = [one ^ other for one, other in zip(*seen, strict=True)]
        assert [change for change in changes if change] in ([], [{gone}])


Row = tuple[str, str, str, str]
"""A case of one event: its id, whose it is, what happened, and when."""


def write_rows(path: Path, rows: list[Row]) -> Path:
    """Cases as XES or as CSV, as the name says."""
    if path.suffix == ".csv":
        lines = ["case,person,activity,timestamp", *map(",".join, rows)]
    else:
        lines = ['<log><extension name="Time" prefix="time" uri="x"/>']
        lines += [
            f'<trace><string key="concept:name" value="{case}"/>'
            f'<string key="person" value="{person}"/><event>'
            f'<string key="concept:name" value="{activity}"/>'
            f'<date key="time:timestamp" value="{day}"/></event></trace>'
            for case, person, activity, day in rows
        ]
        lines.append("</log>")
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize("protect", ["person", "person-period"])
@pytest.mark.parametrize("suffix", ["csv", "xes"])
def test_ids_that_begin_anew_move_no_case_of_other_persons(
    quick_folder: Path, suffix: str, protect: str
) -> None:
    """What the ledger keeps of one person's cases says nothing of others who get their ids."""
    first = [(f"{i}", "anna" if i < 5 else "bert", f"{i} before", "2024-05-01") for i in range(6)]
    later = [(f"{i}", f"person {i}", f"{i} after", "2025-05-01") for i in range(5)]
    # A case of one person that goes on is out for good, as ever.
    later.append(("5", "bert", "5 after", "2025-05-02"))
    seen = []
    for without in (None, "anna"):
        folder = quick_folder / f"{without}"
        folder.mkdir()
        ledger = Ledger.create(folder / "a.ledger")
        ledger.set_budget("visits", None)
        options: Any = {"person": "person", "max_cases": 1, "protect": protect}
        seen.append(
            [
                release(
                    ledger,
                    write_rows(
                        folder / f"{period}.{suffix}", [row for row in rows if row[1] != without]
                    ),
                    period,
                    **options,
                )
                for period, rows in (("2024", first), ("2025", later))
            ]
        )
        ledger.check()
    assert seen[0] == [{"0 before", "5 before"}, {f"{i} after" for i in range(5)}]
    assert seen[1] == [{"5 before"}, {f"{i} after" for i in range(5)}]


@pytest.mark.parametrize("suffix", ["csv", "xes"])
def test_releases_for_cases_and_for_persons_have_no_case_in_common(
    quick_folder: Path, suffix: str
) -> None:
    """Whichever comes first: of both, periods pay each for itself."""
    rows = [("5", "anna", "a", "2025-01-01"), ("6", "bert", "b", "2025-01-02")]
    log = write_rows(quick_folder / f"log.{suffix}", rows)
    options: Any = {"person": "person", "max_cases": 1, "protect": "person-period"}
    for number, (one, other) in enumerate([({}, options), (options, {}), (options, options)]):
        ledger = Ledger.create(quick_folder / f"{number}.ledger")
        ledger.set_budget("visits", None)
        assert release(ledger, log, "2025-01", **one) == {"a", "b"}
        assert release(ledger, log, "2025", **other) == set()
        ledger.check()


PERSON_PERIOD: dict[str, Any] = {"person": "person", "max_cases": 1, "protect": "person-period"}


def test_person_periods_that_overlap_add_up(ledger: Ledger, tmp_path: Path) -> None:
    """A person's cases of January can be in the releases of January and of the year."""
    paths = [tmp_path / "1.csv", tmp_path / "2.csv"]
    rows = [("1", "anna", "first", "2025-01-02"), ("2", "bert", "other", "2025-02-02")]
    log = write_rows(tmp_path / "log.csv", rows)
    assert release(ledger, log, "2025-01", paths[0], **PERSON_PERIOD) == {"first"}
    write_rows(log, [*rows, ("3", "anna", "late", "2025-01-20")])
    with pytest.raises(BudgetError, match="ε = 0 left of 1 in period 2025:"):
        release(ledger, log, "2025", paths[1], **PERSON_PERIOD)
    ledger.set_budget("visits", Fraction(2))
    assert release(ledger, log, "2025", paths[1], **PERSON_PERIOD) == {"late", "other"}
    account = ledger.account("visits")
    assert (account.spent, account.in_periods) == (2, {"2025": 2, "2025-01": 2})
    # Without their hashes: if noise leaves both releases empty, the files are equal.
    parts = [read_release(path) for path in paths]
    parts = [replace(one, certificate=replace(one.certificate, sha256=None)) for one in parts]
    assert combine(parts).certificate.epsilon == 2
    # February overlaps the year, and the year alone.
    with pytest.raises(BudgetError):
        release(ledger, log, "2025-01", **PERSON_PERIOD)
    ledger.set_budget("visits", Fraction(3))
    release(ledger, log, "2025-02", **PERSON_PERIOD)
    assert ledger.account("visits").spent == 3
    assert ledger.account("visits").in_periods["2025-02"] == 2
    ledger.check()


def test_a_release_for_cases_adds_up_with_person_periods_that_overlap_it(
    ledger: Ledger, tmp_path: Path
) -> None:
    """Whichever comes first; releases for cases alone have nothing in common."""
    rows = [("1", "anna", "a", "2025-01-02"), ("2", "anna", "b", "2025-02-02")]
    log = write_rows(tmp_path / "log.csv", rows)
    release(ledger, log, "2025-01")
    release(ledger, log, "2025")
    assert ledger.account("visits").spent == 1
    with pytest.raises(BudgetError):
        release(ledger, log, "2025-01-02", **PERSON_PERIOD)
    release(ledger, log, "2024", **PERSON_PERIOD)
    with pytest.raises(BudgetError):
        release(ledger, log, "2024-05")
    release(ledger, log, "2023-05", **PERSON_PERIOD)
    with pytest.raises(BudgetError):
        release(ledger, log, "2023")
    assert ledger.account("visits").spent == 1


def test_what_is_returned_does_not_make_periods_overlap(ledger: Ledger, tmp_path: Path) -> None:
    """A release of the year that read nothing leaves its months as they were."""
    log = write_rows(tmp_path / "log.csv", [("1", "anna", "a", "2025-01-02")])
    ledger.set_budget("visits", None)
    release(ledger, log, "2025-01", **PERSON_PERIOD)
    release(ledger, log, "2025-02", **PERSON_PERIOD)
    (tmp_path / "broken.csv").write_text("case,person,activity,timestamp\n1,anna,a,never\n")
    with pytest.raises(SacofaError):
        release(ledger, tmp_path / "broken.csv", "2025", **PERSON_PERIOD)
    assert ledger.entries()[-1].state == "returned"
    assert ledger.account("visits").spent == 1
    ledger.check()


def test_an_id_of_two_persons_stays_taken_when_a_release_dies(
    ledger: Ledger, tmp_path: Path
) -> None:
    """A release for cases retries a dead one: it leaves out what got out meanwhile."""
    ledger.set_budget("visits", None)
    log = write_rows(tmp_path / "log.csv", [("1", "anna", "a", "2025-01-02")])
    opened = open_log(log, period="2025", **PERSON_PERIOD)
    with pytest.raises(RuntimeError):
        publish(opened, BROKEN, tmp_path / "x.csv", ledger=ledger, dataset="visits")
    write_rows(log, [("1", "bert", "b", "2025-01-02")])
    assert release(ledger, log, "2025-01", **PERSON_PERIOD) == {"b"}
    assert release(ledger, log, "2025") == set()
    ledger.check()


def test_a_person_period_moves_no_release_of_other_periods(quick_folder: Path) -> None:
    """Histories with and without a person's cases of January: other months are handed the same."""
    chance = random.Random(5)
    for turn in range(4):
        history: list[tuple[str, list[Row]]] = []
        rows: dict[str, Row] = {}
        for _ in range(4):
            for _ in range(5):
                case = str(chance.randint(0, 9))
                day = f"2025-{chance.randint(1, 3):02}-{chance.randint(1, 28):02}"
                if case not in rows:
                    rows[case] = (case, chance.choice(["anna", "bert"]), f"x{case}", day)
            period = chance.choice(["2025-01", "2025-02", "2025-03", "2025-Q1", "2025-01-10"])
            history.append((period, list(rows.values())))
        seen = []
        for without in (False, True):
            ledger = Ledger.create(quick_folder / f"{turn}{without}.ledger")
            ledger.set_budget("visits", None)
            handed = []
            for number, (period, events) in enumerate(history):
                log = quick_folder / f"{turn}{without}{number}.csv"
                gone = [row for row in events if row[1] == "anna" and row[3] < "2025-02"]
                kept = [row for row in events if not (without and row in gone)]
                write_rows(log, [*kept, ("z", "zoe", "z", "1999-01-01")])
                handed.append(release(ledger, log, period, **PERSON_PERIOD))
            seen.append(handed)
            ledger.check()
        for (period, _), one, other in zip(history, *seen, strict=True):
            assert one == other or period in ("2025-01", "2025-01-10", "2025-Q1"), period


def test_what_died_can_be_tried_again_by_its_period_alone(ledger: Ledger, tmp_path: Path) -> None:
    """That period pays again; for every other the cases are gone."""
    log = write(tmp_path / "log.xes", {"a": ["2025-01-02"]})
    ledger.set_budget("visits", Fraction(2))

    opened = open_log(log, period="2025-01")
    with pytest.raises(RuntimeError):
        publish(opened, BROKEN, tmp_path / "x.csv", ledger=ledger, dataset="visits")
    assert ledger.entries()[0].state == "failed"
    assert release(ledger, log, "2025") == set()
    assert release(ledger, log, "2025-01") == {"a"}
    assert ledger.account("visits").payer("2025-01").finite == 2
    ledger.check()


def test_persons_pay_for_all_their_periods_or_each_by_itself(
    ledger: Ledger, tmp_path: Path
) -> None:
    """As the user says; the certificate repeats it."""
    log = write(tmp_path / "log.xes", {"a": ["2025-01-02"], "b": ["2025-02-01"]})
    person = {"person": "person", "max_cases": 1}
    out = tmp_path / "p1.csv"
    release(ledger, log, "2025-01", out, **person, protect="person")
    assert "adds up" in out.with_name("p1.csv.certificate.json").read_text()
    with pytest.raises(BudgetError):
        release(ledger, log, "2025-02", **person, protect="person")
    ledger.set_budget("visits", Fraction(2))
    out = tmp_path / "p2.csv"
    release(ledger, log, "2025-02", out, **person, protect="person-period")
    certificate = verify(out).certificate
    assert certificate.unit.per_period and certificate.protects.code == "unit.person_period"
    assert ledger.account("visits").spent == 2
    ledger.check()


def test_a_period_without_cases_is_released_like_any_other(ledger: Ledger, tmp_path: Path) -> None:
    """That nothing happened is as secret as anything else; times are asked for all the same."""
    log = write(tmp_path / "log.xes", {"a": ["2025-01-02"]})
    made = Request(
        log=open_log(log, period="2024"),
        mechanism=Certified(epsilon=1),
        output=tmp_path / "none.csv",
        seed=1,
    ).publish()
    assert made.certificate.epsilon == 1


def test_a_certificate_names_period_and_series(ledger: Ledger, tmp_path: Path) -> None:
    """It can be read back; two releases of one ledger and dataset are of one series."""
    log = write(tmp_path / "log.xes", {"a": ["2025-01-02"], "b": ["2025-02-01"]})
    paths = [tmp_path / "1.csv", tmp_path / "2.csv"]
    for path, period in zip(paths, ("2025-01", "2025-02"), strict=True):
        release(ledger, log, period, path)
    said = [read_release(path).certificate.period for path in paths]
    assert said[0] is not None and said[1] is not None
    assert said[0].series == said[1].series
    assert [one.period.name for one in said if one] == ["2025-01", "2025-02"]
    publish(open_log(log, period="2025"), ONE, tmp_path / "3.csv")
    alone = verify(tmp_path / "3.csv").certificate.period
    assert alone is not None and alone.series is None


def test_a_period_that_is_not_over_is_refused_unpaid(ledger: Ledger, tmp_path: Path) -> None:
    """Cases that end later in it could never be released."""
    log = write(tmp_path / "log.xes", {"a": ["2025-01-02"]})
    with pytest.raises(SettingError, match="over"):
        release(ledger, log, "2999-01")
    assert ledger.entries() == [] and not key_path(ledger.path).exists()


def test_the_key_is_for_its_owner_and_must_be_the_one(ledger: Ledger, tmp_path: Path) -> None:
    """Without it, with another, or with one that others read, nothing is paid or released."""
    log = write(tmp_path / "log.xes", {"a": ["2025-01-02"], "b": ["2025-02-02"]})
    release(ledger, log, "2025-01")
    key = key_path(ledger.path)
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE(ledger.path.stat().st_mode) & 0o077 == 0
    text = key.read_text()
    broken = {
        "restore that one": lambda: key.write_text("0" * 64),
        "damaged": lambda: key.write_text("0"),
        "chmod 600": lambda: (key.write_text(text), key.chmod(0o644)),
        "is missing": key.unlink,
    }
    for line, breaks in broken.items():
        breaks()
        with pytest.raises(LedgerError, match=line):
            release(ledger, log, "2025-02")
    assert len(ledger.entries()) == 1
    assert not key.exists(), "a missing key is not made anew"


def test_ids_of_cases_stand_nowhere(ledger: Ledger, tmp_path: Path) -> None:
    """Neither in the ledger nor beside it; hashes differ from dataset to dataset."""
    # Names of activities are public: a certificate lists those that the release does not contain.
    log = write_rows(tmp_path / "log.xes", [("patient-4711", "p", "visit", "2025-01-02")])
    release(ledger, log, "2025-01")
    assert b"patient-" not in ledger.path.read_bytes()
    with ledger.holding_case_key() as key:
        assert key.case("visits", "x") != key.case("other", "x")
        assert key.case("ab", "c") != key.case("a", "bc")
        assert "secret" not in repr(key)


def test_a_ledger_of_version_2_is_read_and_grows(tmp_path: Path) -> None:
    """It gets its new tables with the next change, and keeps what it holds."""
    import sqlite3

    from sacofa.ledger import rows, storage

    path = tmp_path / "old.ledger"
    with sqlite3.connect(path) as database:
        database.executescript(storage.SCHEMA)
        rows.write(database, rows.Head())
    old = Ledger.open(path)
    assert old.accounts() == []
    old.check()
    old.set_budget("visits", Fraction(1))
    log = write(tmp_path / "log.xes", {"a": ["2025-01-02"]})
    assert release(old, log, "2025-01") == {"a"}
    Ledger.open(path).check()


def test_an_unlisted_case_cannot_be_taken_twice_by_the_ledger_itself(ledger: Ledger) -> None:
    """Whoever passes the reader by is refused by the ledger."""
    ledger.set_budget("visits", None)

    def reserve(period: str) -> Any:
        return ledger.reserve(
            "visits", mechanism="m", settings="{}", price=Fraction(1), certificate="{}",
            period=period,
        )  # fmt: skip

    first, second = reserve("2025-01"), reserve("2025-02")
    ledger.claim(first, [b"x" * 16])
    with pytest.raises(LedgerError, match="meanwhile"):
        ledger.claim(second, [b"x" * 16])
    with pytest.raises(LedgerError, match="cannot take cases"):
        ledger.claim(first, [b"y" * 16])
    ledger.check()


def test_the_reader_is_asked_before_the_ledger_is_paid_twice(tmp_path: Path) -> None:
    """A log that is no log of periods does not make a key."""
    ledger = Ledger.create(tmp_path / "a.ledger")
    log = write(tmp_path / "log.xes", {"a": ["2025-01-02"]})
    with pytest.raises(LedgerError, match="no dataset"):
        release(ledger, log, "2025-01")
    assert isinstance(open_log(log), Log) and not key_path(ledger.path).exists()
