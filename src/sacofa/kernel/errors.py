"""Errors of the kernel, and the root of all errors of the package (see `sacofa.errors`)."""

from __future__ import annotations

from numbers import Integral

from .statements import Argument, Part, Statement, stated


def is_whole(value: object) -> bool:
    """Whether a value is a whole number, of Python or of NumPy; yes and no are none."""
    return type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))


class SacofaError(Exception):
    """The root of all errors that this package raises on purpose: a statement of what happened."""

    exit_status = 1

    def __init__(self, *what: Part) -> None:
        self.statement = stated(*what)
        super().__init__(self.statement)


class SettingError(SacofaError):
    """A setting that cannot be, refused before any log is read; the value None is a missing one."""

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
