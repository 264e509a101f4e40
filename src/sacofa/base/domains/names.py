"""Names of columns that identify cases, events or people at work."""

from __future__ import annotations

RESOURCES = frozenset((
    "org:resource", "resource", "user", "userid", "username", "employee", "agent", "originator",
    "responsible", "performer", "assignee", "handler", "doctor", "nurse", "clerk", "caseworker",
    "operator", "staff", "assignedto", "createdby", "changedby", "closedby", "resolvedby",
    "syscreatedby", "sysupdatedby", "ernam", "usnam", "bearbeiter", "sachbearbeiter", "mitarbeiter",
    "benutzer", "zuständig", "verantwortlich", "arzt", "pflegekraft",
))  # fmt: skip
"""Columns that name people who work in the process, in English, German, ServiceNow and SAP."""
IDS = frozenset((
    "concept:instance", "identity:id", "case:concept:name", "caseid", "case:id", "traceid",
    "eventid",
))  # fmt: skip
"""Columns that tell cases or events apart: never released."""


def plain_name(name: str) -> str:
    """A name without capitals, blanks, underscores, hyphens and the prefix `case:`."""
    return name.removeprefix("case:").strip().lower().translate(str.maketrans("", "", " _-"))


CASE_PREFIXES = ("case:", "(case) ")
"""What stands before the name of a column with one value for each case: in pm4py, and in Disco."""


def is_of_case(column: str) -> bool:
    """Whether the name of a column states that a case has one value."""
    return column.lower().startswith(CASE_PREFIXES)


def bare_name(column: str) -> str:
    """The name of an attribute, without the prefix of a column with one value for each case."""
    for prefix in CASE_PREFIXES:
        if column.lower().startswith(prefix):
            return column[len(prefix) :]
    return column


def column_names(name: str, *, of_case: bool) -> tuple[str, ...]:
    """The names that the column of an attribute may have, the likeliest first."""
    prefixed = tuple(f"{prefix}{name}" for prefix in CASE_PREFIXES)
    return (*prefixed, name) if of_case else (name, *prefixed)
