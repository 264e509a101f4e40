"""A table is divided into partitions of whole cases, whatever their lengths and their hash."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sacofa.events import count_variants, open_log
from sacofa.events.duckdb import events, partitions, source
from sacofa.kernel.variants import VariantCounts

from .test_events import Row, frame, slowly, tied

SHAPES = {
    "scattered": [f"case {i * 7919 % 400}" for i in range(4_000)],
    "of one event": [f"case {i}" for i in range(3_000)],
    "one": ["the case"] * 2_000,
    "one long and many short": ["the case" if i % 2 else f"case {i % 500}" for i in range(3_000)],
    "all long": [f"case {i % 4}" for i in range(3_000)],
}
"""Cases of the rows of logs."""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "PARTITION_ROWS", 200)
    monkeypatch.setattr(partitions, "MAX_PARTITIONS", 5)


def divide(
    cases: Sequence[str], macro: str | None = None
) -> list[tuple[partitions.Partition, list[str]]]:
    """Divide rows, and give each partition with the cases of its rows."""
    database: Any = duckdb.connect()
    if macro is not None:
        database.execute(macro)
    database.execute("CREATE TABLE rows AS SELECT unnest(?) AS case_id", [list(cases)])
    return [
        (
            partition,
            [
                case
                for (case,) in database.execute(f"SELECT case_id FROM {partition.sql}").fetchall()
            ],
        )
        for partition in partitions.partition(database, "rows", len(cases), numbered=True)
    ]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.usefixtures("small")
def test_piles_hold_whole_cases_and_are_small(shape: str) -> None:
    """Every row and every case is in one partition; only a long case may be larger than that."""
    cases = SHAPES[shape]
    divided = divide(cases)
    assert sorted(case for _, found in divided for case in found) == sorted(cases)
    assert sum(len(set(found)) for _, found in divided) == len(set(cases))
    for partition, found in divided:
        assert partition.rows == len(found)
        assert (
            len(set(found)) == 1 if partition.long else partition.rows <= partitions.PARTITION_ROWS
        )
    assert any(partition.long for partition, _ in divided) == (
        shape in ("one", "one long and many short", "all long")
    )


@pytest.mark.usefixtures("small")
def test_a_small_table_is_one_pile_and_not_moved() -> None:
    """Where there is no need to divide, nothing is written."""
    ((partition, found),) = divide(["a"] * 200)
    assert (partition.sql, len(found)) == ("rows", 200)


@pytest.mark.usefixtures("small")
def test_cases_that_share_their_hash_stay_together() -> None:
    """Cases that no hash tells apart end up in one partition that is too large."""
    cases = SHAPES["scattered"]
    ((partition, found),) = divide(cases, "CREATE MACRO hash(c) AS 7::UBIGINT")
    assert sorted(found) == sorted(cases)
    assert (partition.rows, partition.long) == (4_000, False)


@pytest.mark.parametrize("hashing", ["7::UBIGINT", "(length(c) % 2)::UBIGINT"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.usefixtures("small")
def test_a_bad_hash_gives_the_same_variants(
    shape: str, hashing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases are told apart by their ids alone: a hash that mixes them up changes nothing."""

    @contextmanager
    def with_hash(name: str) -> Iterator[Any]:
        with source.open_database(name) as database:
            database.execute(f"CREATE MACRO hash(c) AS {hashing}")
            yield database

    cases = SHAPES[shape]
    steps = tied(len(cases), 3)
    rows: list[Row] = [
        (case, name, time) for case, (_, name, time) in zip(cases, steps, strict=True)
    ]
    frame(rows).to_parquet(tmp_path / "log.parquet", row_group_size=500)
    monkeypatch.setattr(events, "open_database", with_hash)
    for order in ("file", "time"):
        found = count_variants(open_log(tmp_path / "log.parquet", order=order))
        assert found == slowly(rows, order)


@pytest.mark.usefixtures("small")
def test_long_cases_may_be_cut_and_alike() -> None:
    """Long cases that are the same are counted together, unless one of them was cut."""
    rows = [(case, "ab"[i % 2], case == "3") for i in range(300) for case in "1234"]
    data = frame([(case, name, 0) for case, name, _ in rows])
    data["case:unfinished"] = [cut for _, _, cut in rows]
    variant = tuple("ab" * 150)
    expected = VariantCounts.of({variant: 3}, truncated={variant: 1})
    assert count_variants(data) == expected


@pytest.mark.usefixtures("small")
def test_folders_for_piles_may_have_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Partitions are found again where the folder for temporary files has an odd name."""
    folder = tmp_path / "it's [a] *"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    rows = tied(1_000, 4)
    assert count_variants(open_log(frame(rows), order="time")) == slowly(rows, "time")
    assert not list(folder.iterdir())
