"""Neighbours stay neighbours whatever types their columns have.

One case that lacks a value, or has another one, changes the type of a whole column in most
libraries. What is read of all other cases must be the same: names, times, starts, attributes, and
whether they are of a period. A case may make a log unreadable (`REFUSED`), but never readable.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from sacofa.errors import SacofaError
from sacofa.events import Log, count_variants, open_log, read_cases
from sacofa.kernel.cases import CaseBatch

from .stores import DECIMALS, FRAMES, Columns, NotStorableError, Store, fill_database

Read = Counter[tuple[tuple[str, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]]
"""How often a case has these activities, times, starts and values."""

LARGE = [20251231140500121, 20251231140500122, 20251231140500123]
"""Time stamps of 17 digits: doubles do not tell them apart."""
BERLIN = [pd.Timestamp(f"2020-01-0{day} 12:00", tz="Europe/Berlin") for day in (1, 2, 3)]
LAST = pd.Timestamp("2020-01-31 23:59:59.999999")
NAMES: dict[str, list[Any]] = {
    "text": ["a", "b", "c"],
    "whole numbers": [1, 2, 3],
    "large numbers": LARGE,
    "fractions": [1.5, 2.25, 1e-7],
    "decimals": DECIMALS,
    "yes or no": [True, False, True],
    "dates": [dt.date(2020, 1, day) for day in (1, 2, 3)],
    "moments": [pd.Timestamp(f"2020-01-01 00:00:0{second}.5") for second in (1, 2, 3)],
    "zones": BERLIN,
    "lengths": [dt.timedelta(seconds=second) for second in (1, 2, 3)],
}
"""Values of one kind that name something."""
TIMES: dict[str, list[Any]] = {
    "text": [f"2020-01-0{day}T00:00:00" for day in (1, 2, 3)],
    "seconds": [dt.datetime(2020, 1, day) for day in (1, 2, 3)],
    "milliseconds": [pd.Timestamp(f"2020-01-01 00:00:00.00{n}") for n in (1, 2, 3)],
    "microseconds": [pd.Timestamp(f"2020-01-01 00:00:00.00000{n}") for n in (1, 2, 3)],
    "nanoseconds": [LAST + pd.Timedelta(n, "ns") for n in (400, 500, 600)],
    "before 1970": [pd.Timestamp("1969-12-31 23:59:59.9") + pd.Timedelta(n) for n in (1, 2, 3)],
    "zones": BERLIN,
    "dates": [dt.date(2020, 1, day) for day in (1, 2, 3)],
    "whole numbers": [1, 2, 3],
    "seconds since 1970": [1580515197, 1580515198, 1580515199],
    "nanoseconds since 1970": [1580515199999999000 + n for n in (400, 600, 999)],
    "numbers of several kinds": [1580515198, 20200101, 20200102000000],
    "17 digits": LARGE,
    "ticks": [637161983999999991, 637161983999999992, 637161983999999993],
    "decimals": [Decimal("1.0000000000000001"), Decimal("1.0000000000000002"), Decimal(2)],
    "fractions": [1580515197.25, 1580515198.5, 1580515199.75],
    "lengths": [dt.timedelta(seconds=second) for second in (1, 2, 3)],
}  # fmt: skip
"""Time stamps of one kind, in order."""
ODD = [
    None, None, None, None, "soon", "2", 2, 2.5, True, Decimal("2.5"), 2**53 + 1, float(2**60),
    dt.date(2020, 1, 2), dt.datetime(9999, 12, 31), pd.Timestamp("2020-01-02 00:00:00.5"),
    pd.Timestamp("2020-01-02", tz="Asia/Tokyo"), pd.Timestamp("2020-01-02 00:00:00.000000001"),
    dt.timedelta(seconds=2),
]  # fmt: skip
"""What the one case has that others do not."""
ROLES = {"activity": NAMES, "who": NAMES, "mark": NAMES, "time": TIMES, "start": TIMES}
PLAIN = {"activity": "text", "who": "text", "mark": "text", "time": "seconds", "start": "seconds"}
CASES = 4
"""So many cases are in both logs."""
REFUSED = re.compile(
    r"2\^53 or more|lengths of time|has no activity|without activity|without concept:name|"
    r"in the first file|another form|it is not known which|no time stamp in column|"
    r"cannot be read as a time, next to times"
)
"""What a case may make a log be refused for."""


def columns_of(palettes: dict[str, list[Any]], odd: dict[str, Any] | None = None) -> Columns:
    """Cases of three events each, with values of these palettes, and perhaps an odd one."""
    columns: Columns = {name: [] for name in ("case", *ROLES)}
    for case in range(CASES):
        for place in (1, 2, 0):
            columns["case"].append(f"case {case}")
            for role, values in palettes.items():
                # Everything depends on the case, and times go against the order of rows.
                at = 2 - place if role in ("time", "start") else (place + case) % len(values)
                columns[role].append(values[case % 3] if role == "who" else values[at])
    if odd is not None:
        for role, values in columns.items():
            values.append("odd" if role == "case" else odd.get(role, values[0]))
    return columns


def declared(palettes: dict[str, list[Any]]) -> dict[str, Any]:
    """What a file of columns says of the attribute: its values, as people write them."""
    texts = sorted({text for v in palettes["mark"] for text in (str(v), str(v).lower())})
    return {"attributes": {"mark": {"values": [*texts, "none"], "of": "event"}}}


def palettes_of(**special: str) -> dict[str, list[Any]]:
    """The palettes of all roles: plain ones, but for those that are named."""
    return {role: kinds[special.get(role, PLAIN[role])] for role, kinds in ROLES.items()}


@st.composite
def typed_logs(draw: st.DrawFn) -> tuple[Columns, Columns, dict[str, Any]]:
    """A log with an odd case, the same without it, and the options they are read with."""
    special = draw(st.lists(st.sampled_from([*ROLES]), min_size=1, max_size=2, unique=True))
    palettes = palettes_of(**{role: draw(st.sampled_from([*ROLES[role]])) for role in special})
    odd = {role: draw(st.sampled_from(ODD)) for role in special}
    options: dict[str, Any] = {"columns": declared(palettes)}
    if draw(st.booleans()):
        options |= {"person": "who", "max_cases": CASES}
    if draw(st.integers(0, 3)) == 0:
        options["time_format"] = draw(st.sampled_from(["%d.%m.%Y %H:%M", "epoch", "number"]))
    if draw(st.integers(0, 2)) == 0:
        options["period"] = "2020-01"
        options |= {"protect": "person"} if "person" in options else {}
    return columns_of(palettes, odd), columns_of(palettes), options


def cases_of(number: int, batch: CaseBatch) -> Read:
    """The cases of a part."""
    found: Read = Counter()
    (marks,) = batch.attributes
    for i, ids in enumerate(batch.sequences()):
        events = slice(batch.offsets[i], batch.offsets[i + 1])
        times = () if batch.times is None else tuple(batch.times[events].tolist())
        starts = () if batch.starts is None else tuple(batch.starts[events].tolist())
        names = tuple(batch.activities[a] for a in ids)
        found[names, times, starts, tuple(marks.cells[events].tolist())] += 1
    return found


def read_counted(log: Log) -> Read:
    """The variants of a log, which only asks for the order of its events."""
    return Counter({(names, (), (), ()): many for names, many in count_variants(log)})


def read_with_times(log: Log) -> Read:
    """The cases of a log, which are those that are counted."""
    cases = read_cases(log)
    assert cases.by_case is not None
    assert cases.variants == count_variants(log)
    return sum(cases.by_case.map_parts(cases_of), Counter())


def read_typed(source: Any, options: dict[str, Any], read: Callable[[Log], Read]) -> Read | str:
    """What is read of a log, or why it is refused."""
    try:
        return read(open_log(source, attribute=("mark",), **options))
    except SacofaError as error:
        return str(error)


def compare(whole: Read | str, rest: Read | str) -> str | None:
    """What breaks the law, in words."""
    if isinstance(rest, str):
        readable = not isinstance(whole, str) and "no time stamp in column" not in rest
        return f"one case makes the log readable: {rest}" if readable else None
    if isinstance(whole, str):
        return None if REFUSED.search(whole) else f"one case makes the log unreadable: {whole}"
    change = whole.copy()
    change.subtract(rest)
    distance = sum(map(abs, change.values()))
    return None if distance <= 1 else f"distance {distance}: {whole} {rest}"


def options_for(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options that a store can be read with."""
    options = {**options, "activity": "activity", "timestamp": "time"}
    left_out = {"period", "protect"} if name in NO_PERIODS else set()
    if name in ("xes", "pm4py"):
        options |= {"activity": "concept:name", "timestamp": "time:timestamp", "order": "time"}
        left_out |= {"time_format"} if name == "xes" else set()
    if name == "postgresql":
        options["query"] = "SELECT * FROM typed"
    if name != "xes":
        options["start"] = "start"
    return {key: value for key, value in options.items() if key not in left_out}


NO_PERIODS = (
    "json lines", "workbook", "pm4py", "relation", "query of polars", "spark", "postgresql"
)  # fmt: skip
"""Stores of which no periods are read."""


def broken_by(
    name: str, store: Store, both: Sequence[Columns], options: dict[str, Any]
) -> tuple[str | None, bool]:
    """Store a log and its neighbour; give what breaks the law, and whether the log was read."""
    asked, broken, read = options_for(name, options), None, False
    for reading in (read_counted, read_with_times):
        with TemporaryDirectory() as folder:
            found = [read_typed(store(rows, Path(folder)), asked, reading) for rows in both]
        broken = broken or compare(*found)
        read = read or not isinstance(found[0], str)
    return broken, read


def law_for(name: str, store: Store, examples: int) -> None:
    """Read random logs with one case more and without it."""
    read = []

    @given(typed_logs())
    @settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
        report_multiple_bugs=False,
        phases=[Phase.generate],
    )
    def law(log: tuple[Columns, Columns, dict[str, Any]]) -> None:
        *both, options = log
        try:
            broken, is_read = broken_by(name, store, both, options)
        except NotStorableError:
            return
        assert broken is None, f"the law is broken: {broken}"
        read.append(is_read)

    # A law about logs that are refused would be kept by anybody.
    for number in range(4):
        seed(number)(law)()
        if sum(read) > examples // 6:
            return
    pytest.fail("hardly any of the logs was read")


EXAMPLES = 24
"""So many random logs each store is tried with; `FOUND` is tried whatever chance draws."""


@pytest.mark.parametrize("name", FRAMES)
def test_files_and_frames(name: str) -> None:
    """A case changes nothing of what others say, whatever it does to the types of columns."""
    law_for(name, FRAMES[name], EXAMPLES)


FOUND = [
    ("parquet files", {"time": "17 digits"}, None, {}),
    ("parquet", {"time": "ticks"}, None, {}),
    ("pandas", {"time": "nanoseconds since 1970"}, None, {}),
    ("categories", {"time": "17 digits"}, 2.5, {}),
    ("pandas", {"mark": "large numbers"}, None, {}),
    ("parquet files", {"mark": "large numbers"}, None, {}),
    ("pandas", {"time": "nanoseconds"}, "soon", {}),
    ("pandas", {"time": "nanoseconds"}, dt.datetime(9999, 12, 31), {}),
    ("pandas", {"time": "nanoseconds"}, "soon", {"period": "2020-01"}),
    ("pandas", {"time": "lengths"}, "2", {"order": "time"}),
    ("pandas", {"activity": "moments"}, "soon", {}),
    ("pandas", {"mark": "zones"}, "soon", {}),
    ("pandas", {"start": "seconds since 1970"}, "soon", {"time_format": "%d.%m.%Y"}),
    ("relation", {"time": "nanoseconds since 1970"}, None, {}),
    ("pandas", {"time": "numbers of several kinds"}, "soon", {}),
    ("json lines", {"mark": "large numbers"}, None, {}),
    ("workbook", {"mark": "large numbers"}, None, {}),
    ("parquet", {"who": "lengths"}, Decimal("2.5"), {"person": "who", "max_cases": 4}),
]
"""Stores, palettes, odd values and options with which the law was once broken."""


@pytest.mark.parametrize(
    ("name", "special", "odd", "options"),
    FOUND,
    ids=[f"{name}: {next(iter(special.items()))} and {odd!r}" for name, special, odd, _ in FOUND],
)
def test_what_once_broke_the_law(
    name: str, special: dict[str, str], odd: Any, options: dict[str, Any]
) -> None:
    """Each way in which the type of a column once changed what other cases say."""
    palettes = palettes_of(**special)
    both = [columns_of(palettes, dict.fromkeys(special, odd)), columns_of(palettes)]
    options = {"columns": declared(palettes), **options}
    assert broken_by(name, FRAMES[name], both, options)[0] is None


def test_a_database(address: str) -> None:
    """So it is in a PostgreSQL server whose tables are made for frames."""

    def store(columns: Columns, folder: Path) -> str:
        fill_database(columns, address)
        return address

    law_for("postgresql", store, EXAMPLES // 3)
