"""Columns of a log: which role they have, and what the others hold.

The names and types of columns are enough for a new columns file. An inspection of the log looks at
their cells, too. Which columns should not be released as they are is decided in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

from ..base.domains import IDS, RESOURCES, bare_name, is_of_case, kind_of_type, plain_name
from ..base.words import WORDS
from ..errors import ReadError
from ..kernel.attributes import Attribute
from ..kernel.statements import Statement
from .cells import CellError
from .columns import ROLES, TRUNCATED, as_columns
from .log import open_log
from .options import ReadOptions
from .personal import named, personal_by_name, personal_by_values
from .preview import TABLES, guess_type
from .released import CORE_KEY, TIME_KEY
from .source import Log

MAX_VALUES = 10_000
"""Distinct values that are compared with what names, codes and dates look like. Of XES and logs in
memory no more are counted, which bounds the memory that this takes."""
ID_SHARE = 0.9
"""Share of the cases that distinct values must reach for a column to look like an identifier."""
MIN_ID_VALUES = 20
"""Fewer distinct values than this do not show that a column identifies cases."""

HEAD = """\
# The values that attributes may have. All of this is public: take it from what you know of the
# process, not from the log. `sacofa anonymize --columns FILE --attribute NAME …`

# cases = 1000               # about how many cases there are, if that is public
"""
GROUPS = '# groups = { "…" = ["…", "…"] }    # or release names with --employees'
ID_IN_ONE_WORD = re.compile("|".join(WORDS["ids_in_one_word"]))
APART = re.compile(r"[\s_.:-]+|(?<=[a-z0-9])(?=[A-Z])")
"""Where a name has its words: orderId, order_id and Order ID have two."""
AT_WORK = Statement("reason.at_work")
TIME_WORDS = ("date", "time", "timestamp", "deadline", "duration", "start", "end")

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
    found = {role: getattr(columns, role) for role in ROLES}
    found |= {role: columns.columns_of(found[role]) for role in ("timestamp", "start")}
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
    is_pair = len(names) == 2 and role in ("timestamp", "start")
    return "reason.role.pair" if is_pair else "reason.role.common"


def why_left_out(name: str, kind: str) -> Statement | None:
    """Why a column should not be released, by its name and type; None: no reason found."""
    plain = plain_name(name)
    word = ([word for word in APART.split(name) if word] or [""])[-1].lower()
    if {name, plain} & IDS or word in WORDS["id_words"] or ID_IN_ONE_WORD.fullmatch(word):
        return Statement("reason.identifier")
    if (personal := personal_by_name(name)) is not None:
        return Statement("reason.personal", kind=named(personal))
    if kind == "date" or plain.endswith(TIME_WORDS):
        return Statement("reason.times")
    return None


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
    """What a column holds."""

    values: set[str] = field(default_factory=set)
    """Distinct values, `MAX_VALUES` at most."""
    size: int = 0
    """How many there are."""
    constant: bool = True
    """Whether each case has one at most."""


def profile_columns(log: Log, cases: int) -> tuple[tuple[ColumnProfile, ...], int | None]:
    """Describe the columns without a role, and count the persons if there is a column for them."""
    if log.columns is None:
        return (), None
    kinds, person = other_columns(log), log.columns.person
    try:
        found = _contents(log, list(dict.fromkeys([*kinds, *([person] if person else [])])))
    except ReadError:
        # A column that cannot be read and is not needed does not lead to a refusal.
        found = {}
    profiles = tuple(_profile(name, kinds[name], found.get(name), cases) for name in kinds)
    persons = found.get(person or "")
    return profiles, None if persons is None else persons.size


def offered_columns(log: Log, cases: int) -> list[ColumnProfile]:
    """The columns that may be released as attributes; identifiers by name are none of them."""
    profiles, _ = profile_columns(log, cases)
    return [each for each in profiles if not {each.name, plain_name(each.name)} & IDS]


def _profile(name: str, kind: str, found: _Contents | None, cases: int) -> ColumnProfile:
    type_name = kind_of_type(kind).type_name
    if type_name == "text":
        type_name = guess_type(tuple(found.values if found else ()))
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
    """Look at all cells of these columns, if the log is where that is possible."""
    form = log.source.format
    if form in (*TABLES, "frame", "relation") and log.options.engine is None:
        return _of_table(log, names)
    if form not in ("xes", "pm4py log"):
        return {}
    found = {name: _Contents() for name in names}
    for cells in _xes_cases(log) if form == "xes" else _memory_cases(log):
        _add(found, cells)
    return found


def _of_table(log: Log, names: list[str]) -> dict[str, _Contents]:
    from .duckdb.database import first_row
    from .duckdb.source import open_database, open_table
    from .duckdb.staging import staged

    assert log.columns is not None
    attributes = (Attribute(name=bare_name(name), of_case=is_of_case(name)) for name in names)
    columns, found = replace(log.columns, attributes=tuple(attributes)), {}
    with staged(log.source, columns) as source, open_database(log.name) as database:
        table = open_table(database, source, columns)
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


def _add(found: dict[str, _Contents], cells: Iterable[Cell]) -> None:
    """Look at the cells of a case."""
    seen: dict[str, str] = {}
    for name, text in cells:
        column = found.get(name)
        if column is None or text is None:
            continue
        column.constant &= seen.setdefault(name, text) == text
        if len(column.values) < MAX_VALUES:
            column.values.add(text)
            column.size = len(column.values)


def _xes_cases(log: Log) -> Iterator[list[Cell]]:
    from .xes_form import traces

    for path in log.source.content:
        for trace in traces(path, log.source.trusted, None):
            cells = [(f"case:{each.get('key', '')}", each.get("value")) for each in trace]
            for event in trace.iterchildren("{*}event"):
                cells += [(each.get("key", ""), each.get("value")) for each in event]
            yield cells


def _memory_cases(log: Log) -> Iterable[list[Cell]]:
    assert log.columns is not None
    cases: dict[object, list[Cell]] = {}
    for row in log.source.content.rows:
        cells = cases.setdefault(row.get(log.columns.case), [])
        cells += [(name, None if value is None else str(value)) for name, value in row.items()]
    return cases.values()
