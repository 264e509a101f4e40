"""Tables of events: CSV, TSV, Parquet and frames, counted by DuckDB.

One row is one event, and all cells are text. A row with a case but neither activity nor time stamp
declares an empty case. Any other row without activity or case is an error.

Rows are numbered as the source has them, and that number breaks ties between equal time stamps, for
any number of threads. Only row numbers of one case, and of one person's cases, are compared, so
adding or removing a unit does not affect others. Large logs are counted in partitions of whole
cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from ...errors import SettingError, Statement
from ...kernel.variants import VariantCounts
from ..attributes import table_lookup, with_attributes
from ..bounded_file import Progress
from ..case_store import CaseStore, StoredCases, check_unique
from ..cells.duckdb_sql import check_type, is_text, value_type
from ..columns import COLUMNS_TAKEN, Columns, resolve_columns
from ..csv_injection import unescape_formula
from ..frames import check_names, in_column, object_columns
from ..notices import Notify, notify_counts
from ..options import ReadOptions
from ..source import Log, Source, used_columns
from ..time_format import PATTERN
from . import partitions
from .counting import collect_parts, count_parts
from .csv_files import read_heads
from .csv_rows import check_rows
from .database import borrowed, first_row, literal
from .parquet_files import lengths_of_time, refuse_other_roles
from .partitions import Partition
from .rows import Ordering, Rows
from .source import open_database, open_table
from .staging import check_fields, named_rows, remote_of, staged
from .stamps import pattern_time
from .survey import Survey, survey

MAX_FIRST_ROWS = 999_999
"""DuckDB 1.4 refuses to select a million first rows."""
CASES_PER_BATCH = 100_000


def kinds(source: Source) -> dict[str, str]:
    """List the columns of a table with their types."""
    return {name: value_type(kind) for name, kind in _columns(source)[0].items()}


def _columns(source: Source) -> tuple[dict[str, str], int]:
    """The type of each column, and how many rows of titles were found above the header."""
    titles = 0
    if (remote := remote_of(source)) is not None:
        found = remote.types(source)
    elif source.format in ("csv", "tsv"):
        head = read_heads(source)[0]
        found, titles = dict.fromkeys(head.columns, "VARCHAR"), head.titles
    elif source.declared.is_read_by_row:
        names, _, titles = named_rows(source, source.content[0])
        found = dict.fromkeys(names, "VARCHAR")
    elif source.format == "relation":
        relation = source.content
        check_names(source.name, relation.columns)
        found = dict(zip(relation.columns, map(str, relation.types), strict=True))
    else:
        with open_database(source.name) as database:
            table = open_table(database, source)
            found = {name: kind for name, (_, kind) in table.columns.items()}
            if source.format == "parquet":
                found |= dict.fromkeys(lengths_of_time(database, source.content), "INTERVAL")
        # DuckDB guesses the type of objects from some of them: one case could change it.
        found |= dict.fromkeys(object_columns(source.content), "VARCHAR")
    return found, titles if source.skip_rows is None else 0


def find(source: Source, options: ReadOptions) -> Columns:
    """Find the columns of a table."""
    kinds, titles = _columns(source)
    check_fields(source, list(kinds), options)
    check_pattern(options.time_format)
    # One missing value can change the type of a whole column of a frame.
    is_frame, types = source.format == "frame", {n: value_type(kind) for n, kind in kinds.items()}
    columns = resolve_columns(source.name, list(kinds), options)
    lookup = table_lookup(types, taken=is_frame)
    columns = with_attributes(columns, source.name, options, lookup, list(kinds))
    for name in used_columns(columns, kinds):
        with in_column(source.name, name):
            check_type(kinds[name])
    if source.format == "parquet" and len(source.content) > 1:
        # Files in which a column has several types are refused here.
        with open_database(source.name) as database:
            open_table(database, source, columns)
            without = replace(columns, attributes=())
            refuse_other_roles(database, source.content, list(kinds), without, options)
    # In a frame, all values decide whether times are text, so that is not part of its schema.
    text_times = (is_text(kinds[name]) or is_frame for name in columns.times)
    of_cases = (COLUMNS_TAKEN,) if source.declared.names_are_in_cases else ()
    return replace(
        columns,
        text_times=bool(columns.joined) or any(text_times),
        titles=titles,
        taken=(*of_cases, *columns.taken),
    )


def check_pattern(pattern: str | None) -> None:
    """Refuse an invalid pattern before any row is read."""
    if pattern is None or "%" not in pattern:
        return
    import duckdb

    try:
        with borrowed() as database:
            database.execute(f"SELECT {pattern_time(literal('x'), pattern)}").fetchone()
    except duckdb.Error:
        must = Statement("must.read.pattern", example=PATTERN)
        raise SettingError("time_format", pattern, must) from None


@contextmanager
def _surveyed(log: Log, *, timed: bool, with_times: bool, strict: bool = True) -> Iterator[Survey]:
    """Open a table and survey all of its rows."""
    with staged(log.source, log.columns) as source, open_database(log.name) as database:
        if log.source.format in ("csv", "tsv"):
            check_rows(read_heads(source), trusted=source.trusted)
        table = open_table(database, source, log.columns)
        yield survey(
            Rows(
                database=database,
                log=log,
                table=table,
                timed=timed,
                with_times=with_times,
                strict=strict,
            )
        )


def count(
    log: Log, progress: Progress | None = None, notify: Notify | None = None
) -> VariantCounts:
    """Count the variants of a table."""
    assert log.columns is not None
    log = replace(log, columns=replace(log.columns, attributes=()))
    # The times of a case decide to which period it belongs.
    with _surveyed(log, timed=log.timed, with_times=log.period is not None) as found:
        parts = _parts(log, found, found.flags, progress, notify)
        counted = count_parts(found, parts, names_as_meant(log, found.names), log.unit)
    names: Sequence[str] = counted.activities
    if log.max_cases is not None or log.period is not None or "stage" in found.flags:
        # Only events that are counted may contribute activities.
        names = counted.used()
    return counted.project_onto(sorted(names))


def cases(log: Log, progress: Progress | None = None, notify: Notify | None = None) -> StoredCases:
    """Return the cases of a table with their times."""
    assert log.columns is not None
    started = log.columns.start is not None or log.columns.lifecycle is not None
    store = CaseStore(log.name, log.unit, log.attributes, started=started)
    with _surveyed(log, timed=log.timed, with_times=True) as found:
        values = [f"value_{place}" for place in range(len(found.texts))]
        needed = [*found.flags, "time_us", *["began_us"] * started, *values]
        parts = _parts(log, found, needed, progress, notify)
        collect_parts(found, parts, store, started=started)
        texts = [texts_as_meant(log, texts) for texts in found.texts]
        return store.close(names_as_meant(log, found.names), texts)


def _parts(
    log: Log,
    table: Survey,
    needed: Sequence[str],
    progress: Progress | None,
    notify: Notify | None,
) -> Iterator[Partition]:
    """Yield the partitions of a table with the necessary columns; report anomalies."""
    tell = progress or (lambda _: None)
    tell(0.1)
    varying, dropped, among = _choose(log, table, notify)
    # The place is missing if a row is not an event.
    place = ["place", *["time_key"] * table.order.timed]
    columns = ", ".join(["case_id", *place, *needed])
    # With much more to it, a row takes nearly twice the memory.
    most = partitions.PARTITION_ROWS // (1 + (len(needed) > 1))
    sql, done = f"(SELECT {columns} FROM {table.sql} {among})", 0
    numbered = table.rows.table.numbered
    for part in partitions.partition(table.database, sql, table.size, numbered=numbered, part=most):
        yield part
        done += part.rows
        tell(0.1 + 0.9 * min(done / max(table.size, 1), 1.0))
    notify_counts(
        notify,
        untimed=table.untimed if log.timed else 0,
        varying=varying,
        undone=table.undone,
        dropped=dropped,
        max_cases=log.max_cases,
    )


def _choose(log: Log, table: Survey, notify: Notify | None) -> tuple[int, int, str]:
    """Find the cases of a period, and the first of each person as the source has them.

    Returns the number of cases with more than one person, the number of cases dropped because their
    person has more than may count, and SQL that limits the rows to the remaining cases.
    """
    period, unit, database = log.period_filter(), log.unit, table.database
    if period is None and unit.person is None:
        return 0, 0, ""
    late, whose = "NULL AS last, 0 AS late", "NULL::VARCHAR AS person, false AS varies"
    if period is not None:
        within = f"time_us >= {period.period.first} AND time_us < {period.period.after}"
        late = f"max(time_us) AS last, count_if({within}) AS late"
    if unit.person is not None:
        whose = _whose(table.order)
    found = f"SELECT case_id, {late}, {whose}, min(row_number) AS first_row"
    database.execute(f"CREATE TABLE found AS {found} FROM {table.sql} GROUP BY case_id")
    if period is not None:
        database.execute("CREATE TABLE kept (case_id VARCHAR)")
        asked = database.execute("SELECT case_id, last, late, person FROM found")
        while some := asked.fetchmany(CASES_PER_BATCH):
            cases = [case for case, *known in some if period.keeps_last(case, *known)]
            # Another cursor: this one is being read.
            database.cursor().execute("INSERT INTO kept SELECT unnest(?)", [cases])
        database.execute("DELETE FROM found WHERE case_id NOT IN (SELECT case_id FROM kept)")
        notify_counts(notify, more=period.notices())
    persons = "FROM found WHERE person IS NOT NULL"
    kept = min(unit.max_cases, MAX_FIRST_ROWS)
    database.execute(
        f"CREATE TABLE chosen AS SELECT case_id FROM found WHERE person IS NULL UNION ALL "
        f"SELECT case_id {persons} QUALIFY "
        f"row_number() OVER (PARTITION BY person ORDER BY first_row) <= {kept}"
    )
    varying, dropped = first_row(
        database,
        f"SELECT (SELECT count(*) {persons} AND varies), "
        "(SELECT count(*) FROM found) - (SELECT count(*) FROM chosen)",
    )
    return varying, dropped, "SEMI JOIN chosen USING (case_id)"


def _whose(order: Ordering) -> str:
    """Return SQL aggregates: the person of a case, and whether it has several persons."""
    # The case alone decides whose it is: the first person that is not blank.
    return (
        f"arg_min(person, {order.rank('ordinal')}) AS person, "
        # A missing person has a hash too, but is not a second person.
        "coalesce(min(hash(person)) FILTER (person IS NOT NULL) "
        "<> max(hash(person)) FILTER (person IS NOT NULL), false) AS varies"
    )


def count_disordered(log: Log) -> int:
    """Count the cases whose rows are not in the order of their times."""
    if not log.source.declared.is_ordered:
        return 0
    with _surveyed(log, timed=False, with_times=True, strict=False) as table:
        order = "OVER (PARTITION BY case_id ORDER BY row_number)"
        (cases,) = first_row(
            table.database,
            f"SELECT count(DISTINCT case_id) FROM (SELECT case_id, time_us < max(time_us) {order} "
            f"AS back FROM {table.sql} WHERE activity_id IS NOT NULL) WHERE back",
        )
    return int(cases)


def names_as_meant(log: Log, names: list[str]) -> list[str]:
    """Remove the apostrophes that protect formulas from the names in a CSV file of this package."""
    meant = texts_as_meant(log, names)
    check_unique(log.name, meant)
    return meant


def texts_as_meant(log: Log, texts: list[str]) -> list[str]:
    """Do the same for any texts."""
    if log.source.format != "csv" or log.columns is None or log.columns.truncated is None:
        return texts
    return [unescape_formula(text) for text in texts]
