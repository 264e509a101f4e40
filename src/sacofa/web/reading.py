"""How an uploaded log is read: schema and form are built from the fields of `ReadOptions`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, create_model

from ..base.described import field_docs
from ..events import ReadOptions
from .tasks import read_options

Whole = Annotated[int, Field(ge=1, le=10**9)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
Kind = Literal["text", "texts", "stamp", "choice", "whole", "flag"]
Declared = tuple[Any, Any]
"""A field as pydantic takes it: its type and its default."""

LEFT_OUT = ("format", "query", "engine")
"""Not for uploads: their name tells the format, and the app reaches no database and no cluster."""
OWN_PLACE = (
    "case", "activity", "timestamp", "order", "person", "max_cases", "trusted", "attribute",
    "employees", "personal", "accept_other",
)  # fmt: skip
"""Fields that the page asks for in a place of their own; all others follow by themselves."""

ColumnsContent = dict[str, Any] | Annotated[str, StringConstraints(max_length=500_000)]
"""The content of a file of columns, as an object or as text."""
COLUMNS = "Values of attributes: what `sacofa columns` writes, as JSON or as its text."

BY_HAND: dict[str, Declared] = {
    "pair": (
        list[Annotated[list[Name], Field(min_length=2, max_length=2)]],
        Field(default=[], max_length=50, description="Pairs of attributes to preserve."),
    ),
    # The content of a file of columns, never the name of one: that would be a file of this machine.
    "columns": (ColumnsContent | None, Field(default=None, description=COLUMNS)),
}
"""Fields of other types: what the interface takes for them; pages do not ask for them."""


@dataclass(frozen=True, kw_only=True)
class ReadField:
    """One field that says how a log is read."""

    name: str
    kind: Kind
    help: str
    choices: tuple[str, ...] = ()

    @property
    def declared(self) -> Declared:
        """The same for pydantic."""
        if self.kind == "texts":
            return list[Name], Field(default=[], description=self.help, max_length=20)
        if self.kind == "flag":
            return bool, Field(default=False, description=self.help)
        types: dict[Kind, Any] = {
            "text": Name,
            "stamp": Name | Annotated[list[Name], Field(min_length=1, max_length=2)],
            "whole": Whole,
            "choice": Literal[self.choices or ("",)],
        }
        return types[self.kind] | None, Field(default=None, description=self.help)


def read_fields() -> tuple[ReadField, ...]:
    """List the fields for an upload; those of another type are in `BY_HAND`."""
    hints, docs = get_type_hints(ReadOptions), field_docs(ReadOptions)
    found = []
    for name in (entry.name for entry in fields(ReadOptions)):
        kind, choices = _kind_of(hints[name])
        if kind is not None and name not in LEFT_OUT:
            found.append(ReadField(name=name, kind=kind, help=docs[name], choices=choices))
    return tuple(found)


def more_fields() -> tuple[ReadField, ...]:
    """Those without a place of their own on the page."""
    return tuple(entry for entry in read_fields() if entry.name not in OWN_PLACE)


def _kind_of(hint: object) -> tuple[Kind | None, tuple[str, ...]]:
    union = isinstance(hint, UnionType) or get_origin(hint) is Union
    kinds = [part for part in get_args(hint) if part is not NoneType] if union else [hint]
    if kinds == [str, tuple[str, ...]]:
        return "stamp", ()
    if len(kinds) == 1 and get_origin(kinds[0]) is Literal:
        return "choice", tuple(map(str, get_args(kinds[0])))
    plain: dict[object, Kind] = {
        str: "text", int: "whole", bool: "flag", tuple[str, ...]: "texts"
    }  # fmt: skip
    return plain.get(kinds[0]) if len(kinds) == 1 else None, ()


class _Chosen(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    def options(self) -> ReadOptions:
        """The same, as readers take it; a person has one case if nobody says."""
        return read_options(self.model_dump())


FIELDS = {**{entry.name: entry.declared for entry in read_fields()}, **BY_HAND}
"""Every field of the schema."""

if TYPE_CHECKING:

    class ColumnChoice(_Chosen):
        """How a log is read, for the type checker: the real fields are those of `ReadOptions`."""

        def __init__(self, **content: object) -> None: ...
else:
    ColumnChoice = create_model(
        "ColumnChoice",
        __base__=_Chosen,
        __doc__="How a log is read. Columns that are left out are found by their names.",
        **FIELDS,
    )
