"""Settings of mechanisms, described once: as the fields of a class, each with its docstring.

Command line, web form, REST interface and documentation are built from what this module reads off
the classes. A field that people may set is marked with `offered`; its docstring is its help text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from functools import lru_cache
from math import isfinite
from numbers import Integral, Real
from types import FunctionType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeGuard

from ..base.described import field_docs

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Kind = Literal["epsilon", "whole", "whole or inf", "number", "word", "flag", "rules"]
"""What a setting takes; how each kind is asked for is the business of whoever asks."""


def offered(kind: Kind, option: str | None = None, default: object = MISSING) -> Any:
    """Make a field that people may set; `option` is its name for them if it differs."""
    return field(default=default, metadata={"kind": kind, "option": option})


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting of a mechanism, as people see it."""

    option: str
    """What people call it."""
    name: str
    """The field of the mechanism."""
    kind: Kind
    """What it takes."""
    help: str
    """What it means."""
    required: bool
    """Whether the mechanism needs it."""
    mechanisms: tuple[str, ...] = ()
    """The mechanisms that have it, if it is listed for several."""


@lru_cache
def settings_of(mechanism: type) -> tuple[Setting, ...]:
    """List the settings that a mechanism offers, in the order of its fields."""
    docs = field_docs(mechanism)
    return tuple(
        Setting(
            option=entry.metadata["option"] or entry.name,
            name=entry.name,
            kind=entry.metadata["kind"],
            help=docs[entry.name],
            required=entry.default is MISSING,
        )
        for entry in fields(mechanism)
        if "kind" in entry.metadata
    )


class Stating(Protocol):
    """What states its settings."""

    def settings(self) -> Mapping[str, object]:
        """The settings that a certificate repeats in any case."""


def all_settings(mechanism: Stating) -> dict[str, object]:
    """The settings that a certificate repeats.

    These are the ones that the mechanism states itself, and all its fields that differ from their
    defaults. So a certificate is complete whatever a mechanism, also one from outside, states.
    """
    stated = dict(mechanism.settings())
    if is_dataclass(mechanism):
        for name, value in _changed_fields(mechanism):
            stated.setdefault(name, value)
    return stated


def _changed_fields(thing: DataclassInstance, usual: object = None) -> Iterator[tuple[str, object]]:
    """The fields whose values are not those of `usual`, or without it not their defaults."""
    for entry in fields(thing):
        value = getattr(thing, entry.name)
        default = _default(entry) if usual is None else getattr(usual, entry.name)
        if value is default or (_is_plain(value) and _is_plain(default) and value == default):
            continue
        if _is_record(value) and type(value) is type(default):
            for name, inner in _changed_fields(value, default):
                yield f"{entry.name}.{name}", inner
        else:
            yield entry.name, _describe(value)


def _is_record(value: object) -> TypeGuard[DataclassInstance]:
    return is_dataclass(value) and not isinstance(value, type)


def _default(entry: Field[object]) -> object:
    return entry.default if entry.default_factory is MISSING else entry.default_factory()


def _is_plain(value: object) -> bool:
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | Real)


def _describe(value: object) -> object:
    """A plain value as JSON has it, or the name of a function or type: the same in every run."""
    if isinstance(value, tuple | list) and _is_plain(value):
        return [_describe(one) for one in value]
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, Real):
        return _describe_number(value)
    # The content of anything else could be confidential: an outside mechanism may hold a log.
    named = value if isinstance(value, FunctionType | type) else type(value)
    return f"{named.__module__}.{named.__qualname__}"


def _describe_number(value: Real) -> int | float | str:
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, float) and isfinite(value) else str(value)
