"""Neighbours stay neighbours where Spark reads: with times and values, one by one and counted.

Other readers keep these laws one at a time, with many small logs (../test_neighbours*,
../test_cases). Here a read costs a second, whatever the size of the log: so logs are larger, and
one law says it all. Cases that are read one by one are those that are counted and those of the
rows, and without a unit they are all there but its own, with their times and values.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow.parquet as pq
import pytest

from sacofa.audit.neighbours import Event, EventLog, units_of
from sacofa.errors import ReadError
from sacofa.events import Log, count_variants, open_log, read_cases
from sacofa.kernel.cases import NO_TIME, CaseBatch
from sacofa.kernel.unit import ONE_CASE, Unit

from .. import broken, ways
from ..stores import in_parquet_files, in_spark
from ..test_cases import check_times
from ..test_neighbours import PERSON, options_of
from ..test_neighbours_cells import broken_by, columns_of, declared, law_for, palettes_of
from ..ways import FILES, SPARK, Way, mark_of

Valued = Counter[tuple[tuple[str, ...], tuple[int, ...], tuple[int, ...], bool]]
"""How often a case has these activities at these times with these values."""
ROWS = 60
"""So many rows a log has: cases of several events, and persons with several cases."""
EXTREME = [
    Event(case="extreme", activity="only here", time="2019-12-31T00:00:00", person="zoe"),
    Event(case="second", activity="a", time="2020-01-01T00:00:01", person="zoe"),
    Event(case="extreme", activity="a", time="2021-01-01T00:00:01"),
    Event(case="third", activity="b", time="2020-01-01T00:00:01", person="zoe"),
]
"""The unit that comes and goes: what a reader takes from all rows it is most likely to change."""


def random_log(seed: int) -> list[Event]:
    """A log full of ties, with rows that stand there twice, lack something, or are no events."""
    choose = random.Random(seed).choice
    times = ["2020-01-01T00:00:01", "2020-01-01T00:00:02", "2020-07-01T00:00:01"] * 3
    rows = [
        Event(
            case=f"{choose(range(14))}",
            activity=choose(["a", "b", "B", "é"]),
            time=choose([*times, None, "soon"]),
            person=choose([None, "", "  ", "ann", "Ann", "ann ", "bob"]),
        )
        for _ in range(ROWS)
    ]
    lone = [Event(case=case, activity=None, person=choose([None, "ann"])) for case in ("2", "lone")]
    return [*rows[: ROWS // 2], *EXTREME, *rows[ROWS // 2 :], *lone, choose(rows), choose(rows)]


def valued_cases(number: int, batch: CaseBatch) -> Valued:
    """The cases of a part."""
    found: Valued = Counter()
    assert batch.times is not None
    (values,) = batch.attributes
    complete, ends = batch.complete.tolist(), batch.offsets.tolist()
    for i, ids in enumerate(batch.sequences()):
        events = slice(ends[i], ends[i + 1])
        cells = values.cells[slice(i, i + 1) if values.of_case else events].tolist()
        names = tuple(batch.activities[activity] for activity in ids)
        found[names, tuple(batch.times[events].tolist()), tuple(cells), complete[i]] += 1
    return found


def read_all(log: Log) -> Valued:
    """The cases of a log, which are those that are counted."""
    cases = read_cases(log)
    assert cases.by_case is not None and len(cases.attributes) == 1
    counted = count_variants(log)
    assert cases.variants == counted
    assert cases.unit == counted.unit == log.unit
    found: Valued = sum(cases.by_case.map_parts(valued_cases), Counter())
    assert found.total() == counted.cases
    return found


def check(
    way: Way,
    folder: Path,
    order: str,
    unit: Unit,
    *,
    of: str = "event",
    seed: int = 0,
    read: Callable[[Log], Valued] = read_all,
) -> None:
    """Read a log as a whole, and without one unit; the whole is what its rows say."""
    rows = way.prepared(random_log(seed))
    marks = sorted({mark for row in rows if (mark := mark_of(row)) is not None})
    columns = {"attributes": {"mark": {"values": [*marks, "nothing"], "of": of}}}
    options = {"attribute": ("mark",), "columns": columns, **options_of(unit, order)}

    def cases_of(log: EventLog) -> Valued:
        with patch.object(ways, "count_variants", read):
            return way.read(folder, log, **options)  # type: ignore[return-value]

    whole = cases_of(rows)
    (gone,) = (cases for cases in units_of(rows, unit, way.ties(order)) if "extreme" in cases)
    change = whole.copy()
    change.subtract(cases_of([row for row in rows if row.case not in gone]))
    distance = sum(map(abs, change.values()))
    assert 0 < distance <= unit.max_cases, f"the law is broken: without {gone}: {distance}"
    timed = [(names, times) for names, times, _, _ in whole.elements()]
    check_times(way, rows, timed, unit, order)


@pytest.mark.parametrize("name", SPARK)
def test_what_a_unit_changes_is_its_own(name: str, session: Any, tmp_path: Path) -> None:
    """In every order, for cases and for persons, with attributes of events and of cases."""
    way = SPARK[name]
    check(way, tmp_path, way.orders[0], ONE_CASE)
    check(way, tmp_path, way.orders[-1], PERSON[1], of="case", seed=1)
    check(way, tmp_path, way.orders[0], PERSON[2], seed=2)


def test_types_change_nothing(session: Any) -> None:
    """A case that lacks a value, or has another one, changes nothing of what others say."""
    law_for("spark", in_spark, 16)
    for role in ("activity", "mark"):
        palettes = palettes_of(**{role: "whole numbers"})
        both = [columns_of(palettes, {role: None}), columns_of(palettes)]
        broken, _ = broken_by("spark", in_spark, both, {"columns": declared(palettes)})
        assert broken is None


def test_files_with_different_types_are_refused(session: Any, tmp_path: Path) -> None:
    """Spark would take the types of one file for those of all."""
    palettes = palettes_of(mark="whole numbers")
    files = in_parquet_files(columns_of(palettes, {"mark": None}), tmp_path)
    for path in files:  # Spark cannot read nanoseconds, which pandas 2 writes.
        pq.write_table(pq.read_table(path), path, coerce_timestamps="us")
    with pytest.raises(ReadError, match='column "mark" is DOUBLE, and BIGINT in the first file'):
        open_log(files, engine="spark", attribute=("mark",))


def from_the_first(found: Valued) -> Valued:
    """Broken: times are counted from the first of the log."""
    first = min(time for _, times, _, _ in found for time in times if time != NO_TIME)
    moved: Valued = Counter()
    for (names, times, cells, complete), many in found.items():
        since = tuple(NO_TIME if time == NO_TIME else time - first for time in times)
        moved[names, since, cells, complete] += many
    return moved


def by_rank(found: Valued) -> Valued:
    """Broken: values are numbered among those that there are."""
    there = sorted({cell for _, _, cells, _ in found for cell in cells})
    moved: Valued = Counter()
    for (names, times, cells, complete), many in found.items():
        moved[names, times, tuple(map(there.index, cells)), complete] += many
    return moved


@pytest.mark.parametrize("mistake", [from_the_first, by_rank])
def test_what_depends_on_other_cases_is_found(
    mistake: Callable[[Valued], Valued], tmp_path: Path
) -> None:
    """A law that anybody kept would say nothing: the same logs find what moves with others."""
    with pytest.raises(AssertionError, match="the law is broken"):
        check(FILES["csv"], tmp_path, "time", PERSON[2], read=lambda log: mistake(read_all(log)))


def test_ids_that_spark_gives_are_found(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where rows lie after a shuffle changes with other rows, or from read to read."""
    broken.spark_ties_by_id(monkeypatch)
    with pytest.raises(AssertionError):
        check(SPARK["spark frame"], tmp_path, "time", ONE_CASE)
