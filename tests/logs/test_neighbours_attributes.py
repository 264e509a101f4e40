"""Neighbours stay neighbours with their attributes: what a case changes is its own values alone.

L and L' differ by one case ⇒ their cases, each with its activities and values, differ by one: in
every way in, for attributes of events and of cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sacofa.audit.neighbours import Event
from sacofa.cases import CaseBatch
from sacofa.errors import SacofaError
from sacofa.logs import Log, read_cases

from . import ways
from .test_neighbours import event_logs
from .ways import FILES, SPARK, Database, Way

Valued = Counter[tuple[tuple[str, ...], tuple[int, ...]]]
"""How often a case has these activities with these values."""
TRIED = [name for name in FILES if name not in ("json", "r4pm")]


def valued_cases(number: int, batch: CaseBatch) -> Valued:
    """The cases of a part."""
    found: Valued = Counter()
    (values,) = batch.attributes
    for i, ids in enumerate(batch.sequences()):
        cells = values.cells[batch.offsets[i] : batch.offsets[i + 1]].tolist()
        if values.of_case:
            cells = [int(values.cells[i])]
        found[tuple(batch.activities[a] for a in ids), tuple(cells)] += 1
    return found


def read_valued(log: Log) -> Any:
    """The cases of a log with their values."""
    cases = read_cases(log)
    assert cases.by_case is not None and len(cases.attributes) == 1
    return sum(cases.by_case.map_parts(valued_cases), Counter())


def by_rank(log: Log) -> Any:
    """Broken on purpose: values are numbered as they first come in the log."""
    ranks: dict[int, int] = {}
    moved: Valued = Counter()
    for (names, cells), many in sorted(read_valued(log).items()):
        moved[names, tuple(ranks.setdefault(cell, len(ranks)) for cell in cells)] += many
    return moved


def try_law(way: Way, examples: int, read: Callable[[Log], Any] = read_valued) -> None:
    """Try a way with random logs and orders, as attribute of events and of cases."""
    seen = []

    @given(
        rows=event_logs, order=st.sampled_from(way.orders), of=st.sampled_from(["case", "event"])
    )
    @settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
        derandomize=True,
        phases=[Phase.generate],
    )
    def law(rows: list[Event], order: str, of: str) -> None:
        rows = way.prepared(rows)
        persons = sorted({row.person for row in rows if row.person and row.person.strip()})
        columns = {"attributes": {"who": {"values": [*persons, "nobody"], "of": of}}}

        def cases_of(folder: str, log: list[Event]) -> Valued | None:
            try:
                with patch.object(ways, "count_variants", read):
                    found: Any = way.read(
                        Path(folder), log, order=order, attribute=("who",), columns=columns
                    )
            except SacofaError:
                return None
            seen.append(found.total())
            return found  # type: ignore[no-any-return]

        with TemporaryDirectory() as folder:
            whole = cases_of(folder, rows)
            every = sorted({row.case for row in rows})
            for gone in every[:: max(len(every) // 2, 1)]:
                rest = cases_of(folder, [row for row in rows if row.case != gone])
                if whole is None or rest is None:
                    continue
                change = whole.copy()
                change.subtract(rest)
                assert sum(map(abs, change.values())) <= 1, "the law is broken"

    law()
    assert sum(seen) > examples


@pytest.mark.parametrize("name", TRIED)
def test_files_and_frames(name: str) -> None:
    """A case that comes or goes takes its own values with it, and nothing else."""
    try_law(FILES[name], 6)


@pytest.mark.slow
@pytest.mark.parametrize("name", SPARK)
def test_spark(name: str, session: Any) -> None:
    """So it is where Spark reads, shuffles or not."""
    try_law(SPARK[name], 3)


def test_a_database(address: str) -> None:
    """So it is in a PostgreSQL server."""
    way = Way(read=Database(address), orders=("time",), ordered=False, times="typed")
    try_law(way, 6)


@pytest.mark.parametrize("name", ["csv", "xes"])
def test_values_that_depend_on_other_cases_are_found(name: str) -> None:
    """Cells in the order in which values come let one case move all others."""
    with pytest.raises(AssertionError, match="the law is broken"):
        try_law(FILES[name], 60, by_rank)
