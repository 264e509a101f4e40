"""Every way into the package, as functions that store rows and count their variants.

A way is given rows and options, stores the rows as its source does (a file, a frame, a table), and
counts. Sources that have no order of their own are stored in an order that other rows decide.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any, Literal
from xml.sax.saxutils import quoteattr

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from sacofa.audit.neighbours import Event, EventLog, Ties
from sacofa.events import count_variants, open_log
from sacofa.kernel.variants import VariantCounts

NAMES = ("case", "activity", "time", "who", "mark")


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way in."""

    read: Callable[..., VariantCounts]
    """Stores rows in a folder, and counts them with options of `open_log`."""
    orders: tuple[str, ...] = ("time", "file")
    """The orders that can be asked for."""
    ordered: bool = True
    """Whether rows have an order of their own."""
    persons: bool = True
    """Whether persons can be asked for."""
    times: Literal["text", "xes", "typed"] = "text"
    """What times can be: any text, text that is no number, or nothing but times."""
    parts: int = 1
    """How many files hold the rows."""

    def prepared(self, rows: EventLog) -> list[Event]:
        """Give rows as this way can store them, in its order."""
        by_file = sorted(rows, key=lambda row: part_of(row, self.parts))
        return [self._prepared(row) for row in by_file]

    def _prepared(self, row: Event) -> Event:
        time = row.time
        if time is not None and "T" not in time:
            time = {"text": time, "xes": "soon", "typed": None}[self.times]
        # In XES a case without events is a case; it has no row that could say whose it is.
        person = None if self.times == "xes" and row.activity is None else row.person
        return replace(row, time=time, person=person)

    def ties(self, order: str) -> Ties:
        """How the events of a case are ordered."""
        if not self.ordered:
            return "name"
        return "time" if order == "time" else "file"


def columns_of(rows: EventLog) -> dict[str, list[str | None]]:
    """Give rows as columns."""
    return {
        "case": [row.case for row in rows],
        "activity": [row.activity for row in rows],
        "time": [row.time for row in rows],
        "who": [row.person for row in rows],
        "mark": [mark_of(row) for row in rows],
    }


def mark_of(row: Event) -> str | None:
    """What else a row says, as its own content has it: an attribute."""
    return (row.time or row.activity or "")[-1:] or None


def timed(rows: EventLog) -> pa.Table:
    """Give rows as a typed table, in which what is no time is missing."""
    data = columns_of(rows)
    stamps = pd.to_datetime(pd.Series(data.pop("time"), dtype="object"), errors="coerce", utc=True)
    text = {name: pa.array(values, pa.string()) for name, values in data.items()}
    times = pa.array(stamps, pa.timestamp("us", tz="UTC"))
    return pa.table({**text, "time": times})


def write_csv(path: Path, rows: EventLog, comma: str = ",", *, named: bool = True) -> Path:
    """Write rows; what is missing is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=comma, lineterminator="\n")
    if named:
        writer.writerow(NAMES)
    writer.writerows(zip(*columns_of(rows).values(), strict=True))
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


def write_xes(path: Path, rows: EventLog) -> Path:
    """Write cases in the order in which they begin."""
    cases: dict[str, list[Event]] = {}
    for row in rows:
        cases.setdefault(row.case, []).append(row)
    text = ["<log>"]
    for case, events in cases.items():
        text.append(f'<trace><string key="concept:name" value={quoteattr(case)}/>')
        for event in events:
            if event.activity is None:
                continue
            text.append(f'<event><string key="concept:name" value={quoteattr(event.activity)}/>')
            if event.time is not None:
                text.append(f'<date key="time:timestamp" value={quoteattr(event.time)}/>')
            for key, value in (("who", event.person), ("mark", mark_of(event))):
                if value is not None:
                    text.append(f'<string key="{key}" value={quoteattr(value)}/>')
            text.append("</event>")
        text.append("</trace>")
    path.write_text("".join([*text, "</log>"]), encoding="utf-8")
    return path


def read_csv(folder: Path, rows: EventLog, **options: Any) -> VariantCounts:
    return count_variants(open_log(write_csv(folder / "log.csv", rows), **options))


def read_bare_csv(folder: Path, rows: EventLog, **options: Any) -> VariantCounts:
    """A file in which no line names the columns: its first row is a case."""
    path = write_csv(folder / "log.csv", rows, named=not rows)
    return count_variants(open_log(path, **options, header=NAMES if rows else ()))


def read_tsv(folder: Path, rows: EventLog, **options: Any) -> VariantCounts:
    return count_variants(open_log(write_csv(folder / "log.tsv", rows, "\t"), **options))


def read_parquet(folder: Path, rows: EventLog, **options: Any) -> VariantCounts:
    pq.write_table(timed(rows), folder / "log.parquet", row_group_size=3)
    return count_variants(open_log(folder / "log.parquet", **options))


def part_of(row: Event, parts: int) -> int:
    """The file that a row lies in, whatever other rows there are."""
    return (len(row.case) + sum(map(ord, row.activity or ""))) % parts


def several(rows: EventLog) -> Iterator[EventLog]:
    """Part rows into three files; a case may have some in each."""
    for part in range(3):
        yield [row for row in rows if part_of(row, 3) == part]


def read_csv_files(folder: Path, rows: EventLog, **options: Any) -> VariantCounts:
    for number, part in enumerate(several(rows)):
        write_csv(folder / f"part {number}.csv", part)
    return count_variants(open_log(folder / "part *.csv", **options))


def read_parquet_files(folder: Path, rows: EventLog, **options: Any) -> VariantCounts:
    for number, part in enumerate(several(rows)):
        pq.write_table(timed(part), folder / f"part {number}.parquet", row_group_size=2)
    return count_variants(open_log(folder / "part *.parquet", **options))


def read_pandas(folder: Path, rows: EventLog, **options: Any) -> VariantCounts:
    frame = pd.DataFrame({k: pd.Series(v, dtype="object") for k, v in columns_of(rows).items()})
    return count_variants(open_log(frame, **options))


def read_categories(folder: Path, rows: EventLog, **options: Any) -> VariantCounts:
    """Categories of pandas, which are numbered as they first come."""
    columns = {name: pd.Series(v, dtype="object") for name, v in columns_of(rows).items()}
    frame = pd.DataFrame(
        {name: pd.Categorical(v, categories=v.dropna().unique()) for name, v in columns.items()}
    )
    return count_variants(open_log(frame, **options))


def read_numbers(folder: Path, rows: EventLog, **options: Any) -> VariantCounts:
    """Activities, persons and marks are numbers: where one is missing, all become fractions."""
    columns: dict[str, list[Any]] = {**columns_of(rows)}
    names, persons = {"a": 1, "b": 2, "B": 3, "é": 4}, {"ann": 1, "Ann": 2, "ann ": 3}
    columns["activity"] = [names.get(row.activity or "") for row in rows]
    columns["who"] = [persons.get(row.person or "") for row in rows]
    marks = (mark_of(row) or "" for row in rows)
    columns["mark"] = [int(mark) if mark.isdigit() else None for mark in marks]
    return count_variants(open_log(pd.DataFrame(columns), **options))


def read_polars(folder: Path, rows: EventLog, **options: Any) -> VariantCounts:
    frame = pl.DataFrame(columns_of(rows), schema=dict.fromkeys(NAMES, pl.String))
    return count_variants(open_log(frame, **options))


def read_query(folder: Path, rows: EventLog, **options: Any) -> VariantCounts:
    """A query of polars: where a row lies depends on all rows, and on chance."""
    frame = pl.DataFrame(columns_of(rows), schema=dict.fromkeys(NAMES, pl.String))
    shuffled = frame.lazy().with_row_index().unique().drop("index")
    return count_variants(open_log(shuffled, **options))


def read_pyarrow(folder: Path, rows: EventLog, **options: Any) -> VariantCounts:
    return count_variants(open_log(timed(rows), **options))


def read_xes(folder: Path, rows: EventLog, **options: Any) -> VariantCounts:
    return count_variants(open_log(write_xes(folder / "log.xes", rows), **options))


def read_event_log(folder: Path, rows: EventLog, **options: Any) -> VariantCounts:
    """A log of pm4py: values of many types, and moments in several zones."""
    from pm4py.objects.log import obj

    cases: dict[str, Any] = {}
    for row in rows:
        trace = cases.setdefault(row.case, obj.Trace(attributes={"concept:name": row.case}))
        if row.activity is None:
            continue
        said: dict[str, Any] = {"concept:name": True if row.activity == "B" else row.activity}
        if row.time is not None:
            with suppress(ValueError):
                zone = timezone(timedelta(hours=int(row.time[-1]) % 3))
                said["time:timestamp"] = pd.Timestamp(f"{row.time}Z").astimezone(zone)
            said.setdefault("time:timestamp", row.time)
        mark = mark_of(row)
        said["mark"] = int(mark) if mark is not None and mark.isdigit() else mark
        trace.append(obj.Event(said if row.person is None else {**said, "who": row.person}))
    return count_variants(open_log(obj.EventLog(cases.values()), **options))


def read_json(folder: Path, rows: EventLog, **options: Any) -> VariantCounts:
    cases: dict[str, list[str]] = {}
    for row in rows:
        cases.setdefault(row.case, []).extend([row.activity] if row.activity is not None else [])
    counted = Counter(map(tuple, cases.values()))
    entries = [{"activities": list(v), "count": n, "finished": True} for v, n in counted.items()]
    names = sorted({name for variant in counted for name in variant})
    content = {"format": "sacofa-variants-1", "activities": names, "variants": entries}
    (folder / "log.json").write_text(json.dumps(content))
    return count_variants(open_log(folder / "log.json"))


def read_spark_frame(folder: Path, rows: EventLog, **options: Any) -> VariantCounts:
    """A DataFrame after a shuffle: where a row lies depends on all rows."""
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    assert session is not None
    path = folder / "frame.parquet"
    pq.write_table(timed(rows), path)
    frame = session.read.parquet(str(path)).repartition(4)
    return count_variants(open_log(frame, **options))


def read_spark_csv(folder: Path, rows: EventLog, **options: Any) -> VariantCounts:
    path = write_csv(folder / "log.csv", rows)
    return count_variants(open_log(path, engine="spark", **options))


def read_spark_parquet(folder: Path, rows: EventLog, **options: Any) -> VariantCounts:
    pq.write_table(timed(rows), folder / "log.parquet", row_group_size=3)
    return count_variants(open_log(folder / "log.parquet", engine="spark", **options))


class Database:
    """Rows in a table of a PostgreSQL server, as a query gives them that sorts as it likes."""

    def __init__(self, address: str, query: str = "select * from rows order by time") -> None:
        self.address = address
        self.query = query

    def __call__(self, folder: Path, rows: EventLog, **options: Any) -> VariantCounts:
        """Fill the table and count."""
        import psycopg

        table = timed(rows).to_pylist()
        with psycopg.connect(self.address) as session:
            session.execute("DROP TABLE IF EXISTS rows")
            session.execute(
                "CREATE TABLE rows (case_id text, activity text, who text, time timestamptz, "
                "mark text)"
            )
            with session.cursor().copy("COPY rows FROM STDIN") as copy:
                for row in table:
                    kept = ("case", "activity", "who", "time", "mark")
                    copy.write_row([row[name] for name in kept])
        return count_variants(open_log(self.address, query=self.query, **options))


FILES = {
    "csv": Way(read=read_csv),
    "csv without a header": Way(read=read_bare_csv),
    "tsv": Way(read=read_tsv),
    "parquet": Way(read=read_parquet, times="typed"),
    "csv files": Way(read=read_csv_files, parts=3),
    "parquet files": Way(read=read_parquet_files, parts=3, times="typed"),
    "pandas": Way(read=read_pandas),
    "categories": Way(read=read_categories),
    "numbers": Way(read=read_numbers),
    "polars": Way(read=read_polars),
    "query of polars": Way(read=read_query, orders=("time",), ordered=False, times="typed"),
    "pyarrow": Way(read=read_pyarrow, times="typed"),
    "xes": Way(read=read_xes, times="xes"),
    "pm4py": Way(read=read_event_log, times="xes"),
    "json": Way(read=read_json, orders=("file",), persons=False),
}
"""Ways that need no server."""

SPARK = {
    "spark frame": Way(read=read_spark_frame, orders=("time",), ordered=False, times="typed"),
    "spark csv": Way(read=read_spark_csv),
    "spark parquet": Way(read=read_spark_parquet, times="typed"),
}
