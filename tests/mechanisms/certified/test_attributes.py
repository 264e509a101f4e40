"""Attributes in a release: at the price they say, and whatever the values of the log are."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sacofa import Certified, Release, anonymize
from sacofa.base.cells import cell_of
from sacofa.errors import ReadError, SettingError, Statement
from sacofa.events import open_log, read_cases
from sacofa.events.attributes import MAX_PAIR_CELLS
from sacofa.kernel.accounting import Spend
from sacofa.release import read_release, write_release

SMALL = Certified(epsilon=Fraction(4), max_length=4, min_candidates=4, max_candidates=8, time=False)
COLUMNS: dict[str, Any] = {
    "attributes": {
        "case:colour": {"values": ["blue", "green", "red"]},
        "amount": {"type": "number", "min": 0, "max": 90, "unit": 10},
        "size": {"type": "number"},
        "urgent": {"type": "yes/no"},
        "born": {"type": "date", "first": "2000-01-01", "last": "2003-12-31", "by": "year"},
    }
}
ASKED = ("case:colour", "amount", "size", "urgent", "born")
Row = tuple[str, str, str, str, str, str, str]
HEADER = ("case", "activity", "case:colour", "amount", "size", "urgent", "born")
ODD = [
    "", " ", "nan", "inf", "-inf", "1e300", "-1e308", "1e400", "x" * 1000, "=1+1", "<&>", "\\ud83d",
    "true", "2001-13-45", "9999-12-31", "0001-01-01", "0", "-5", "91", "[1]", "{}",
]  # fmt: skip


def write(path: Path, rows: Sequence[Row]) -> Path:
    """Write a table of events."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEADER, *rows])
    return path


def ordinary(cases: int) -> list[Row]:
    """Cases of which the colour tells what happens, and the activity which amount."""
    rows: list[Row] = []
    for i in range(cases):
        red = i % 4 == 0
        colour, last = ("red", "reject") if red else ("blue", "pay")
        born = f"{2000 + i % 4}-05-05"
        rows.append((f"c{i}", "ask", colour, "10", str(2 + i % 3), "yes" if red else "no", born))
        rows.append((f"c{i}", last, colour, "20" if red else "80", "", "", ""))
    return rows


def released(path: Path, mechanism: Certified = SMALL, **more: Any) -> Release:
    """A release with attributes, from a seed."""
    options = {"attribute": ASKED, "columns": COLUMNS, **more}
    return anonymize(open_log(path, **options), mechanism, seed=3)


def counts(release: Release, key: str) -> dict[str, int]:
    """How often each value was released."""
    (column,) = (column for column in release.columns if column.key == key)
    many = np.bincount(column.codes[column.codes >= 0], minlength=len(column.texts)).tolist()
    return {text: number for text, number in zip(column.texts, many, strict=True) if number}


def test_values_come_out_as_they_were(tmp_path: Path) -> None:
    """With little noise: their shares, at which activity they stand, and how they go with flow."""
    path = write(tmp_path / "log.csv", ordinary(400))
    release = released(path, Certified(epsilon=100, time=False, max_length=4))
    colours = counts(release, "case:colour")
    assert abs(colours["red"] - 100) < 10 and abs(colours["blue"] - 300) < 10
    amounts = counts(release, "amount")
    assert abs(amounts["10"] - 400) < 10 and abs(amounts["80"] - 300) < 10
    assert set(counts(release, "size")) <= {f"{2 + i / 10:g}" for i in range(30)}
    assert abs(sum(counts(release, "urgent").values()) - 400) < 20
    # Who is red is rejected: the family of a case says so.
    (column,) = (column for column in release.columns if column.key == "case:colour")
    red = column.codes == column.texts.index("red")
    rejected = np.repeat(
        ["reject" in names for names, _ in release.variants], release.variants.counts
    )
    assert (red == rejected).mean() > 0.97


def test_the_price_is_what_was_asked_for(tmp_path: Path) -> None:
    """Attributes take their share, tables add up to it, and the whole stays what it was."""
    path = write(tmp_path / "log.csv", ordinary(50))
    release = released(path, pair=("colour,urgent",))
    spent = [one for one in release.certificate.spent if isinstance(one, Spend)]
    of_attributes = [one for one in spent if one.line == "attributes"]
    assert len(of_attributes) == 6
    assert sum(one.amount for one in of_attributes) == SMALL.price * SMALL.attribute_share
    assert release.certificate.epsilon == SMALL.price
    promised = replace(
        SMALL, attributes=open_log(path, attribute=ASKED, columns=COLUMNS).attributes
    )
    assert sum(one.amount for one in promised.promise(release.certificate.unit).accesses) == 4  # type: ignore[union-attr]


def test_names_with_an_and_are_told_apart(tmp_path: Path) -> None:
    """Two pairs whose names read alike are two questions: neither fails when it was paid."""
    log = tmp_path / "log.csv"
    rows = "".join(f"{case},A,2025-01-01,x,y,x,y\n" for case in range(60))
    log.write_text(f"case,activity,time,a,b and c,a and b,c\n{rows}")
    names = ("a", "b and c", "a and b", "c")
    opened = open_log(log, attribute=names, pair=(names[:2], names[2:]))
    release = anonymize(opened, Certified(epsilon=1), seed=1)
    assert [column.key for column in release.columns] == list(names)
    assert release.certificate.epsilon == 1


def test_a_declared_pair_comes_out_right(tmp_path: Path) -> None:
    """Two attributes that only a pair tells about go together as in the log."""
    rows: list[Row] = []
    for i in range(600):
        colour = ("blue", "green")[i % 2]
        rows.append((f"{i}", "ask", colour, "", "", ("no", "yes")[i % 2], ""))
    path = write(tmp_path / "log.csv", rows)
    agree = []
    for pair in ((), ("colour,urgent",)):
        release = released(path, Certified(epsilon=50, time=False), pair=pair)
        colour = next(c for c in release.columns if c.name == "colour")
        urgent = next(c for c in release.columns if c.name == "urgent")
        green = colour.codes == colour.texts.index("green")
        agree.append(float((green == (urgent.codes == 1)).mean()))
    assert abs(agree[0] - 0.5) < 0.1 and agree[1] > 0.97


@pytest.mark.parametrize("suffix", ["xes", "csv", "parquet"])
def test_a_release_reads_back_as_it_was(tmp_path: Path, suffix: str) -> None:
    """Every format holds the same values, with the types that they were declared with."""
    release = released(write(tmp_path / "log.csv", ordinary(60)))
    write_release(release, tmp_path / f"out.{suffix}")
    again = read_release(tmp_path / f"out.{suffix}")
    for before, after in zip(release.columns, again.columns, strict=True):
        assert (after.key, after.kind) == (before.key, before.kind)
        assert counts(again, after.key) == counts(release, after.key)


def test_everything_that_leaves_is_the_same_for_odd_values(tmp_path: Path) -> None:
    """Two logs that differ in what is outside of the domains give the same release, byte for byte.

    One has ordinary values and gaps; the other has not a number, infinities, huge numbers, empty
    texts, wrong types and a thousand categories that nobody declared in their place.
    """
    plain, odd = ordinary(40), ordinary(40)
    for i in range(40):
        case, activity, *_ = plain[2 * i]
        strange = ODD[i % len(ODD)]
        plain[2 * i] = (case, activity, "pink", "-1", "", "perhaps", "1950-01-01")
        text = f"{strange}?{i}"
        odd[2 * i] = (case, activity, text, f"1e{300 + i}", "nan", text, f"{i}-99-99")
        plain[2 * i + 1] = (*plain[2 * i + 1][:2], "pink", *plain[2 * i + 1][3:])
        odd[2 * i + 1] = (*odd[2 * i + 1][:2], text, *odd[2 * i + 1][3:])
    left = []
    for name, rows in (("plain", plain), ("odd", odd)):
        (tmp_path / name).mkdir()
        log = open_log(write(tmp_path / name / "log.csv", rows), attribute=ASKED, columns=COLUMNS)
        told: list[Statement] = []
        release = anonymize(log, SMALL, seed=5, notify=told.append)
        # Whoever holds the log is told which values are no longer named; that leaves nothing.
        assert len(told) == 4
        write_release(release, tmp_path / name / "out.csv")
        files = sorted((tmp_path / name).glob("out*"))
        left.append([(file.name, file.read_bytes()) for file in files])
    assert left[0] == left[1]


@pytest.mark.slow
def test_countless_categories_leave_nothing(tmp_path: Path) -> None:
    """A column of more values than tables may have gives the same release as one of a few hundred.

    Nothing is released until the holder of the log accepts that; nobody else can tell the two logs
    apart.
    """
    left = []
    for name, values in (("few", 300), ("many", MAX_PAIR_CELLS + 50_000)):
        (tmp_path / name).mkdir()
        path = tmp_path / name / "log.csv"
        # One case has them all, so the order of activities is small.
        texts = (f"0,a,x{value:x}\n" for value in range(values))
        path.write_text("case,activity,what\n" + "".join(texts))
        with pytest.raises(ReadError, match="more than 200"):
            anonymize(open_log(path, attribute=("what",)), SMALL, seed=5)
        log = open_log(path, attribute=("what",), accept_other=True)
        release = anonymize(log, SMALL, seed=5)
        write_release(release, tmp_path / name / "out.csv")
        files = sorted((tmp_path / name).glob("out*"))
        left.append([(file.name, file.read_bytes()) for file in files])
    assert left[0] == left[1]


def test_values_stay_where_they_were_and_all_of_them(tmp_path: Path) -> None:
    """What every event has is on every event, and what half of them have on half."""
    rows: list[Row] = []
    for i in range(500):
        for place, activity in enumerate(("ask", "check", "pay", "close")):
            half = "7" if activity == "check" and i % 2 else ""
            rows.append((f"c{i}", activity, "", str(10 * place), half, "", ""))
    path = write(tmp_path / "log.csv", rows)
    release = released(path, Certified(epsilon=60, time=False), attribute=("amount", "size"))
    amount, size = (np.bincount(c.codes + 1, minlength=2)[0] for c in release.columns)
    events = release.variants.events
    assert amount < 0.02 * events
    assert 0.8 * 250 < events - size < 1.2 * 250


def test_no_value_is_an_error(tmp_path: Path) -> None:
    """A log of nothing but odd values is released, with and without a declaration."""
    rows = [(f"{i}", "a", text, text, text, text, text) for i, text in enumerate(ODD)]
    path = write(tmp_path / "log.csv", rows)
    for options in ({}, {"columns": None}):
        assert len(released(path, **options).columns) == 5
    empty = write(tmp_path / "empty.csv", [])
    assert released(empty).certificate.epsilon == 4


def test_identifiers_are_never_released(tmp_path: Path) -> None:
    """Neither by name, nor by being a column of a different value for each case."""
    path = write(
        tmp_path / "log.csv", [(f"{i}", "a", f"id{i}", "", "", "", "") for i in range(300)]
    )
    with pytest.raises(SettingError, match="identifier"):
        open_log(path, attribute=("case",))
    with pytest.raises(ReadError, match="more than 200"):
        released(path, attribute=("case:colour",), columns=None)
    release = released(path, attribute=("case:colour",), columns=None, accept_other=True)
    assert release.columns[0].texts in (("other",), ("other", "other"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"attribute": ("nothing",)}, "nothing"),
        ({"attribute": ("amount", "amount")}, "different"),
        ({"attribute": ("amount",), "pair": ("amount,size",)}, "size"),
        ({"attribute": ("amount",), "pair": ("amount",)}, "comma"),
        ({"columns": COLUMNS}, "left out unless attribute is given"),
        (
            {"attribute": ("amount",), "columns": {"attributes": {"amount": {"type": "money"}}}},
            "type",
        ),
        ({"attribute": ("amount",), "columns": {"cases": 4, **COLUMNS}}, "at most 2 values"),
    ],
)
def test_what_cannot_be_is_refused_before_a_case_is_read(
    tmp_path: Path, options: dict[str, Any], words: str
) -> None:
    """By its name, when the log is opened."""
    path = write(tmp_path / "log.csv", ordinary(3))
    with pytest.raises((SettingError, ReadError), match=words):
        open_log(path, **options)


def test_people_at_work_are_released_on_request_only(tmp_path: Path) -> None:
    """As groups, or by name where that was said; and the certificate says whom it hides."""
    path = tmp_path / "log.csv"
    rows = [("case", "activity", "org:resource"), *((str(i), "a", "Ann") for i in range(50))]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    with pytest.raises(SettingError, match="people at work"):
        open_log(path, attribute=("org:resource",))
    groups = {"attributes": {"org:resource": {"groups": {"front": ["Ann"], "back": ["Bob"]}}}}
    for options, names in (({"columns": groups}, "front"), ({"employees": True}, "Ann")):
        release = anonymize(open_log(path, attribute="org:resource", **options), SMALL, seed=1)
        assert names in counts(release, "org:resource")
        assert Statement("limit.employees") in release.certificate.not_promised


def test_every_reader_gives_the_same_cells(tmp_path: Path) -> None:
    """A table, a frame and an XES file with the same values."""
    import pandas as pd

    path = write(tmp_path / "log.csv", ordinary(300))
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    release = released(path)
    write_release(release, tmp_path / "out.xes")
    write_release(release, tmp_path / "out.parquet")
    both = []
    for name in ("out.xes", "out.parquet"):
        cases = read_cases(open_log(tmp_path / name, attribute=ASKED, columns=COLUMNS))
        assert cases.by_case is not None
        (batch,) = cases.by_case.map_parts(lambda number, part: part)
        both.append([np.bincount(values.cells).tolist() for values in batch.attributes])
    assert both[0] == both[1]
    domain = open_log(frame, attribute=ASKED, columns=COLUMNS).attributes[0].known
    assert [cell_of(domain, text) for text in ("blue", "pink", None)] == [0, 3, 4]


def test_a_column_of_many_values_is_present_on_every_event(tmp_path: Path) -> None:
    """Where every value becomes `other`, the release still has one on each event."""
    path = tmp_path / "log.csv"
    rows = [
        (f"{i}", activity, f"x{i}-{place}")
        for i in range(300)
        for place, activity in enumerate(("ask", "check", "pay", "close"))
    ]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("case", "activity", "note_number"), *rows])
    log = open_log(path, attribute="note_number", accept_other=True)
    release = anonymize(log, Certified(epsilon=2), seed=3)
    assert counts(release, "note_number") == {"other": release.variants.events}


def test_numbers_and_dates_of_a_csv_file_get_public_bins(tmp_path: Path) -> None:
    """Without any declaration; the certificate says that their types were taken from the log."""
    path = tmp_path / "log.csv"
    rows = [
        (f"{i}", "a", f"{i % 90},50", f"{1 + i % 28:02}.03.2024", str(i % 7)) for i in range(300)
    ]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("case", "activity", "cost", "day", "code"), *rows])
    release = anonymize(
        open_log(path, attribute=("cost", "day", "code")), Certified(epsilon=9), seed=1
    )
    kinds = {column.name: column.kind for column in release.columns}
    assert kinds == {"cost": "float", "day": "date", "code": "string"}
    assumed = " ".join(map(str, release.certificate.assumptions))
    assert "That cost is a number is public" in assumed and "That day is a date" in assumed
    assert "The values of code are public" in assumed
    assert "other" not in counts(release, "cost")


@pytest.mark.parametrize("column", ["Patientenname", "who", "contact"])
def test_personal_data_are_released_only_if_the_user_insists(tmp_path: Path, column: str) -> None:
    """A name of a column or its values give them away; the certificate repeats the insistence."""
    path = tmp_path / "log.csv"
    people = ["Anna Schmidt", "Peter Huber", "Maria Koch", "Paul Wolf"]
    values = [f"{name.split()[0].lower()}@example.org" for name in people]
    with path.open("w", newline="") as file:
        rows = [
            (str(i), "a", (values if column == "contact" else people)[i % 4]) for i in range(80)
        ]
        csv.writer(file).writerows([("case", "activity", column), *rows])
    with pytest.raises((SettingError, ReadError), match="cannot name a person") as refused:
        anonymize(open_log(path, attribute=column), SMALL, seed=1)
    assert not any(name in str(refused.value) for name in (*people, *values))
    release = anonymize(open_log(path, attribute=column, personal=True), SMALL, seed=1)
    assert any(
        f"attribute {column} looks like" in str(line) for line in release.certificate.not_promised
    )
