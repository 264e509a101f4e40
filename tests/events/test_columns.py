"""Columns are found by the names in common use, or as they are given."""

from __future__ import annotations

import pytest

from sacofa.errors import ColumnsError, SettingError
from sacofa.events.columns import resolve_columns
from sacofa.events.options import ReadOptions


@pytest.mark.parametrize(
    ("present", "case", "activity", "timestamp"),
    [
        (["case:concept:name", "concept:name", "time:timestamp"],
         "case:concept:name", "concept:name", "time:timestamp"),
        (["CaseID", "Activity", "Timestamp"], "CaseID", "Activity", "Timestamp"),
        (["event", "case_id", "activity", "time"], "case_id", "activity", "time"),
        (["Case ID", "Task", "Complete Timestamp"], "Case ID", "Task", "Complete Timestamp"),
        (["trace-id", "EVENT_NAME"], "trace-id", "EVENT_NAME", None),
        (["case", "concept:name", "activity", "case_id"], "case_id", "concept:name", None),
        (["_CASE_KEY", "ACTIVITY_EN", "EVENTTIME", "_SORTING"],
         "_CASE_KEY", "ACTIVITY_EN", "EVENTTIME"),
        (["Case ID", "Event Name", "End time"], "Case ID", "Event Name", "End time"),
        (["EBELN", "TCODE", "UDATE", "USERNAME"], "EBELN", "TCODE", "UDATE"),
        (["documentkey", "fieldname", "newvalue", "sys_created_on"],
         "documentkey", "newvalue", "sys_created_on"),
        (["Number", "State", "Updated"], "Number", "State", "Updated"),
        (["Vorgangs-ID", "Aktivität", "Zeitstempel"], "Vorgangs-ID", "Aktivität", "Zeitstempel"),
        (["Fallnummer", "Prozessschritt", "Datum"], "Fallnummer", "Prozessschritt", "Datum"),
    ],
)  # fmt: skip
def test_names_in_common_use(
    present: list[str], case: str, activity: str, timestamp: str | None
) -> None:
    """However they are spelt, the usual names are found; the more telling ones first."""
    columns = resolve_columns("log", present, ReadOptions())
    assert (columns.case, columns.activity, columns.timestamp) == (case, (activity,), timestamp)


def test_given_names_come_first() -> None:
    """A column that is given is taken, whatever else there is."""
    columns = resolve_columns(
        "log", ["case", "activity", "step", "who", "t"],
        ReadOptions(case="who", activity=("activity", "step"), timestamp="t", person="case",
                    max_cases=1),
    )  # fmt: skip
    assert columns.case == "who" and columns.activity == ("activity", "step")
    assert columns.timestamp == "t" and columns.person == "case"


def test_what_is_missing_is_said() -> None:
    """The error says what is there, what is missing and how to name it."""
    with pytest.raises(ColumnsError) as caught:
        resolve_columns("log.csv", ["a", "b"], ReadOptions(order="time"))
    assert caught.value.missing == ("case", "activity", "timestamp")
    assert caught.value.present == ("a", "b")
    assert "with case, activity and timestamp" in str(caught.value)
    with pytest.raises(ColumnsError, match='Did you mean "case"'):
        resolve_columns("log.csv", ["case", "activity"], ReadOptions(case="Case"))
    with pytest.raises(ColumnsError, match='Did you mean "case_id"'):
        resolve_columns("log.csv", ["case", "case_id", "activity"], ReadOptions(case="CASE_ID"))


def test_one_column_twice_is_refused() -> None:
    """An activity is built from different columns."""
    with pytest.raises(SettingError):
        ReadOptions(activity=("a", "a"))
