"""Facts and errors as values: a code with typed values, which `sacofa.messages` puts into words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral

TEXT = "text"  # The code of a statement that is its own wording, in every language.


@dataclass(frozen=True)
class Argument:
    """A setting that a message names; command line, web app and Python each have a word for it."""

    name: str
    """Its name in Python."""
    value: str | bool | None = None
    """The value that it should have; None: any value that fits."""

    def __str__(self) -> str:
        """The argument as Python calls it."""
        return self.name if self.value is None else f"{self.name}={self.value!r}"


@dataclass(frozen=True, init=False)
class Statement:
    """A fact: a code from the message catalogue, and values for the places in its wording."""

    code: str
    """The entry of the catalogue, such as `note.dropped`."""
    items: tuple[tuple[str, Value], ...]
    """The values by name, sorted by name."""

    def __init__(self, code: str, /, **values: object) -> None:
        object.__setattr__(self, "code", code)
        checked = tuple((name, _checked(value)) for name, value in sorted(values.items()))
        object.__setattr__(self, "items", checked)

    @classmethod
    def plain(cls, *parts: Part) -> Statement:
        """Make a statement that is its own wording: for packages without a catalogue."""
        return cls(TEXT, text=parts[0] if len(parts) == 1 else parts)

    @property
    def values(self) -> Mapping[str, Value]:
        """The values by name."""
        return dict(self.items)

    def __str__(self) -> str:
        """The wording in English."""
        return _wording(self)


Value = str | bool | int | float | Fraction | Argument | Statement | tuple["Value", ...]
"""The types of values in a statement."""
Part = Statement | Argument | str
"""A part of a message; strings are their own wording."""

_wording: Callable[[Statement], str] = repr


def use_wording(wording: Callable[[Statement], str]) -> None:
    """Set how `str` words a statement: the kernel itself has no texts."""
    global _wording
    _wording = wording


def stated(*parts: Part) -> Statement:
    """Return one statement unchanged, and other parts as a statement that is its own wording."""
    if len(parts) == 1 and isinstance(parts[0], Statement):
        return parts[0]
    return Statement.plain(*parts)


def _checked(value: object) -> Value:
    if isinstance(value, tuple | list):
        return tuple(map(_checked, value))
    if isinstance(value, str | bool | int | float | Fraction | Argument | Statement):
        return value
    if isinstance(value, Integral):
        return int(value)
    raise TypeError(f"{value!r} cannot be a value of a statement")


def is_whole(value: object) -> bool:
    """Whether a value is a whole number of Python or NumPy, but not a boolean."""
    return type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))


class SacofaError(Exception):
    """The base class of all errors that this package raises, with a statement of the reason."""

    exit_status = 1

    def __init__(self, *what: Part) -> None:
        self.statement = stated(*what)
        super().__init__(self.statement)


class SettingError(SacofaError):
    """An invalid setting, refused before any log is read; the value None is a missing one."""

    exit_status = 2

    def __init__(self, name: str, value: object, *must: Part) -> None:
        self.name, self.value, self.must = name, value, stated(*must)
        values = {"name": Argument(name), "must": self.must}
        if value is None:
            super().__init__(Statement("error.setting_missing", **values))
        else:
            super().__init__(Statement("error.setting", **values, value=str(value)))


class PromiseError(SacofaError):
    """A mechanism that asks for more than it promised, or less: a mistake in the mechanism."""
