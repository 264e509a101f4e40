"""How an uploaded log is read: schema and form are built from the fields of `ReadOptions`."""

from __future__ import annotations

import types
from dataclasses import dataclass, fields
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
from .words import plain_words

Whole = Annotated[int, Field(ge=1, le=10**9)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
Kind = Literal["text", "texts", "stamp", "choice", "whole", "flag"]

LEFT_OUT = ("format", "query", "engine")
"""Not for uploads: their name tells the format, and the app reaches no database and no cluster."""
OWN_PLACE = (
    "case", "activity", "timestamp", "order", "person", "max_cases", "trusted", "attribute",
    "employees", "personal", "accept_other",
)  # fmt: skip
"""Fields that the page asks for in a place of their own; all others follow by themselves."""

ColumnsContent = dict[str, Any] | Annotated[str, StringConstraints(max_length=500_000)]
"""What a file of columns says, or its text."""
COLUMNS = "Which values attributes may have: what `sacofa columns` writes, as JSON or as its text."

BY_HAND: dict[str, tuple[Any, Any]] = {
    "pair": (
        list[Annotated[list[Name], Field(min_length=2, max_length=2)]],
        Field(default=[], max_length=50, description="Attributes that are asked for together."),
    ),
    # What a file of columns says, never the name of one: that would be a file of this machine.
    "columns": (
        ColumnsContent | None,
        Field(default=None, description=COLUMNS),
    ),
}
"""Fields of other types: what the interface takes for them; pages do not ask for them."""


@dataclass(frozen=True, kw_only=True)
class ReadField:
    """One way in which people say how a log is read."""

    name: str
    kind: Kind
    help: str
    choices: tuple[str, ...] = ()
    """What can be chosen from, where it is a choice."""


def read_fields() -> tuple[ReadField, ...]:
    """List what can be said about an upload; a field of another type has no place here."""
    hints, docs = get_type_hints(ReadOptions), field_docs(ReadOptions)
    found = []
    for entry in fields(ReadOptions):
        kind, choices = _kind_of(hints[entry.name])
        if kind is not None and entry.name not in LEFT_OUT:
            found.append(
                ReadField(
                    name=entry.name,
                    kind=kind,
                    help=plain_words(docs[entry.name]),
                    choices=choices,
                )
            )
    return tuple(found)


def more_fields() -> tuple[ReadField, ...]:
    """Those without a place of their own on the page."""
    return tuple(entry for entry in read_fields() if entry.name not in OWN_PLACE)


def _kind_of(hint: Any) -> tuple[Kind | None, tuple[str, ...]]:
    if get_origin(hint) in (Union, types.UnionType):
        kinds = [part for part in get_args(hint) if part is not type(None)]
        if kinds == [str, tuple[str, ...]]:
            return "stamp", ()
        return _kind_of(kinds[0]) if len(kinds) == 1 else (None, ())
    if get_origin(hint) is Literal:
        return "choice", tuple(map(str, get_args(hint)))
    if get_origin(hint) is tuple and get_args(hint) == (str, ...):
        return "texts", ()
    plain: dict[Any, Kind] = {str: "text", int: "whole", bool: "flag"}
    return plain.get(hint), ()


class _Chosen(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    def options(self) -> ReadOptions:
        """The same, as readers take it; a person has one case if nobody says."""
        return read_options(self.model_dump())


def _field(entry: ReadField) -> tuple[Any, Any]:
    if entry.kind == "texts":
        return list[Name], Field(default=[], description=entry.help, max_length=20)
    if entry.kind == "flag":
        return bool, Field(default=False, description=entry.help)
    kinds: dict[str, Any] = {
        "text": Name,
        "stamp": Name | Annotated[list[Name], Field(min_length=1, max_length=2)],
        "whole": Whole,
        "choice": Literal[entry.choices or ("",)],
    }
    return kinds[entry.kind] | None, Field(default=None, description=entry.help)


if TYPE_CHECKING:

    class ColumnChoice(_Chosen):
        """How a log is read, for the type checker: the real fields are those of `ReadOptions`."""

        def __init__(self, **content: Any) -> None: ...
else:
    ColumnChoice = create_model(
        "ColumnChoice",
        __base__=_Chosen,
        __doc__="How a log is read; columns that are left out are found by their names.",
        **{entry.name: _field(entry) for entry in read_fields()},
        **BY_HAND,
    )
