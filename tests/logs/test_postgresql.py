"""A real PostgreSQL server counts as DuckDB does, and keeps its credentials to itself."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sacofa.errors import ColumnsError, ReadError, SettingError
from sacofa.logs import count_variants, open_log
from sacofa.logs.postgresql import public_name
from sacofa.variants import VariantCounts

from .test_tables import Row, slowly, tied

psycopg = pytest.importorskip("psycopg", reason="the extra postgres is not installed")

USER, PASSWORD = "kate", "s3cret-of-kate"


def programs() -> Path:
    """Find the folder with the programs of a PostgreSQL server."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    pytest.skip("there is no PostgreSQL server on this machine (Debian: postgresql)")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A fresh server on the loopback interface, stopped afterwards."""
    folder = programs()
    home = Path(tempfile.mkdtemp(prefix="sacofa-postgresql-"))
    # The server refuses to run as root.
    who: dict[str, Any] = {}
    if os.geteuid() == 0:
        import pwd

        try:
            entry = pwd.getpwnam("postgres")
        except KeyError:
            shutil.rmtree(home)
            pytest.skip("PostgreSQL does not run as root and there is no user postgres")
        who = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        os.chown(home, entry.pw_uid, entry.pw_gid)
    (home / "password").write_text(PASSWORD)
    os.chmod(home / "password", 0o644)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = home / "data"
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "cwd": "/"}
    server = None
    try:
        subprocess.run(
            [folder / "initdb", "-D", data, "-U", USER, f"--pwfile={home / 'password'}",
             "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"],
            check=True, **quiet, **who,
        )  # fmt: skip
        server = subprocess.Popen(
            [folder / "postgres", "-D", data, "-p", str(port), "-c", "listen_addresses=127.0.0.1",
             "-c", "fsync=off", "-k", home],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", **who,
        )  # fmt: skip
        there = f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{port}/postgres"
        for _ in range(150):
            try:
                psycopg.connect(there).close()
                break
            except psycopg.OperationalError:
                time.sleep(0.2)
        else:
            pytest.fail("the server does not come up")
        yield there
    finally:
        if server is not None:
            server.terminate()
            server.wait(30)
        shutil.rmtree(home, ignore_errors=True)


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


@pytest.mark.parametrize("order", ["file", "time"])
def test_the_same_counts_as_elsewhere(order: str, address: str) -> None:
    """A log full of ties is counted as literally as anywhere else."""
    rows = tied(20_000, 5)
    fill(address, rows)
    assert count_variants(open_log(address, query=QUERY + ";", order=order)) == slowly(rows, order)


def test_without_order_by_ties_go_by_name(address: str) -> None:
    """A query without ORDER BY needs order by time, and is then the same on every run."""
    rows = tied(20_000, 6)
    fill(address, rows)
    query = "select * from (select * from events order by random()) as x -- shuffled"
    with pytest.raises(SettingError, match="ORDER BY"):
        open_log(address, query=query)
    expected = slowly(sorted(rows, key=lambda row: (row[2], row[1])), "time")
    for _ in range(2):
        assert count_variants(open_log(address, query=query, order="time")) == expected


def test_the_papers_logs(address: str, logs: Path) -> None:
    """A log of the paper, loaded into the server, gives the same variants."""
    import pandas as pd

    data = pd.read_parquet(logs / "sepsis.parquet")
    with psycopg.connect(address) as session:
        session.execute("DROP TABLE IF EXISTS sepsis")
        session.execute("CREATE TABLE sepsis (id serial, case_id text, activity text)")
        with session.cursor().copy("COPY sepsis (case_id, activity) FROM STDIN") as copy:
            for row in zip(data["case_id"], data["activity"], strict=True):
                copy.write_row(row)
    log = open_log(address, query="select case_id, activity from sepsis order by id")
    assert count_variants(log) == count_variants(logs / "sepsis.parquet")


def values(*rows: str, names: str = "n, case_id, activity, ts") -> str:
    return f"select * from (values {', '.join(rows)}) as t ({names}) order by 1"


def test_empty_cases_people_parts_and_nasty_names(address: str) -> None:
    """Cases without events, people with several cases and joined activities are as in files."""
    query = values("(1, 'x', null, null)", "(2, 'y', 'a>>>''\n\"', now())")
    assert count_variants(open_log(address, query=query)) == VariantCounts.of(
        {(): 1, ("a>>>'\n\"",): 1}
    )
    query = values(
        "(1, '1', 'a', 'ann')", "(2, '2', 'b', 'ann')",
        "(3, '3', 'c', null)", "(4, '4', 'c', null)",
        names="n, case_id, activity, who",
    )  # fmt: skip
    assert count_variants(
        open_log(address, query=query, person="who", max_cases=1)
    ) == VariantCounts.of({("a",): 1, ("c",): 2})
    both = ["activity", "step"]
    names = "n, case_id, activity, step"
    query = values("(1, '1', 'a', 'x')", names=names)
    assert count_variants(open_log(address, query=query, activity=both)).activities == ("a+x",)
    query = values("(1, '1', 'a+b', 'c')", "(2, '1', 'a', 'b+c')", names=names)
    with pytest.raises(ReadError, match="both be called"):
        count_variants(open_log(address, query=query, activity=both))


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("(1, null, 'a', now())", "row without case"),
        ("(1, null, null, null)", "row without case"),
        ("(1, 'x', null, now())", "row without activity"),
        ("(1, 'x', 'a', null)", "row without timestamp"),
    ],
)
def test_rows_that_cannot_be_counted(row: str, what: str, address: str) -> None:
    """A row without case, activity or needed time stamp is an error."""
    query = values("(0, 'z', 'a', now())", row)
    with pytest.raises(ReadError, match=what):
        count_variants(open_log(address, query=query, order="time"))


def test_queries_that_fail_or_would_write(address: str) -> None:
    """A wrong query is one clear line; one that would change data is refused by the server."""
    fill(address, [("1", "a", 0)])
    for query, what in (
        ("select nothing from nowhere", "nowhere"),
        ("delete from events returning *", "syntax error"),
        ("with x as (delete from events returning *) select * from x", "must be at the top level"),
        ("select 1 as case_id order by 1", "no column for activity"),
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
        "select g::text as case_id, 'a' as activity from generate_series(1, 100) as g, "
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
