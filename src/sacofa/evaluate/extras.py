"""Optional libraries, imported only when a measure needs them."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
from types import ModuleType

from ..errors import MissingExtraError

PACKAGES = {"sklearn": "scikit-learn", "ot": "POT"}
"""Names of packages that differ from the name of their module."""


def optional_module(name: str, extra: str = "evaluate") -> ModuleType:
    """Import a module of an untyped optional library; MissingExtraError if it is not installed."""
    top = name.partition(".")[0]
    try:
        # pm4py prints a greeting to stderr when it is imported.
        with contextlib.redirect_stderr(io.StringIO()):
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != top:
            raise
        raise MissingExtraError(PACKAGES.get(top, top), extra) from None


def require_modules(*names: str, extra: str = "evaluate") -> None:
    """Raise MissingExtraError before long work if one of its libraries is not installed."""
    for name in names:
        if importlib.util.find_spec(name) is None:
            raise MissingExtraError(PACKAGES.get(name, name), extra)
