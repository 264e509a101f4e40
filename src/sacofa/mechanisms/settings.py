"""Settings of mechanisms, described once: as the fields of a class, each with its docstring.

Command line, web form, REST interface and documentation are built from what this module reads off
the classes. A field that people may set is marked with `offered`; its docstring is its help text.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, dataclass, field, fields
from functools import lru_cache
from typing import Any, Literal

from ..described import field_docs

Kind = Literal["epsilon", "whole", "whole or inf", "number", "word", "flag", "rules"]
"""What a setting takes; how each kind is asked for is the business of whoever asks."""


def offered(kind: Kind, option: str | None = None, default: Any = MISSING) -> Any:
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
    default: Any = None
    """What holds where nobody says anything."""


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
            required=_is_required(entry),
            default=None if _is_required(entry) else entry.default,
        )
        for entry in fields(mechanism)
        if "kind" in entry.metadata
    )


def _is_required(entry: Field[Any]) -> bool:
    return entry.default is MISSING
