"""Tables of events: CSV, TSV, Parquet and frames, counted by DuckDB.

One row is one event; cases need not lie together. A row that has a case and neither an activity nor
a time stamp is no event: it says that there is such a case. Any other row without an activity, and
any row without a case, is an error. Everything is text: a case called `NA` is a case. In CSV an
empty field is missing, and a quoted empty one (`""`) is a text without letters.

Rows are numbered as the source has them, and that number breaks ties between equal time stamps, so
the result is the same on every run and for any number of threads. Only numbers of one case are
compared, and those of one person's cases, so a unit that comes or goes changes no other. Variants
are lists of activity ids throughout, never joined text. A log that is large is counted in
partitions of whole cases, so memory does not grow with it, and time grows in proportion to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...temporary import secret_folder
from ...variants import VariantCounts
from ..attributes import resolve_attributes, table_lookup
from ..bounded_file import Progress
from ..case_store import CaseStore, StoredCases
from ..columns import Columns, resolve_columns
from ..csv_injection import unescape_formula
from ..notices import notify_counts
from ..options import ReadOptions
from ..source import Log, Notify, Source
from ..variant_counter import check_unique
from . import partitions
from .collecting import CaseCollector
from .counting import PartitionCounter
from .source import check_gzip, open_database, open_table
from .survey import Rows, Survey, survey

KINDS = {
    ("BOOL",): "boolean",
    ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER",
     "UBIGINT", "UHUGEINT"): "int",
    ("DOUBLE", "FLOAT", "DECIMAL", "REAL"): "float",
    ("DATE", "TIMESTAMP"): "date",
}  # fmt: skip
"""How types of DuckDB begin, and what they are called here."""


def list_columns(source: Source) -> list[str]:
    """List the columns of a table."""
    with open_database(source.name) as database:
        return list(open_table(database, source).columns)


def kinds(source: Source) -> dict[str, str]:
    """List the columns of a table with their types."""
    with open_database(source.name) as database:
        columns = open_table(database, source).columns
    return {name: _kind(kind) for name, (_, kind) in columns.items()}


def find(source: Source, options: ReadOptions) -> Columns:
    """Find the columns of a table."""
    types = kinds(source)
    columns = resolve_columns(source.name, list(types), options)
    lookup = table_lookup(types)
    attributes = resolve_attributes(source.name, options, lookup, list(types), columns.roles)
    return replace(columns, attributes=attributes)


def _kind(kind: str) -> str:
    """The type of a column, in the words of XES."""
    for words, found in KINDS.items():
        if kind.startswith(words):
            return found
    return "string"


def count(
    log: Log, progress: Progress | None = None, notify: Notify | None = None
) -> VariantCounts:
    """Count the variants of a table."""
    assert log.columns is not None
    log = replace(log, columns=replace(log.columns, attributes=()))

    def make(database: Any, surveyed: Survey, folder: Path) -> PartitionCounter:
        return PartitionCounter(**_settings(log, database, surveyed, folder))

    counted: VariantCounts = _go_through(log, make, PartitionCounter.total, progress, notify)
    names: Sequence[str] = counted.activities
    if log.max_cases is not None:
        # Only cases that are counted may tell which activities there are.
        names = [names[i] for i in np.unique(counted.activity_ids)]
    return counted.project_onto(sorted(names))


def cases(log: Log, progress: Progress | None = None, notify: Notify | None = None) -> StoredCases:
    """Give the cases of a table with their times."""
    store = CaseStore(log.name, log.unit, log.attributes)

    def make(database: Any, surveyed: Survey, folder: Path) -> CaseCollector:
        texts = [texts_as_meant(log, texts) for texts in surveyed.texts]
        return CaseCollector(store=store, texts=texts, **_settings(log, database, surveyed, folder))

    collected: StoredCases = _go_through(log, make, CaseCollector.stored, progress, notify)
    return collected


def _settings(log: Log, database: Any, surveyed: Survey, folder: Path) -> dict[str, Any]:
    return {
        "database": database,
        "order": surveyed.order,
        "code": surveyed.code,
        "truncated": surveyed.truncated,
        "unit": log.unit,
        "folder": folder,
    }


def _go_through(
    log: Log,
    make: Callable[[Any, Survey, Path], Any],
    finish: Callable[[Any, list[str]], Any],
    progress: Progress | None,
    notify: Notify | None,
) -> Any:
    """Hand the partitions of a table to what counts or collects them, and give what comes of it."""
    assert log.columns is not None
    tell = progress or (lambda _: None)
    check_gzip(log.source)
    with open_database(log.name) as database, secret_folder() as folder:
        table = open_table(database, log.source, log.columns)
        rows = Rows.of(table, log.columns, timed=log.timed)
        surveyed = survey(database, log.name, log.columns, rows)
        tell(0.1)
        counter = make(database, surveyed, Path(folder))
        needed, most = ["case_id", *surveyed.order.columns, *counter.needed], None
        if len(counter.needed) > 1:
            # A case then takes nearly twice the memory.
            most = partitions.PARTITION_ROWS // 2
        source = f"(SELECT {', '.join(dict.fromkeys(needed))} FROM {surveyed.sql})"
        names, done = names_as_meant(log, surveyed.names), 0
        for part in partitions.partition(
            database, source, surveyed.rows, numbered=table.numbered, part=most
        ):
            counter.add(part)
            done += part.rows
            tell(0.1 + 0.9 * min(done / max(surveyed.rows, 1), 1.0))
        result = finish(counter, names)
    notify_counts(
        notify,
        untimed=surveyed.untimed,
        varying=counter.varying,
        dropped=counter.dropped,
        max_cases=log.max_cases,
    )
    return result


def names_as_meant(log: Log, names: list[str]) -> list[str]:
    """Undo what was done to names in a CSV file of this package to make formulas harmless."""
    meant = texts_as_meant(log, names)
    if meant is not names:
        check_unique(log.name, meant)
    return meant


def texts_as_meant(log: Log, texts: list[str]) -> list[str]:
    """The same for any texts."""
    if log.source.format != "csv" or log.columns is None or log.columns.truncated is None:
        return texts
    return [unescape_formula(text) for text in texts]
