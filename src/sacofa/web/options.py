"""What people chose, as readers take it: without the schema, which a worker need not load."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..events import ReadOptions
from ..events.columns_file import parse_columns


def read_options(chosen: Mapping[str, Any]) -> ReadOptions:
    """How a log is read, as readers take it; a person has one case if nobody says."""
    content = dict(chosen)
    if content.get("person") is not None and content.get("max_cases") is None:
        content["max_cases"] = 1
    content["columns"] = columns_content(content.get("columns"))
    return ReadOptions(**content)


def columns_content(given: Any) -> Mapping[str, Any] | None:
    """What a file of columns says, however it was sent: a text is never the name of a file."""
    return parse_columns(given) if isinstance(given, str) else given
