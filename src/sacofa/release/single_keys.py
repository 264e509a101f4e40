"""JSON that says one thing: a key that stands twice would be read in two ways by two programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

JsonObject = Mapping[str, Any]
"""An object as JSON holds it, whose values are checked where they are read."""


def loads(text: str | bytes) -> Any:
    """Read JSON; a `ValueError` where an object has a key twice."""
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found
