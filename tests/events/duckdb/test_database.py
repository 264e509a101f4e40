"""A database is that of one user, and leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

from sacofa.events.duckdb.database import borrowed
from sacofa.events.duckdb.partitions import limited

CONTENT = "SELECT table_name FROM duckdb_tables()"


def test_two_at_the_same_time_have_two() -> None:
    """Neither sees the tables or limits of the other."""
    with borrowed(None) as one, borrowed(None, None, {"memory_limit": "300MB"}) as other:
        one.execute("CREATE TABLE names AS SELECT 1 AS name")
        assert not other.execute(CONTENT).fetchall()
        (limits,) = zip(
            one.execute("SELECT current_setting('memory_limit')").fetchone(),
            other.execute("SELECT current_setting('memory_limit')").fetchone(),
            strict=True,
        )
        assert limits[0] != limits[1]


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
    """They lie in the folder of who writes them, and go with its database."""
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        with borrowed(folder, None, {"memory_limit": "30MB"}) as session:
            session.execute("CREATE TABLE much AS SELECT range AS number FROM range(9_000_000)")
            assert any(path.stat().st_size for path in folder.iterdir())
        assert not list(folder.iterdir())
    with borrowed(None) as session:
        assert session.execute("SELECT current_setting('temp_directory')").fetchone() == ("",)
