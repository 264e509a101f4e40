"""A database is lent to one at a time, and knows nothing of whoever had it before."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pytest

from sacofa.events.duckdb import database
from sacofa.events.duckdb.database import borrowed
from sacofa.events.duckdb.partitions import limited

SETTINGS = (
    "SELECT name, value FROM duckdb_settings() WHERE name NOT IN ('temp_directory') ORDER BY name"
)
CONTENT = (
    "SELECT table_name FROM duckdb_tables() UNION ALL "
    "SELECT view_name FROM duckdb_views() WHERE NOT internal UNION ALL "
    "SELECT type_name FROM duckdb_types() WHERE NOT internal UNION ALL "
    "SELECT path FROM duckdb_external_file_cache()"
)


@pytest.fixture(autouse=True)
def none_idle(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Begin with none."""
    monkeypatch.setattr(database, "_idle", {})
    yield
    for each in database._idle.values():
        each.close()


def idle() -> int:
    """How many databases nobody uses."""
    return len(database._idle)


def test_nothing_is_left_for_the_next(tmp_path: Path) -> None:
    """Tables, types, what was registered, files that were read and settings are gone."""
    path, kept = tmp_path / "names.parquet", {"threads": "1", "memory_limit": "300MB"}
    with borrowed(tmp_path) as first:
        before = first.execute(SETTINGS).fetchall()
        assert not first.execute(CONTENT).fetchall()
    (base,) = database._idle.values()
    for file, settings in ((None, {}), (tmp_path / "events", kept)):
        with borrowed(tmp_path, file, settings) as session:
            session.execute("CREATE TABLE names AS SELECT 'secret' AS name")
            session.execute("CREATE TEMP TABLE part AS SELECT 'secret' AS name")
            session.execute("CREATE TYPE activity AS ENUM (SELECT name FROM names)")
            session.execute(f"COPY names TO '{path}'")
            session.execute(f"FROM '{path}'").fetchall()
            session.register("frame", {"x": np.zeros(1)})
            session.execute("SET TimeZone = 'Asia/Tokyo'")
            assert len(session.execute(CONTENT).fetchall()) >= 4
        # Limits cannot be lifted in every version: such a database is not lent again.
        assert list(database._idle.values()) == [base] * (not settings)
        with borrowed(tmp_path) as session:
            assert not session.execute(CONTENT).fetchall()
            assert session.execute(SETTINGS).fetchall() == before


def test_two_at_the_same_time_have_two(tmp_path: Path) -> None:
    """Neither sees the tables or limits of the other, and one of both is kept."""
    with borrowed(None):
        pass
    assert idle() == 1
    with borrowed(None) as one, borrowed(None, None, {"memory_limit": "300MB"}) as other:
        one.execute("CREATE TABLE names AS SELECT 1 AS name")
        assert not other.execute(CONTENT).fetchall()
        (limits,) = zip(
            one.execute("SELECT current_setting('memory_limit')").fetchone(),
            other.execute("SELECT current_setting('memory_limit')").fetchone(),
            strict=True,
        )
        assert limits[0] != limits[1] and not idle()
    assert idle() == 1


def test_a_limit_of_memory_ends_with_its_use() -> None:
    """After a write within little memory, the next reading has as much as ever."""
    large = "CREATE TABLE much AS SELECT hash(range) AS number FROM range(6_000_000)"
    with borrowed(None, None, {"memory_limit": "30MB", "threads": "1"}) as session:
        session.execute("CREATE TABLE little AS SELECT 1 AS number")
    with borrowed(None) as session:
        (usual,) = session.execute("SELECT current_setting('memory_limit')").fetchone()
        for _ in range(20):
            with limited(session, 30):
                session.execute("CREATE OR REPLACE TABLE little AS SELECT 1 AS number")
        assert session.execute("SELECT current_setting('memory_limit')").fetchone() == (usual,)
        session.execute(large)


def test_temporary_files_are_private_and_gone(tmp_path: Path) -> None:
    """They lie in the folder of who writes them, and the database with them is not lent again."""
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        with borrowed(folder, None, {"memory_limit": "30MB"}) as session:
            session.execute("CREATE TABLE much AS SELECT range AS number FROM range(9_000_000)")
            assert any(path.stat().st_size for path in folder.iterdir())
        assert not list(folder.iterdir()) and not idle()
    with borrowed(None) as session:
        assert session.execute("SELECT current_setting('temp_directory')").fetchone() == ("",)


def test_what_went_wrong_is_not_lent_again() -> None:
    """Whatever the reason: nobody knows in which state it was left."""
    with pytest.raises(duckdb.Error), borrowed(None) as session:
        session.execute("SELECT nothing")
    assert not idle()
    with pytest.raises(KeyboardInterrupt), borrowed(None):
        raise KeyboardInterrupt
    assert not idle()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_fork_makes_its_own() -> None:
    """The threads of its parent's database are not there."""
    with borrowed(None):
        pass
    child = os.fork()
    if child == 0:
        try:
            with borrowed(None) as session:
                (total,) = session.execute("SELECT sum(range) FROM range(1_000_000)").fetchone()
            os._exit(0 if total == 499_999_500_000 and len(database._idle) == 2 else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
