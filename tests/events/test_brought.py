"""Rows of a database and of a cluster mean what they mean in a table: starts, ends, forms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from sacofa.errors import SettingError
from sacofa.events import is_distributed, open_log, read_cases

from .test_lifecycle import LOG, Row, instances, rows

FORM = "%d.%m.%Y %H-%M-%S"
NAMES = ("case", "activity", "what", "began", "time")


def table(log: list[Row], *, text: bool) -> pd.DataFrame:
    """Rows with a transition and two columns of times, which are text of an own form or times."""
    zero = pd.Timestamp("2020-01-01", tz="UTC")
    times = [zero + pd.Timedelta(seconds=row[3]) for row in log]
    # Work of some began before; of others nobody knows.
    began = [t - pd.Timedelta(seconds=9) if t.second % 3 else None for t in times]
    if text:
        times = [time.strftime(FORM) for time in times]
        began = [time and time.strftime(FORM) for time in began]
    columns = zip(NAMES, ([r[0] for r in log], [r[1] for r in log], [r[2] for r in log], began,
                          times), strict=True)  # fmt: skip
    kinds = {"began": None, "time": None} if not text else {}
    return pd.DataFrame({n: pd.Series(v, dtype=kinds.get(n, "object")) for n, v in columns})


def in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows as a source without order has them: by activity, start before end, then all else."""

    def key(place: int) -> tuple[object, ...]:
        row = frame.iloc[place]
        is_end = str(row["what"]).lower() != "start"
        return row["activity"], is_end, *(str(row[name]) for name in NAMES)

    return frame.iloc[sorted(range(len(frame)), key=key)]


def options(text: bool) -> dict[str, Any]:
    """What is said of such rows."""
    said = {"lifecycle": "what", "start": "began"}
    return said | ({"time_format": FORM} if text else {})


def fill(address: str, frame: pd.DataFrame, *, text: bool) -> str:
    """Put rows into a table, and give a query that shuffles them."""
    import psycopg

    kind = "text" if text else "timestamptz"
    with psycopg.connect(address) as session:
        session.execute("DROP TABLE IF EXISTS brought")
        session.execute(
            f'CREATE TABLE brought ("case" text, activity text, what text, '
            f"began {kind}, time {kind})"
        )
        with session.cursor().copy("COPY brought FROM STDIN") as copy:
            for row in frame.astype(object).where(frame.notna(), None).itertuples(index=False):
                copy.write_row(row)
    return "select * from brought order by random()"


@pytest.mark.parametrize("text", [True, False], ids=["text", "times"])
def test_a_database_is_read_as_a_table(text: bool, address: str) -> None:
    """Starts are joined with ends and times read as in a frame; a case that goes takes no other."""

    @given(log=rows)
    @settings(
        max_examples=4, deadline=None, derandomize=True, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    def law(log: list[Row]) -> None:
        frame = table(log, text=text)
        query = fill(address, frame, text=text)
        found = sorted(instances(address, query=query, **options(text)), key=repr)
        assert found == sorted(instances(in_order(frame), **options(text)), key=repr)
        rest = frame[frame["case"] != "2"]
        if len(rest):
            query = fill(address, rest, text=text)
            left = instances(address, query=query, **options(text))
            assert all(case in found for case in left) and len(left) >= len(found) - 1

    law()


@pytest.mark.parametrize("text", [True, False], ids=["text", "times"])
def test_a_cluster_is_read_as_a_table(text: bool, session: Any, tmp_path: Path) -> None:
    """A Spark frame, shuffled, and files that Spark reads, in a zone that is not that of times."""
    frame = table(LOG, text=text)
    path = tmp_path / "log.parquet"
    frame.to_parquet(path, coerce_timestamps="us")
    meant = sorted(instances(in_order(frame), **options(text)), key=repr)
    shuffled = session.read.parquet(str(path)).repartition(4)
    assert sorted(instances(shuffled, **options(text)), key=repr) == meant
    files = instances(path, engine="spark", **options(text))
    assert sorted(files, key=repr) == sorted(instances(path, **options(text)), key=repr)


def test_what_is_found_by_its_name_is_read_so_too(address: str) -> None:
    """A column that is called as in pm4py needs no option; then nothing is counted there."""
    query = fill(address, table(LOG, text=False), text=False)
    plain = open_log(address, query=query)
    assert not plain.has_starts
    named = query.replace("*", '"case", activity, time, began as start_timestamp')
    log = open_log(address, query=named)
    assert log.has_starts and not is_distributed(log)
    by_case = read_cases(log).by_case
    assert by_case is not None
    (batch,) = by_case.map_parts(lambda number, part: part)
    assert batch.starts is not None and (batch.starts > 0).any()


def test_what_cannot_be_is_refused_before_rows_travel(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pattern that is none."""
    query = fill(address, table(LOG, text=True), text=True)
    monkeypatch.setattr("sacofa.events.postgresql.rows", lambda *_: pytest.fail("rows were read"))
    with pytest.raises(SettingError, match="a pattern of strptime"):
        open_log(address, query=query, time_format="%Q")
