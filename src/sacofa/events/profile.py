"""Which column plays which role in a log and why, and what the other columns hold. Confidential."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.domains import IDS, RESOURCES, bare_name, is_of_case, kind_of_type, plain_name
from ..errors import ReadError
from ..kernel.attributes import Attribute
from ..kernel.statements import Statement
from .cells import CellError
from .columns import as_columns
from .describe_columns import AT_WORK, other_columns, why_left_out
from .personal import named, personal_by_name, personal_by_values
from .preview import TABLES, guess_type
from .source import Log

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MAX_VALUES = 10_000
"""Distinct values that are compared with what names, codes and dates look like. Of XES and logs in
memory no more are counted, which bounds the memory that this takes."""

ID_SHARE = 0.9
"""Share of the cases that distinct values must reach for a column to look like an identifier."""

MIN_ID_VALUES = 20
"""Fewer distinct values than this do not show that a column identifies cases."""

Cell = tuple[str, str | None]
"""The name of a column, and the text of a cell."""


@dataclass(frozen=True, kw_only=True)
class Role:
    """What a column is read as."""

    role: str
    """Case, activity, timestamp, start, lifecycle or person."""
    columns: tuple[str, ...]
    """Its column, or columns."""
    why: str
    """Why it was taken."""


@dataclass(frozen=True, kw_only=True)
class ColumnProfile:
    """A column that has no role."""

    name: str
    """Its name; attributes of cases in XES begin with `case:`."""
    type: str
    """What its values look like: text, number, date, time or yes or no."""
    values: int | None
    """How many distinct values it has; None: not counted."""
    constant: bool | None
    """Whether each case has one value at most; None: not known."""
    advice: str | None
    """Why it should not be released as it is, by its name and its values; None: no reason found."""
    personal: str | None = None
    """The personal data that its name or its values look like, such as "names of persons"."""


def find_roles(log: Log) -> tuple[Role, ...]:
    """State which column plays which role, and why."""
    columns = log.columns
    if columns is None:
        return ()
    found = {
        "case": columns.case,
        "activity": columns.activity,
        "timestamp": columns.columns_of(columns.timestamp),
        "start": columns.columns_of(columns.start),
        "lifecycle": columns.lifecycle,
        "person": columns.person,
    }
    if log.source.format == "xes":
        del found["case"]  # Cases of XES have no column.
    return tuple(
        Role(role=role, columns=names, why=str(Statement(_why(log, role, names))))
        for role, taken in found.items()
        if (names := as_columns(taken))
    )


def _why(log: Log, role: str, names: tuple[str, ...]) -> str:
    """The code of why columns were taken for a role."""
    if getattr(log.options, role):
        return "reason.role.given"
    if log.source.format in ("xes", "pm4py log"):
        return "reason.role.standard"
    if len(names) == 2 and role in ("timestamp", "start"):
        return "reason.role.pair"
    return "reason.role.common"


def profile_columns(log: Log, cases: int) -> tuple[tuple[ColumnProfile, ...], int | None]:
    """Describe the columns without a role, and count the persons if there is a column for them."""
    if log.columns is None:
        return (), None
    kinds = log.reader.kinds(log.source)
    names = [name for name, _ in other_columns(log, kinds)]
    person = log.columns.person
    wanted = [*names, *([person] if person is not None and person not in names else [])]
    try:
        found = _contents(log, wanted)
    except ReadError:
        # What stands in the way of reading a column that is not needed is no reason to refuse.
        found = {}
    profiles = tuple(_profile(name, kinds[name], found.get(name), cases) for name in names)
    persons = found.get(person or "")
    return profiles, None if persons is None else persons.size


@dataclass(kw_only=True)
class _Contents:
    """What a column holds."""

    values: set[str] = field(default_factory=set)
    """Distinct values, `MAX_VALUES` at most."""
    size: int = 0
    """How many there are."""
    constant: bool = True
    """Whether each case has one at most."""


def _profile(name: str, kind: str, found: _Contents | None, cases: int) -> ColumnProfile:
    type_name = kind_of_type(kind).type_name
    if found is not None and type_name == "text":
        type_name = guess_type(tuple(found.values))
    personal, advice = personal_by_name(name), why_left_out(name, kind)
    if plain_name(name) in RESOURCES:
        advice = AT_WORK
    if found is not None and advice is None:
        personal = personal_by_values(found.values)
        advice = _advise(found, cases, type_name, personal)
    return ColumnProfile(
        name=name,
        type=type_name,
        values=None if found is None else found.size,
        constant=None if found is None else found.constant,
        advice=None if advice is None else str(advice),
        personal=personal,
    )


def _advise(found: _Contents, cases: int, type_name: str, personal: str | None) -> Statement | None:
    """Why a column should not be released, by its values."""
    if personal is not None:
        return Statement("reason.personal_values", kind=named(personal))
    if found.size >= max(MIN_ID_VALUES, ID_SHARE * cases) and type_name == "text":
        return Statement("reason.identifying_values")
    return None


def offered_columns(log: Log, cases: int) -> list[ColumnProfile]:
    """The columns that may be released as attributes; identifiers by name are none of them."""
    if log.columns is None:
        return []
    profiles, _ = profile_columns(log, cases)
    return [each for each in profiles if not {each.name, plain_name(each.name)} & IDS]


def _contents(log: Log, names: list[str]) -> dict[str, _Contents]:
    """Look at all cells of these columns, if the log is where that is possible."""
    if log.source.format in (*TABLES, "frame", "relation") and log.options.engine is None:
        return _of_table(log, names)
    if log.source.format == "xes":
        return _of_cases(_xes_cases(log.source.content, log.source.trusted), names)
    if log.source.format == "pm4py log":
        return _of_cases(_memory_cases(log), names)
    return {}


def _of_table(log: Log, names: list[str]) -> dict[str, _Contents]:
    from .duckdb.source import open_database, open_table
    from .duckdb.staging import staged

    assert log.columns is not None
    columns = replace(log.columns, attributes=tuple(map(_attribute, names)))
    found = {}
    with staged(log.source, columns) as source, open_database(log.name) as database:
        table = open_table(database, source, columns)
        values = {}
        for name in names:
            # Nested values have no text; such a column cannot be released either.
            with suppress(CellError):
                values[name] = table.text(name)
        listed = "".join(f", {value} AS value_{i}" for i, value in enumerate(values.values()))
        case = table.text(log.columns.case, "id")
        database.execute(f"CREATE TABLE cells AS SELECT {case} AS case_id{listed} FROM {table.sql}")
        for i, name in enumerate(values):
            found[name] = _count(database, f"value_{i}")
    return found


def _count(database: DuckDBPyConnection, value: str) -> _Contents:
    from .duckdb.database import first_row

    (size,) = first_row(database, f"SELECT count(DISTINCT {value}) FROM cells")
    some = database.execute(
        f"SELECT DISTINCT {value} FROM cells WHERE {value} IS NOT NULL LIMIT {MAX_VALUES}"
    ).fetchall()
    (varying,) = first_row(
        database,
        "SELECT count(*) FROM (SELECT case_id FROM cells GROUP BY case_id "
        f"HAVING min({value}) IS DISTINCT FROM max({value}))",
    )
    return _Contents(values={text for (text,) in some}, size=size, constant=not varying)


def _attribute(name: str) -> Attribute:
    return Attribute(name=bare_name(name), of_case=is_of_case(name))


def _of_cases(cases: Iterable[list[Cell]], names: list[str]) -> dict[str, _Contents]:
    found = {name: _Contents() for name in names}
    for cells in cases:
        seen: dict[str, str] = {}
        for name, text in cells:
            column = found.get(name)
            if column is None or text is None:
                continue
            column.constant &= seen.setdefault(name, text) == text
            if len(column.values) < MAX_VALUES:
                column.values.add(text)
                column.size = len(column.values)
    return found


def _xes_cases(paths: Iterable[Path], trusted: bool) -> Iterator[list[Cell]]:
    from .xes_stream import traces

    for path in paths:
        for trace in traces(path, trusted, None):
            cells: list[Cell] = []
            for child in trace:
                if child.tag.rpartition("}")[2] == "event":
                    cells += [(each.get("key", ""), each.get("value")) for each in child]
                else:
                    cells.append((f"case:{child.get('key', '')}", child.get("value")))
            yield cells


def _memory_cases(log: Log) -> Iterator[list[Cell]]:
    assert log.columns is not None
    cases: dict[object, list[Cell]] = {}
    for row in log.source.content.rows:
        cells = cases.setdefault(row.get(log.columns.case), [])
        cells += [(name, None if value is None else str(value)) for name, value in row.items()]
    yield from cases.values()
