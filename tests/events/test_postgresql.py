"""A real PostgreSQL server counts as DuckDB does, and keeps its credentials to itself."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sacofa.errors import ColumnsError, ReadError, SettingError, Statement
from sacofa.events import count_variants, open_log, read_cases
from sacofa.events.postgresql import public_name
from sacofa.kernel.unit import Unit
from sacofa.kernel.variants import VariantCounts

from .duckdb.test_events import Row, slowly, tied
from .servers import PASSWORD, USER

psycopg = pytest.importorskip("psycopg", reason="the extra postgres is not installed")


def fill(address: str, rows: list[Row]) -> None:
    with psycopg.connect(address) as session:
        session.execute("DROP TABLE IF EXISTS events")
        session.execute(
            "CREATE TABLE events (id serial, case_id text, activity text, ts timestamptz)"
        )
        with session.cursor().copy("COPY events (case_id, activity, ts) FROM STDIN") as copy:
            for case, activity, second in rows:
                copy.write_row((case, activity, f"2020-01-01T00:00:{second:02}Z"))


QUERY = "select case_id, activity, ts from events order by id"


@pytest.mark.parametrize(
    "query",
    [
        QUERY + ";",
        "select case_id, activity, ts from events order by ts",
        "select * from (select * from events order by random()) as x -- shuffled",
    ],
)
def test_ties_go_by_name_whatever_the_query_says(query: str, address: str) -> None:
    """A log full of ties gives one answer, in whatever order the server gives its rows."""
    rows = tied(20_000, 6)
    fill(address, rows)
    expected = slowly(sorted(rows, key=lambda row: (row[2], row[1])), "time")
    for _ in range(2):
        assert count_variants(open_log(address, query=query)) == expected
    with pytest.raises(SettingError, match="no order of their own"):
        open_log(address, query=query, order="file")


def test_the_papers_logs(address: str, logs: Path) -> None:
    """A log of the paper, numbered and loaded into the server, gives the same variants."""
    import pandas as pd

    data = pd.read_parquet(logs / "sepsis.parquet")
    with psycopg.connect(address) as session:
        session.execute("DROP TABLE IF EXISTS sepsis")
        session.execute("CREATE TABLE sepsis (id serial, case_id text, activity text)")
        with session.cursor().copy("COPY sepsis (case_id, activity) FROM STDIN") as copy:
            for row in zip(data["case_id"], data["activity"], strict=True):
                copy.write_row(row)
    log = open_log(address, query="select * from sepsis", timestamp="id")
    assert count_variants(log) == count_variants(open_log(logs / "sepsis.parquet", order="file"))


def values(*rows: str, names: str = "n, case_id, activity, ts") -> str:
    return f"select * from (values {', '.join(rows)}) as t ({names}) order by 1"


@pytest.mark.parametrize("kind", ["timestamptz", "timestamp", "date"])
@pytest.mark.parametrize("form", [None, "iso"], ids=["counted there", "brought here"])
def test_an_odd_row_does_not_stop_the_others(kind: str, form: str | None, address: str) -> None:
    """A time beyond all calendars, and a mark that is neither yes nor no."""
    latest = {"date": "5874897-12-31", "timestamp": "294276-12-31"}.get(kind, "294276-12-30")
    query = values(
        f"('x', 'a', '2020-01-01'::{kind}, 'true')",
        f"('y', 'a', '{latest}'::{kind}, 'perhaps')",
        f"('z', 'b', 'infinity'::{kind}, null)",
        names='case_id, activity, ts, "case:unfinished"',
    )
    log = open_log(address, query=query, time_format=form)
    expected = VariantCounts.of({("a",): 1, ("b",): 1}, truncated={("a",): 1})
    assert count_variants(log) == expected
    cases = read_cases(log)
    assert cases.variants == expected


def test_empty_cases_people_parts_and_nasty_names(address: str) -> None:
    """Cases without events, people with several cases and joined activities are as in files."""
    query = values("(1, 'x', null, null)", "(2, 'y', 'a>>>''\n\"', now())")
    assert count_variants(open_log(address, query=query)) == VariantCounts.of(
        {(): 1, ("a>>>'\n\"",): 1}
    )
    both = ["activity", "step"]
    names = "time, case_id, activity, step"
    query = values("(1, '1', 'a', 'x')", names=names)
    assert count_variants(open_log(address, query=query, activity=both)).activities == ("a+x",)
    query = values("(1, '1', 'a+b', 'c')", "(2, '1', 'a', 'b+c')", names=names)
    with pytest.raises(ReadError, match="both be called"):
        count_variants(open_log(address, query=query, activity=both))


def test_persons_are_the_first_that_are_not_blank(address: str) -> None:
    """A case has one person, and the first cases of a person by time, then by id, are kept."""
    query = values(
        "(1, '1', 'z', E' \\t\\n\\x0b')", "(2, '1', 'a', 'v')", "(null, '0', 'b', 'v')",
        "(2, '2', 'c', 'v')", "(3, '2', 'd', 'w')", "(1, '3', 'e', '')", "(1, '4', 'e', null)",
        names="time, case_id, activity, who",
    )  # fmt: skip
    first: dict[tuple[str, ...], int] = {("z", "a"): 1, ("e",): 2}
    for most, kept in ((1, first), (2, {**first, ("c", "d"): 1})):
        told: list[Statement] = []
        log = open_log(address, query=query, person="who", max_cases=most)
        expected = VariantCounts.of(kept, unit=Unit(person="who", max_cases=most))
        assert count_variants(log, notify=told.append) == expected
        assert [line.split(":")[0] for line in map(str, told)] == [
            "1 event has no time stamp that can be read",
            "1 case with more than one person",
            f"{3 - most} case{'s' if most == 1 else ''} left out, of persons with more than {most}",
        ]


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("(1, null, 'a', now())", "row without case"),
        ("(1, null, null, null)", "row without case"),
        ("(1, 'x', null, now())", "row without activity"),
    ],
)
def test_rows_that_cannot_be_counted(row: str, what: str, address: str) -> None:
    """A row without case or activity is an error."""
    query = values("(0, 'z', 'a', now())", row)
    with pytest.raises(ReadError, match=what):
        count_variants(open_log(address, query=query))


def test_times_as_text(address: str) -> None:
    """Text is read as times as in a table, by the reader of tables; what is no time comes last."""
    names = "ts, case_id, activity"
    query = values(
        "('2020-01-01T12:00:00+02:00', '1', 'a')", "('2020-01-01 11:00', '1', 'b')", names=names
    )
    assert dict(count_variants(open_log(address, query=query))) == {("a", "b"): 1}
    query = values("('soon', '1', 'c')", "('31.12.2020', '1', 'd')", names=names)
    assert dict(count_variants(open_log(address, query=query))) == {("d", "c"): 1}


@pytest.mark.parametrize("value", ["Ann Smith", 'Ann "x" Smith', "\\nAnn Smith", "999999999999"])
def test_messages_repeat_no_value_of_the_log(value: str, address: str) -> None:
    """Not even where the query itself fails on one."""
    rows = values(f"(E'{value}', '1', 'a', date '2020-01-01')", names="age, case_id, activity, ts")
    with pytest.raises(ReadError, match=r"type integer|value …") as caught:
        count_variants(open_log(address, query=f"select * from ({rows}) as t where age::int > 0"))
    assert "Smith" not in str(caught.value) and "999" not in str(caught.value)


def test_queries_that_fail_or_would_write(address: str) -> None:
    """A wrong query is one clear line; one that would change data is refused by the server."""
    fill(address, [("1", "a", 0)])
    for query, what in (
        ("select nothing from nowhere", "nowhere"),
        ("delete from events returning *", "syntax error"),
        ("with x as (delete from events returning *) select * from x", "must be at the top level"),
        ("select 1 as case_id order by 1", "no column for activity"),
        ("select 1 as case_id, 'a' as activity", "no column for timestamp"),
    ):
        with pytest.raises(ReadError, match=what) as caught:
            open_log(address, query=query)
        assert "\n" not in str(caught.value)
    with psycopg.connect(address) as session:
        assert session.execute("SELECT count(*) FROM events").fetchone() == (1,)
    with pytest.raises(ColumnsError, match="columns there: case_id, activity, ts"):
        open_log(address, query=QUERY, person="who", max_cases=1)


def test_credentials_are_never_shown(address: str) -> None:
    """Whatever goes wrong, neither user nor password is in a message or in the log itself."""
    fill(address, [("1", "a", 0)])
    log = open_log(address, query=QUERY)
    shown = [repr(log), log.name, str(log.columns)]
    for wrong in (
        address.replace(PASSWORD, f"wrong-{PASSWORD}"),
        address.replace(f"{USER}:", f"nobody-{USER}:"),
        address + f"?password={PASSWORD}&user={USER}&nonsense={PASSWORD}",
        f"postgresql://{USER}:{PASSWORD}@127.0.0.1:1/postgres",
        f"postgresql://{USER}:{PASSWORD}@[bad/postgres",
        address + "-missing",
    ):
        with pytest.raises(ReadError) as caught:
            open_log(wrong, query=QUERY)
        shown.append(str(caught.value))
        assert caught.value.__cause__ is None and caught.value.__suppress_context__
    for text in shown:
        assert PASSWORD not in text and USER not in text
    assert public_name("postgresql://a:b@h/d?password=c") == "postgresql://h/d"


def test_a_lost_connection_is_one_clear_line(address: str) -> None:
    """A server that drops the connection in the middle gives an error, not a part of the answer."""
    query = (
        "select g::text as case_id, 'a' as activity, to_timestamp(g) as time "
        "from generate_series(1, 100) as g, "
        "lateral (select pg_sleep(case when g > 1 then 0.1 end)) as s order by 1"
    )
    log = open_log(address, query=query)

    def kill() -> None:
        with psycopg.connect(address, autocommit=True) as session:
            for _ in range(200):
                gone = session.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE query LIKE '%pg_sleep(case%' AND pid <> pg_backend_pid()"
                ).fetchall()
                if gone:
                    return
                time.sleep(0.05)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        with pytest.raises(ReadError, match=r"terminating|lost|closed|bad"):
            count_variants(log)
    finally:
        killer.join()


def test_a_query_is_needed(tmp_path: Path) -> None:
    """A database needs a query, and nothing else takes one."""
    with pytest.raises(SettingError, match="query"):
        open_log("postgresql://localhost/x")
    with pytest.raises(SettingError, match="query"):
        open_log(tmp_path / "log.csv", query="select 1")


def test_the_command_line_releases_from_a_database(address: str, tmp_path: Path) -> None:
    """A release from a server names no credentials; one that fails spends and leaves nothing."""

    def sacofa(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "sacofa", *map(str, arguments)], capture_output=True, text=True
        )

    fill(address, tied(3_000, 9))
    ledger = tmp_path / "l.ledger"
    assert sacofa("ledger", "budget", ledger, "log", "1").returncode == 0
    start = sorted(tmp_path.iterdir())
    asked = ("--query", QUERY, "-o", tmp_path / "out.csv", "--epsilon", "1", "--max-length", "5")
    paid = ("--ledger", ledger, "--dataset", "log")
    failed = sacofa("anonymize", address.replace(PASSWORD, f"x{PASSWORD}"), *asked, *paid)
    assert failed.returncode == 1 and sorted(tmp_path.iterdir()) == start
    assert failed.stderr.splitlines()[-1].startswith("sacofa: postgresql://127.0.0.1:")
    # The whole budget is still there.
    done = sacofa("anonymize", address, *asked, *paid)
    assert done.returncode == 0, done.stderr
    written = "".join(path.read_text() for path in tmp_path.iterdir() if path != ledger)
    shown = written + failed.stdout + failed.stderr + done.stdout + done.stderr
    assert PASSWORD not in shown and USER not in shown
    assert PASSWORD.encode() not in ledger.read_bytes() and USER.encode() not in ledger.read_bytes()
