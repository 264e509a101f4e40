"""Logs of pm4py in memory, as frames: its EventLog is what XES files hold, its stream a table."""

from __future__ import annotations

from typing import Any

from ..errors import MissingExtraError, ReadError


def is_pm4py(source: Any) -> bool:
    """Whether something is a log of pm4py; that is told without loading it."""
    return type(source).__module__.startswith("pm4py.objects.log")


def as_frame(source: Any) -> Any:
    """Give a log as a pandas frame. As in XES files, each trace is a case, whatever its name."""
    try:
        import pandas
    except ImportError:
        raise MissingExtraError("pandas", "evaluate") from None
    kind = type(source).__name__
    if kind == "EventStream":
        return pandas.DataFrame([dict(event) for event in source])
    if kind != "EventLog":
        raise ReadError(f"pm4py {kind}", "is no log: give an EventLog, an EventStream or a frame")
    rows: list[dict[str, Any]] = []
    for number, trace in enumerate(source):
        of_case = {f"case:{name}": value for name, value in trace.attributes.items()}
        of_case["case:concept:name"] = str(number)
        # A trace without events is a case all the same.
        rows += [{**of_case, **dict(event)} for event in trace] or [of_case]
    return pandas.DataFrame(rows)
