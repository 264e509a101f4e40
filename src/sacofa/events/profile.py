"""Columns of a log: their roles, the content of the others, and a preview of events.

The names and types of columns are enough for a new columns file. An inspection of the log reads
their cells, too, also to find columns that should not be released unchanged. All results from cells
are confidential.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import cast

from ..base.domains import IDS, RESOURCES, bare_name, is_of_case, kind_of_type, plain_name
from ..base.words import WORDS
from ..errors import ReadError, SacofaError
from ..kernel.attributes import Attribute
from ..kernel.statements import Statement
from . import formats
from .cells import CellError
from .cells.duckdb_sql import value_type
from .columns import ROLES, TRUNCATED, as_columns
from .find_source import find_source
from .log import open_log
from .options import ReadOptions
from .personal import named, personal_by_name, personal_by_values
from .released import CORE_KEY, TIME_KEY
from .source import ComparingReader, Log, Source

MAX_VALUES = 10_000
"""Maximum number of distinct values that are compared with names, codes and dates. For XES and logs
in memory it also bounds the number that is counted, and so the memory."""
ID_SHARE = 0.9
"""Ratio of distinct values to cases above which a column looks like an identifier."""
MIN_ID_VALUES = 20
"""Fewer distinct values than this do not show that a column identifies cases."""
ROWS, COLUMNS, LETTERS = 6, 30, 80
"""Maximum numbers of rows, columns and characters per value of a preview."""
TABLES = tuple(
    name
    for name, each in formats.FORMATS.items()
    if each.suffixes and formats.TABLES in each.engines
)
"""Formats with rows to show."""

HEAD = """\
# The values that attributes may have. All of this is public: take it from what you know of the
# process, not from the log. `sacofa anonymize --columns FILE --attribute NAME …`

# cases = 1000               # about how many cases there are, if that is public
"""
GROUPS = '# groups = { "…" = ["…", "…"] }    # or release names with --employees'
ID_IN_ONE_WORD = re.compile("|".join(WORDS["ids_in_one_word"]))
WORD_BOUNDARY = re.compile(r"[\s_.:-]+|(?<=[a-z0-9])(?=[A-Z])")
"""Boundaries of words in a name: orderId, order_id and Order ID have two words."""
AT_WORK = Statement("reason.at_work")
TIME_WORDS = ("date", "time", "timestamp", "deadline", "duration", "start", "end")


@dataclass(frozen=True, kw_only=True)
class Role:
    """The role of one or several columns."""

    role: str
    """Case, activity, timestamp, start, lifecycle or person."""
    columns: tuple[str, ...]
    """Its column, or columns."""
    why: str
    """The reason for the role."""


@dataclass(frozen=True, kw_only=True)
class ColumnProfile:
    """A column that has no role."""

    name: str
    """Its name; attributes of cases in XES begin with `case:`."""
    type: str
    """The type of its values: text, number, date, time or yes or no."""
    values: int | None
    """Number of distinct values; None if not counted."""
    constant: bool | None
    """Whether each case has at most one value; None if unknown."""
    advice: str | None
    """The reason against releasing it, by its name and values; None: no reason found."""
    personal: str | None = None
    """The personal data that its name or values look like, such as "names of persons"."""


@dataclass(frozen=True, kw_only=True)
class PreviewColumn:
    """One column of a preview."""

    name: str
    type: str


@dataclass(frozen=True, kw_only=True)
class Preview:
    """The first events of a log."""

    columns: tuple[PreviewColumn, ...] = ()
    rows: tuple[tuple[str | None, ...], ...] = ()
    left_out: int = 0
    """Number of further columns."""


def find_roles(log: Log) -> tuple[Role, ...]:
    """State which column plays which role, and why."""
    found: list[Role] = []
    for role in ROLES if log.columns is not None else ():
        assert log.columns is not None
        names = as_columns(log.columns.columns_of(getattr(log.columns, role)))
        if not names or (role == "case" and log.source.format == "xes"):
            continue  # Cases of XES have no column.
        code = "pair" if len(names) == 2 else "common"
        if log.source.format in ("xes", "pm4py log"):
            code = "standard"
        if getattr(log.options, role):
            code = "given"
        found.append(Role(role=role, columns=names, why=str(Statement(f"reason.role.{code}"))))
    return tuple(found)


def why_left_out(name: str, kind: str) -> Statement | None:
    """Return the reason against releasing a column, by its name and type; None: no reason found."""
    plain = plain_name(name)
    word = ([word for word in WORD_BOUNDARY.split(name) if word] or [""])[-1].lower()
    if {name, plain} & IDS or word in WORDS["id_words"] or ID_IN_ONE_WORD.fullmatch(word):
        return Statement("reason.identifier")
    if (personal := personal_by_name(name)) is not None:
        return Statement("reason.personal", kind=named(personal))
    if kind == "date" or plain.endswith(TIME_WORDS):
        return Statement("reason.times")
    return None


def column_names(log: Log) -> list[str]:
    """The columns that may have a role; of XES the attributes of events."""
    kinds, is_xes = log.reader.kinds(log.source), log.source.format == "xes"
    return [name for name in kinds if not (is_xes and name.startswith("case:"))]


def other_columns(log: Log) -> dict[str, str]:
    """The columns without a role, with their types."""
    assert log.columns is not None
    used = {*log.columns.roles, TRUNCATED, TIME_KEY, CORE_KEY, f"case:{CORE_KEY}", "unfinished"}
    kinds = log.reader.kinds(log.source)
    return {n: k for n, k in kinds.items() if n not in used and not n.startswith("lifecycle:")}


def starting_file(source: object, options: ReadOptions) -> tuple[str, list[Statement]]:
    """Write a new columns file from the names and types of the columns of a log.

    Returns:
        The text of the file, and notices on columns that it leaves out.
    """
    notices: list[Statement] = []
    text = HEAD
    for name, type_ in other_columns(open_log(source, options)).items():
        reason = why_left_out(name, type_)
        if reason is not None:
            notices.append(Statement("notice.columns.left_out", column=name, reason=reason))
            continue
        kind = kind_of_type(type_)
        hint = kind.hint
        if plain_name(name) in RESOURCES:
            notices.append(Statement("notice.columns.advice", column=name, advice=AT_WORK))
            hint = GROUPS
        escaped = name.replace("\\", "\\\\").replace('"', '\\"')
        quoted = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in escaped)
        text += f'\n[attributes."{quoted}"]\ntype = "{kind.name}"\n' + (f"{hint}\n" if hint else "")
    return text, notices


@dataclass(kw_only=True)
class _Contents:
    """The content of a column."""

    values: set[str] = field(default_factory=set)
    """Distinct values, `MAX_VALUES` at most."""
    size: int = 0
    """Number of distinct values."""
    constant: bool = True
    """Whether each case has at most one."""


def profile_columns(log: Log, cases: int) -> tuple[tuple[ColumnProfile, ...], int | None]:
    """Describe the columns without a role, and count the persons if there is a column for them."""
    if log.columns is None:
        return (), None
    kinds, person = other_columns(log), log.columns.person
    found: dict[str, _Contents] = {}
    # A column that cannot be read and is not needed does not lead to a refusal.
    with suppress(ReadError):
        found = _contents(log, list(dict.fromkeys([*kinds, *([person] if person else [])])))
    profiles = tuple(_profile(name, kinds[name], found.get(name), cases) for name in kinds)
    persons = found.get(person or "")
    return profiles, None if persons is None else persons.size


def offered_columns(log: Log, cases: int) -> list[ColumnProfile]:
    """Return the columns that may be released as attributes, without identifiers."""
    profiles, _ = profile_columns(log, cases)
    return [each for each in profiles if not {each.name, plain_name(each.name)} & IDS]


def _profile(name: str, kind: str, found: _Contents | None, cases: int) -> ColumnProfile:
    type_name = guess_type(kind, found.values if found else ())
    personal, advice = personal_by_name(name), why_left_out(name, kind)
    if plain_name(name) in RESOURCES:
        advice = AT_WORK
    if found is not None and advice is None:
        personal = personal_by_values(found.values)
        if personal is not None:
            advice = Statement("reason.personal_values", kind=named(personal))
        elif type_name == "text" and found.size >= max(MIN_ID_VALUES, ID_SHARE * cases):
            advice = Statement("reason.identifying_values")
    return ColumnProfile(
        name=name,
        type=type_name,
        values=getattr(found, "size", None),
        constant=getattr(found, "constant", None),
        advice=str(advice) if advice else None,
        personal=personal,
    )


def _contents(log: Log, names: list[str]) -> dict[str, _Contents]:
    """Read all cells of these columns, if the source supports it."""
    form = log.source.format
    if form in (*TABLES, "frame", "relation") and log.options.engine is None:
        return _of_table(log, names)
    if form not in ("xes", "pm4py log"):
        return {}
    found = {name: _Contents() for name in names}
    for cells in _cases(log):
        seen: dict[str, str] = {}
        for name, value in cells:
            if value is None or (column := found.get(name)) is None:
                continue
            column.constant &= seen.setdefault(name, str(value)) == str(value)
            if len(column.values) < MAX_VALUES:
                column.values.add(str(value))
                column.size = len(column.values)
    return found


def _of_table(log: Log, names: list[str]) -> dict[str, _Contents]:
    from .duckdb.database import first_row
    from .duckdb.staging import opened_table

    assert log.columns is not None
    attributes = (Attribute(name=bare_name(name), of_case=is_of_case(name)) for name in names)
    columns, found = replace(log.columns, attributes=tuple(attributes)), {}
    with opened_table(log.source, columns) as (database, table):
        texts = {}
        for name in names:
            # Nested values have no text; such a column cannot be released either.
            with suppress(CellError):
                texts[name] = table.text(name)
        listed = "".join(f", {text} AS value_{i}" for i, text in enumerate(texts.values()))
        case = table.text(log.columns.case, "id")
        database.execute(f"CREATE TABLE cells AS SELECT {case} AS case_id{listed} FROM {table.sql}")
        for i, name in enumerate(texts):
            value = f"value_{i}"
            size, varying = first_row(
                database,
                f"SELECT count(DISTINCT {value}), (SELECT count(*) FROM (SELECT 1 FROM cells "
                f"GROUP BY case_id HAVING min({value}) IS DISTINCT FROM max({value}))) FROM cells",
            )
            some = database.execute(
                f"SELECT DISTINCT {value} FROM cells WHERE {value} IS NOT NULL LIMIT {MAX_VALUES}"
            ).fetchall()
            values = {text for (text,) in some}
            found[name] = _Contents(values=values, size=size, constant=not varying)
    return found


def _cases(log: Log) -> Iterator[list[tuple[str, object]]]:
    """The cells of each case of an XES file or of a log of pm4py, with the names of columns."""
    from .xes_form import events_of, texts_of, traces

    assert log.columns is not None
    if log.source.format == "xes":
        for path in log.source.content:
            for trace in traces(path, log.source.trusted, None):
                own = ((f"case:{name}", text) for name, text in texts_of(trace).items())
                yield [*own, *chain(*(event.items() for event in events_of(trace)))]
        return
    cases: dict[object, list[tuple[str, object]]] = {}
    for row in log.source.content.rows:
        cases.setdefault(row.get(log.columns.case), []).extend(row.items())
    yield from cases.values()


def preview(path: str | Path, options: ReadOptions) -> Preview:
    """Return the first events; empty for counted variants.

    Columns need not have roles yet: the preview helps people to choose them.
    """
    source = find_source(path, options)
    if source.format != "xes" and source.format not in TABLES:
        return Preview()
    kinds, rows = _first_events(source) if source.format == "xes" else _first_rows(source)
    shown = list(kinds.items())[:COLUMNS]
    values = list(zip(*rows, strict=True)) or [()] * len(shown)
    columns = tuple(
        PreviewColumn(name=name, type="time" if kind == "date" else guess_type(kind, column))
        for (name, kind), column in zip(shown, values, strict=True)
    )
    return Preview(columns=columns, rows=tuple(rows), left_out=len(kinds) - len(shown))


First = tuple[dict[str, str], Sequence[tuple[str | None, ...]]]
"""The columns of a log with their types, and the first rows of those that are shown."""


def _first_rows(source: Source) -> First:
    from .duckdb.staging import opened_table

    with opened_table(source) as (database, table):
        kinds = {name: value_type(kind) for name, (_, kind) in table.columns.items()}
        texts = ", ".join(f"left({table.text(name)}, {LETTERS})" for name in list(kinds)[:COLUMNS])
        return kinds, database.execute(f"SELECT {texts} FROM {table.sql} LIMIT {ROWS}").fetchall()


def _first_events(source: Source) -> First:
    from .xes import kinds
    from .xes_form import events_of, traces

    first = replace(source, content=source.content[:1])
    types = {name: kind for name, kind in kinds(first).items() if not name.startswith("case:")}
    cases = islice(traces(first.content[0], source.trusted, None), ROWS)
    events = [*chain.from_iterable(map(events_of, cases))][:ROWS]
    names = list(types)[:COLUMNS]
    texts = [[event.get(name) for name in names] for event in events]
    return types, [tuple(text and text[:LETTERS] for text in row) for row in texts]


def guess_type(kind: str, values: Collection[str | None]) -> str:
    """Return the displayed type of an XES type; for text, the type that its values look like."""
    there, name = [value for value in values if value], kind_of_type(kind).type_name
    if name != "text" or not there:
        return name
    with suppress(ValueError):
        for value in there:
            float(value.replace(",", "."))
        return "number"
    is_time = all(v[0].isdigit() and sum(letter in "-/.:T" for letter in v) >= 2 for v in there)
    return "time" if is_time else "text"


def count_disordered(log: Log) -> int | None:
    """Count the cases whose times contradict the order of the file; None if unknown.

    The whole log is read again, in the order of the file instead of the requested one.
    """
    notes: list[Statement] = []
    try:
        if not log.has_times or not isinstance(log.source.content, tuple):
            return None
        if log.engine.compares_order:
            return cast(ComparingReader, log.reader).count_disordered(log)
        log.reader.count(replace(log, order="file"), None, notes.append)
    except SacofaError:
        # Errors in times were already reported when times were requested.
        return None
    counted = (n.values["number"] for n in notes if n.code == "notice.counts.disordered")
    return next((number for number in counted if isinstance(number, int)), 0)
