"""Optional libraries, imported only when a measure needs them."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
from typing import Any

from ..errors import MissingExtraError

PACKAGES = {"sklearn": "scikit-learn", "ot": "POT"}
"""Names under which libraries are installed, where they differ from the import name."""


def optional_module(name: str, extra: str = "evaluate") -> Any:
    """Import a library of an extra, or say in one line how to install it."""
    top = name.partition(".")[0]
    try:
        # pm4py greets on stderr when it is imported.
        with contextlib.redirect_stderr(io.StringIO()):
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != top:
            raise
        raise MissingExtraError(PACKAGES.get(top, top), extra) from None


def require_modules(*names: str, extra: str = "evaluate") -> None:
    """Refuse to begin long work whose libraries are not there."""
    for name in names:
        if importlib.util.find_spec(name) is None:
            raise MissingExtraError(PACKAGES.get(name, name), extra)
