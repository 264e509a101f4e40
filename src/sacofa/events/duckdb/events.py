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

from ...base.temporary import secret_folder
from ...errors import SettingError
from ...kernel.variants import VariantCounts
from ..attributes import column_of, describe_taken, resolve_in_table, table_lookup
from ..bounded_file import Progress
from ..case_store import CaseStore, StoredCases
from ..cells.duckdb_sql import check_type, is_text
from ..columns import COLUMNS_TAKEN, Columns, resolve_columns
from ..csv_injection import unescape_formula
from ..frames import check_names, in_column, object_columns
from ..notices import notify_counts
from ..options import ReadOptions
from ..periods import PeriodFilter
from ..source import Log, Notify, Source
from ..variant_counter import check_unique
from . import partitions
from .collecting import CaseCollector
from .counting import PartitionCounter
from .csv_files import read_heads
from .csv_rows import check_rows
from .database import CATALOG, borrowed
from .parquet_files import lengths_of_time, refuse_other_roles
from .source import looking, open_database, open_table
from .sql import literal
from .staging import check_fields, count_titles, staged, text_columns
from .stamps import pattern_time
from .survey import Rows, Survey, survey

KINDS = {
    ("BOOL",): "boolean",
    ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER",
     "UBIGINT", "UHUGEINT"): "int",
    ("DOUBLE", "FLOAT", "DECIMAL", "REAL"): "float",
    ("DATE", "TIMESTAMP"): "date",
}  # fmt: skip
"""How types of DuckDB begin, and what they are called here."""
FETCHED = 100_000
"""So many cases are looked at at one time."""


def list_columns(source: Source) -> list[str]:
    """List the columns of a table."""
    text = text_columns(source)
    if text is not None:
        return text
    return list(_typed_columns(source))


def _typed_columns(source: Source) -> dict[str, str]:
    """Give the type of each column."""
    if source.format == "relation":
        relation = source.content
        check_names(source.name, relation.columns)
        return dict(zip(relation.columns, map(str, relation.types), strict=True))
    with looking(source.name) as database:
        table = open_table(database, source)
        found = {name: kind for name, (_, kind) in table.columns.items()}
        if source.format == "parquet":
            found |= dict.fromkeys(lengths_of_time(database, source.content), "INTERVAL")
    # DuckDB guesses the type of objects from some of them: one case could change it.
    return found | dict.fromkeys(object_columns(source.content), "VARCHAR")


def kinds(source: Source) -> dict[str, str]:
    """List the columns of a table with their types."""
    text = text_columns(source)
    found = _typed_columns(source) if text is None else dict.fromkeys(text, "VARCHAR")
    return {name: _kind(kind) for name, kind in found.items()}


def find(source: Source, options: ReadOptions) -> Columns:
    """Find the columns of a table."""
    text = text_columns(source)
    kinds = _typed_columns(source) if text is None else dict.fromkeys(text, "VARCHAR")
    options = check_fields(source, list(kinds), options)
    columns = resolve_columns(source.name, list(kinds), options)
    check_pattern(options.time_format)
    # One missing value can give a whole column of a frame another type.
    lookup = table_lookup(
        {name: _kind(kind) for name, kind in kinds.items()}, taken=source.format == "frame"
    )
    attributes = resolve_in_table(source.name, options, lookup, list(kinds), columns.roles)
    for name in (*columns.roles, *(column_of(each, kinds) for each in attributes)):
        if name is not None:
            with in_column(source.name, name):
                check_type(kinds[name])
    if source.format == "parquet" and len(source.content) > 1:
        # Files in which a column has several types are refused here.
        with looking(source.name) as database:
            open_table(database, source, replace(columns, attributes=attributes))
            refuse_other_roles(database, source.content, list(kinds), columns, options)
    return replace(
        columns,
        # Whether times are text follows from all of them in a frame, so it is none of its form.
        text_times=bool(columns.joined)
        or any(is_text(kinds[name]) or source.format == "frame" for name in columns.times),
        titles=count_titles(source),
        attributes=attributes,
        taken=(
            *((COLUMNS_TAKEN,) if source.declared.names_are_in_cases else ()),
            *describe_taken(options, lookup, levels=False),
        ),
    )


def _kind(kind: str) -> str:
    """The type of a column, in the words of XES."""
    for words, found in KINDS.items():
        if kind.startswith(words):
            return found
    return "string"


def check_pattern(pattern: str | None) -> None:
    """Refuse a pattern that is none, before any row is read."""
    if pattern is None or "%" not in pattern:
        return
    import duckdb

    try:
        with borrowed(None) as database:
            database.execute(f"SELECT {pattern_time(literal('x'), pattern)}").fetchone()
    except duckdb.Error:
        raise SettingError(
            "time_format", pattern, "a pattern of strptime, such as %d.%m.%Y %H:%M"
        ) from None


def count(
    log: Log, progress: Progress | None = None, notify: Notify | None = None
) -> VariantCounts:
    """Count the variants of a table."""
    assert log.columns is not None
    log = replace(log, columns=replace(log.columns, attributes=()))

    def make(database: Any, surveyed: Survey, folder: Path) -> PartitionCounter:
        return PartitionCounter(**_settings(log, database, surveyed, folder))

    counted: VariantCounts = _go_through(
        log, make, PartitionCounter.total, progress, notify, with_times=False
    )
    names: Sequence[str] = counted.activities
    lifecycle = log.columns is not None and log.columns.lifecycle
    if log.max_cases is not None or log.period is not None or lifecycle:
        # Only events that are counted may tell which activities there are.
        names = counted.used()
    return counted.project_onto(sorted(names))


def cases(log: Log, progress: Progress | None = None, notify: Notify | None = None) -> StoredCases:
    """Give the cases of a table with their times."""
    assert log.columns is not None
    started = log.columns.start is not None or log.columns.lifecycle is not None
    store = CaseStore(log.name, log.unit, log.attributes, started=started)

    def make(database: Any, surveyed: Survey, folder: Path) -> CaseCollector:
        texts = [texts_as_meant(log, texts) for texts in surveyed.texts]
        return CaseCollector(
            store=store, started=started, texts=texts, **_settings(log, database, surveyed, folder)
        )

    collected: StoredCases = _go_through(
        log, make, CaseCollector.stored, progress, notify, with_times=True
    )
    return collected


def _settings(log: Log, database: Any, surveyed: Survey, folder: Path) -> dict[str, Any]:
    return {
        "database": database,
        "order": surveyed.order,
        "code": surveyed.code,
        "truncated": surveyed.truncated,
        "unit": log.unit,
        "staged": surveyed.staged,
        "folder": folder,
    }


def _go_through(
    log: Log,
    make: Callable[[Any, Survey, Path], Any],
    finish: Callable[[Any, list[str]], Any],
    progress: Progress | None,
    notify: Notify | None,
    *,
    with_times: bool,
) -> Any:
    """Hand the partitions of a table to what counts or collects them, and give what comes of it."""
    assert log.columns is not None
    tell = progress or (lambda _: None)
    with (
        staged(log.source, log.columns) as source,
        open_database(log.name) as database,
        secret_folder() as folder,
    ):
        if log.source.format in ("csv", "tsv"):
            check_rows(read_heads(source), trusted=source.trusted)
        table = open_table(database, source, log.columns)
        form = log.options.time_format
        # Which cases belong to a period, their times tell.
        with_times = with_times or log.period is not None
        rows = Rows.of(table, log.columns, timed=log.timed, with_times=with_times, form=form)
        surveyed = survey(database, log.name, log.columns, rows, with_times=with_times)
        tell(0.1)
        counter = make(database, surveyed, Path(folder))
        needed, most = ["case_id", *surveyed.order.columns, *counter.needed], None
        if len(counter.needed) > 1:
            # A case then takes nearly twice the memory.
            most = partitions.PARTITION_ROWS // 2
        chosen = log.period_filter()
        among = ""
        if chosen is not None:
            among = _choose(database, chosen, surveyed, by_person=log.unit.person is not None)
        rows_of_cases = f"(SELECT {', '.join(dict.fromkeys(needed))} FROM {surveyed.sql} {among})"
        names, done = names_as_meant(log, surveyed.names), 0
        for part in partitions.partition(
            database, rows_of_cases, surveyed.rows, numbered=table.numbered, part=most
        ):
            counter.add(part)
            done += part.rows
            tell(0.1 + 0.9 * min(done / max(surveyed.rows, 1), 1.0))
        result = finish(counter, names)
    notify_counts(
        notify,
        untimed=surveyed.untimed if log.timed else 0,
        varying=counter.varying,
        undone=surveyed.undone,
        dropped=counter.dropped,
        max_cases=log.max_cases,
        more=() if chosen is None else chosen.notices(),
    )
    return result


def _choose(database: Any, chosen: PeriodFilter, surveyed: Survey, *, by_person: bool) -> str:
    """Find the cases of a period, and give what limits the rows to theirs, as SQL.

    With each goes whose it is, where persons are protected.
    """
    first, after = chosen.period.first, chosen.period.after
    database.execute("CREATE TABLE chosen (case_id VARCHAR)")
    whose = f"arg_min(person, {surveyed.order.rank})" if by_person else "NULL"
    needed = ["case_id", "time_us", "person", "row_number", *surveyed.order.columns]
    found = database.execute(
        f"SELECT case_id, max(time_us), count_if(time_us >= {first} AND time_us < {after}), "
        f"{whose} FROM (SELECT {', '.join(needed)} FROM {surveyed.sql}) GROUP BY case_id"
    )
    while some := found.fetchmany(FETCHED):
        kept = [case for case, *known in some if chosen.keeps_last(case, *known)]
        # Another cursor: this one is being read.
        database.cursor().execute(f"INSERT INTO {CATALOG}.chosen SELECT unnest(?)", [kept])
    return "SEMI JOIN chosen USING (case_id)"


def count_disordered(log: Log) -> int:
    """Count the cases whose rows stand in another order than their times."""
    assert log.columns is not None
    if log.source.format == "relation":
        return 0
    with staged(log.source, log.columns) as source, open_database(log.name) as database:
        table = open_table(database, source, log.columns)
        form = log.options.time_format
        rows = Rows.of(table, log.columns, timed=False, with_times=True, form=form)
        surveyed = survey(database, log.name, log.columns, rows)
        order = "OVER (PARTITION BY case_id ORDER BY row_number)"
        (cases,) = database.execute(
            f"SELECT count(DISTINCT case_id) FROM (SELECT case_id, time_us < max(time_us) {order} "
            f"AS back FROM {surveyed.sql} WHERE activity_id IS NOT NULL) WHERE back"
        ).fetchone()
    return int(cases)


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
