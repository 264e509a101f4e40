"""Neighbours stay neighbours with their attributes: what a case changes is its own values alone.

L and L' differ by one unit, a case or a person ⇒ their cases, each with its activities and values,
differ by no more than the unit says: in every way in, for attributes of events and of cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sacofa.audit.neighbours import Event, EventLog, check_neighbours
from sacofa.events import Log, read_cases
from sacofa.kernel.cases import CaseBatch
from sacofa.kernel.unit import ONE_CASE, Unit
from sacofa.kernel.variants import VariantCounts

from . import ways
from .test_neighbours import PERSON, event_logs, options_of
from .ways import FILES, Database, Way, mark_of

Valued = Counter[tuple[tuple[str, ...], tuple[int, ...]]]
"""How often a case has these activities with these values."""
TRIED = [name for name in FILES if name != "json"]


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


def read_valued(log: Log) -> VariantCounts:
    """The cases of a log, with their values as if they were activities."""
    cases = read_cases(log)
    assert cases.by_case is not None and len(cases.attributes) == 1
    valued: Valued = sum(cases.by_case.map_parts(valued_cases), Counter())
    variants = {
        (*names, *(f"={cell}" for cell in cells)): many for (names, cells), many in valued.items()
    }
    return VariantCounts.of(variants, unit=cases.unit)


def by_rank(log: Log) -> VariantCounts:
    """Broken on purpose: values are numbered as they first come in the log."""
    ranks: dict[str, str] = {}
    moved: Counter[tuple[str, ...]] = Counter()
    read = read_valued(log)
    for names, many in sorted(read):
        moved[
            tuple(
                ranks.setdefault(name, f"={len(ranks)}") if name.startswith("=") else name
                for name in names
            )
        ] += many
    return VariantCounts.of(moved, unit=read.unit)


def try_law(
    way: Way,
    examples: int,
    read: Callable[[Log], VariantCounts] = read_valued,
    tried: Sequence[Unit] = (ONE_CASE, *PERSON.values()),
) -> None:
    """Try a way with random logs, orders and units, as attribute of events and of cases."""
    seen = []

    @given(
        rows=event_logs,
        order=st.sampled_from(way.orders),
        of=st.sampled_from(["case", "event"]),
        unit=st.sampled_from(tried),
    )
    @settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
        derandomize=True,
        phases=[Phase.generate],
    )
    def law(rows: list[Event], order: str, of: str, unit: Unit) -> None:
        rows = way.prepared(rows)
        marks = sorted({mark for row in rows if (mark := mark_of(row)) is not None})
        columns = {"attributes": {"mark": {"values": [*marks, "nothing"], "of": of}}}
        options = {"attribute": ("mark",), "columns": columns, **options_of(unit, order)}

        with TemporaryDirectory() as folder, patch.object(ways, "count_variants", read):

            def read_rows(log: EventLog) -> VariantCounts:
                found = way.read(Path(folder), log, **options)
                seen.append(found.cases)
                return found

            broken = check_neighbours(read_rows, [rows], unit=unit, order=way.ties(order), most=2)
            assert not list(broken), "the law is broken"

    law()
    assert sum(seen) > examples


@pytest.mark.parametrize("name", TRIED)
def test_files_and_frames(name: str) -> None:
    """A case that comes or goes takes its own values with it, and nothing else."""
    try_law(FILES[name], 8)


def test_a_database(address: str) -> None:
    """So it is in a PostgreSQL server."""
    way = Way(read=Database(address), orders=("time",), ordered=False, times="typed")
    try_law(way, 4)


@pytest.mark.parametrize(("name", "unit"), [("csv", ONE_CASE), ("xes", PERSON[1])])
def test_values_that_depend_on_others_are_found(name: str, unit: Unit) -> None:
    """Cells in the order in which values come let one case, or one person, move all others."""
    with pytest.raises(AssertionError, match="the law is broken"):
        try_law(FILES[name], 60, by_rank, [unit])
