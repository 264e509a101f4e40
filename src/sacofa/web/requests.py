"""The requests of the API under /api.

Schemas and forms are derived from declarations of the library: the fields of `ReadOptions`, the
settings of the mechanisms, and their help texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, create_model

from ..base.described import field_docs
from ..events import ReadOptions
from ..mechanisms.registry import DEFAULT, choices
from ..mechanisms.settings import Kind as SettingKind
from ..release.publish import Request
from ..rules import ModelOptions
from ..rules.models import MAX_DEVIATIONS
from .worker import read_options

Declared = tuple[Any, Any]
"""A field for pydantic: its type and its default."""
Whole = Annotated[int, Field(ge=1, le=10**9)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
DatasetName = Annotated[str, StringConstraints(min_length=1, max_length=200)]
ColumnsContent = dict[str, Any] | Annotated[str, StringConstraints(max_length=500_000)]
"""The content of a columns file, as an object or as text."""
Draft = Annotated[
    dict[
        Annotated[str, StringConstraints(min_length=1, max_length=100)],
        Annotated[str, StringConstraints(max_length=50_000)],
    ],
    Field(max_length=100),
]
"""Choices on a page that are not submitted yet, by field."""

LEFT_OUT = ("format", "query", "engine")
"""Not for uploads, whose names imply the format; the app reads no databases and clusters."""
SEPARATE_INPUTS = (
    "case", "activity", "timestamp", "order", "person", "max_cases", "trusted", "attribute",
    "employees", "personal", "accept_other",
)  # fmt: skip
"""Fields with a separate input on the page; all others are generated."""
COLUMNS = "Values of attributes: what `sacofa columns` writes, as JSON or as its text."
DECLARED_FIELDS: dict[str, Declared] = {
    "pair": (
        list[Annotated[list[Name], Field(min_length=2, max_length=2)]],
        Field(default=[], max_length=50, description="Pairs of attributes to preserve."),
    ),
    # The content of a columns file, never its name, which would be a file on this machine.
    "columns": (ColumnsContent | None, Field(default=None, description=COLUMNS)),
}
"""The declarations of fields with other types, which have no generated input."""
READ_TYPES: dict[tuple[object, ...], tuple[str, Any, object]] = {
    (str,): ("text", Name | None, None),
    (str, tuple[str, ...]): (
        "stamp",
        Name | Annotated[list[Name], Field(min_length=1, max_length=2)] | None,
        None,
    ),
    (int,): ("whole", Whole | None, None),
    (bool,): ("flag", bool, False),
    (tuple[str, ...],): ("texts", Annotated[list[Name], Field(max_length=20)], []),
}
"""Types of `ReadOptions` fields, without None: input on pages, type and default in the API."""


@dataclass(frozen=True, kw_only=True)
class ReadField:
    """One field for reading a log."""

    name: str
    kind: str
    help: str
    declared: Declared
    choices: tuple[str, ...] = ()


def read_fields() -> Iterator[ReadField]:
    """List the fields for an upload; fields of other types are in `DECLARED_FIELDS`."""
    hints, docs = get_type_hints(ReadOptions), field_docs(ReadOptions)
    for name in (entry.name for entry in fields(ReadOptions) if entry.name not in LEFT_OUT):
        # Unions of several types include None, which is then the default.
        parts = tuple(part for part in get_args(hints[name]) if part is not NoneType)
        parts = parts if NoneType in get_args(hints[name]) else (hints[name],)
        choices = get_args(parts[0]) if get_origin(parts[0]) is Literal else ()
        if choices or parts in READ_TYPES:
            kind, type_, default = READ_TYPES.get(parts, ("choice", parts[0] | None, None))
            declared = (type_, Field(default=default, description=docs[name]))
            yield ReadField(
                name=name, kind=kind, help=docs[name], declared=declared, choices=choices
            )


FIELDS = {**{entry.name: entry.declared for entry in read_fields()}, **DECLARED_FIELDS}
"""Every field of the schema."""
DOCS = {
    **field_docs(Request),
    **{name: declared.description for name, (_, declared) in FIELDS.items()},
    **field_docs(ModelOptions),
}
"""The help texts of the library."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)


def _with(found: dict[str, Any]) -> Callable[[type[BaseModel]], type[BaseModel]]:
    """Add fields that the library declares to a class."""
    return lambda model: create_model(
        model.__name__, __base__=model, __doc__=model.__doc__, **found
    )


def _of(name: str, default: object = None) -> Any:
    """Make a field that the library declares, with its help text."""
    return Field(default=default, description=DOCS[name])


@_with(FIELDS)
class ColumnChoice(_Model):
    """How to read a log. Omitted columns are detected by their names."""

    def options(self) -> ReadOptions:
        """Return the options for readers; the default is one case per person."""
        return read_options(self.model_dump())


class ModelChoice(_Model):
    """How to turn a model into rules."""

    names: Annotated[dict[Name, str], Field(max_length=10_000)] | None = _of("names")
    deviations: Annotated[int, Field(ge=0, le=MAX_DEVIATIONS)] | None = _of("deviations")
    closed: bool = _of("closed", default=False)
    source: Name | None = _of("source")


def _as_text(value: object) -> object:
    """Convert a number to text; accepts 0.5, "0.5", "1/2", and "0,5" with a decimal comma."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        # Larger ones are refused by their length, whatever limit Python sets on digits.
        return repr(value) if abs(value) < 1e40 else "a number beyond all bounds: " + 30 * "9"
    if isinstance(value, str) and re.fullmatch(r"\s*\d*,\d+\s*", value, re.ASCII):
        return value.replace(",", ".").strip()
    return value


_Word = Annotated[str, StringConstraints(min_length=1, max_length=50)]
_Number = Annotated[_Word, BeforeValidator(_as_text, json_schema_input_type=_Word | float)]
_KINDS: dict[SettingKind, Any] = {
    "epsilon": _Number,
    "whole": Whole,
    "word": _Word,
    "number": _Number,
    "whole or inf": _Number,
    "flag": bool,
}
_OFFERED = {
    choice.option: (
        (_KINDS[choice.kind], Field(description=choice.help, examples=[1, "1/3"]))
        if choice.option == "epsilon"
        else (_KINDS[choice.kind] | None, Field(default=None, description=choice.help))
    )
    for choice in choices()
    if choice.kind in _KINDS
}
"""Settings of mechanisms with plain values; rules come from files or logs."""


@_with(_OFFERED)
class MechanismChoice(_Model):
    """A mechanism and its settings, as on the command line."""

    mechanism: str = Field(default=DEFAULT, max_length=50, description="Name of the mechanism.")
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = _of("seed")

    def settings(self) -> dict[str, object]:
        """Return the given settings, by option."""
        return {option: getattr(self, option) for option in _OFFERED}


class AttributeChoice(_Model):
    """An attribute that a release would have."""

    name: Name
    kind: Literal["string", "int", "float", "boolean", "date"] = "string"
    """The type of its column in the inspection."""


class PlanRequest(MechanismChoice):
    """The release to plan. No log is read."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"epsilon": 0.5, "activities": 16, "cases": 1200}]}
    )

    public_rules: bool = Field(default=False, description="Whether public rules will be given.")
    person: Name | None = _of("person")
    max_cases: Whole | None = _of("max_cases")
    columns: ColumnsContent | None = _of("columns")
    employees: bool = _of("employees", default=False)
    personal: bool = _of("personal", default=False)
    activities: Annotated[int, Field(ge=0, le=10_000)] | None = None
    """Approximate number of activities."""
    cases: Annotated[int, Field(ge=0, le=10**12)] | None = None
    """Approximate number of cases."""
    timed: bool = Field(default=False, description="Whether the log has times, to be released.")
    attributes: list[AttributeChoice] = Field(default=[], max_length=20)
    """The attributes to release."""
    dataset: DatasetName | None = _of("dataset")


class JobRequest(MechanismChoice):
    """A release to be made."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"log": "the id that the upload was given", "epsilon": 1}]}
    )

    log: Name = Field(description="The id of an uploaded log.")
    columns: ColumnChoice = Field(default=ColumnChoice(), description="How the log is read.")
    rules: Annotated[str, StringConstraints(max_length=500_000)] | None = None
    """Public rules: the text of a file as `sacofa rules` writes, or of a model."""
    rules_file: Name | None = None
    """The name of that file; its suffix identifies a model (.bpmn, .pnml, .decl)."""
    model: ModelChoice = Field(default=ModelChoice(), description="How a model becomes rules.")
    rules_log: Name | None = None
    """The id of an uploaded public log to learn rules from."""
    activities: Annotated[list[Name], Field(min_length=1, max_length=10_000)] | None = _of(
        "activities"
    )
    dataset: DatasetName | None = _of("dataset")
    not_charged: bool = False
    """Release without payment and without an entry in the ledger, although there is one."""
    released_by: Name | None = None
    """The publisher, as named in the report."""
    delete_log: bool = False
    """Delete the uploaded log as soon as its release is made."""
