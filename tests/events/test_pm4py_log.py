"""Logs of pm4py: each value for itself, and nothing but what is named from all of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sacofa import Certified, anonymize
from sacofa.base.domains import labels_of
from sacofa.errors import ColumnsError, ReadError, SettingError
from sacofa.events import count_variants, open_log, read_cases
from sacofa.events.columns import TIMES_TAKEN
from sacofa.kernel.cases import CaseBatch
from sacofa.messages import render
from sacofa.release.disclosure import disclose, to_markdown

obj = pytest.importorskip("pm4py.objects.log.obj", reason="pip install 'sacofa[evaluate]'")

NOON = datetime(2025, 1, 1, 12, tzinfo=UTC)
Value = Any
values = st.sampled_from(
    [
        None,
        1,
        2,
        2.0,
        1.5,
        np.float64(1),
        float("nan"),
        True,
        False,
        "x",
        "1",
        NOON,
        date(2020, 1, 1),
        np.int64(1),
    ]
)


def a_trace(*events: dict[str, Any], **own: Any) -> Any:
    """A trace with events that have a name and a time, and what else is given."""
    usual = {"concept:name": "a", "time:timestamp": NOON}
    return obj.Trace([obj.Event({**usual, **event}) for event in events], attributes=own)


def with_wards(wards: Sequence[tuple[Value, Value]]) -> list[Any]:
    """Cases that say something themselves, and by their one event."""
    return [
        a_trace({} if of is None else {"ward": of}, **({} if own is None else {"ward": own}))
        for own, of in wards
    ]


def read(traces: Sequence[Any], **options: Any) -> tuple[Any, Any, list[str]]:
    """What was taken from a log, its attribute, and the value of each case, in words."""
    log = open_log(obj.EventLog(traces), attribute=("ward",), **options)
    cases = read_cases(log)
    (attribute,) = cases.attributes
    words = labels_of(attribute.known)

    def cells(number: int, batch: CaseBatch) -> list[int]:
        return [int(cell) for cell in batch.attributes[0].cells]

    assert cases.by_case is not None
    found = [words[cell] for part in cases.by_case.map_parts(cells) for cell in part]
    return log.assumptions, attribute, sorted(found)


def less_one(whole: list[str], rest: list[str]) -> bool:
    """Whether only one is gone."""
    left = list(whole)
    for value in rest:
        if value not in left:
            return False
        left.remove(value)
    return len(left) == 1


WARDS = {"attributes": {"ward": {"values": ["1", "2", "2.0", "x", "true", "false"]}}}


@pytest.mark.parametrize("of", ["case", "event"])
@settings(max_examples=40, deadline=None)
@given(wards=st.lists(st.tuples(values, values), min_size=2, max_size=5))
def test_no_case_decides_about_others_where_all_is_declared(
    of: str, wards: list[tuple[Value, Value]]
) -> None:
    """Whole numbers stay whole where one is missing, and texts are those of each value."""
    columns = {"attributes": {"ward": {**WARDS["attributes"]["ward"], "of": of}}}
    wards = [*wards, ("x", "x")]
    whole, rest = (read(with_wards(some), columns=columns) for some in (wards, wards[1:]))
    assert whole[:2] == rest[:2] and whole[0] == (TIMES_TAKEN,)
    assert less_one(whole[2], rest[2])


@settings(max_examples=60, deadline=None)
@given(wards=st.lists(st.tuples(values, values), min_size=2, max_size=5))
def test_what_is_taken_from_cases_is_named_and_has_no_order(
    wards: list[tuple[Value, Value]],
) -> None:
    """Where the same was taken from two neighbours, they differ by the one case alone."""
    wards = [*wards, (1, None)]
    whole = read(with_wards(wards))
    assert whole == read(with_wards(wards[::-1]))
    assert whole[0][0] == TIMES_TAKEN and str(whole[0][1]).startswith("That ward belongs to cases")
    rest = read(with_wards(wards[1:]))
    if whole[:2] == rest[:2]:
        assert less_one(whole[2], rest[2])


def test_half_a_character_stops_no_other_case() -> None:
    """Memory can hold one; text cannot."""
    log = obj.EventLog([a_trace({"concept:name": name}) for name in ("a😀", "b\ud800")])
    assert dict(count_variants(log)) == {("a😀",): 1, ("b?",): 1}


def test_a_missing_value_changes_no_other() -> None:
    """A number that one case lacks, a flag, an activity: those of others are what they were."""
    wards = with_wards([(1, None), (2, None)])
    assert read(wards, columns=WARDS)[2] == ["1", "2"]
    assert read([a_trace({}), *wards], columns=WARDS)[2] == ["1", "2", "missing"]
    flags = with_wards([(True, None), (False, None)])
    assert read([a_trace({}), *flags])[2] == ["false", "missing", "true"]
    numbers = [a_trace({"concept:name": 1}, {"concept:name": 2})] * 3
    assert dict(count_variants(obj.EventLog([obj.Trace(), *numbers]))) == {(): 1, ("1", "2"): 3}
    # As they come from a frame in which one was missing.
    floats = [a_trace({"concept:name": 1.0}, {"concept:name": np.float64(2)})]
    assert dict(count_variants(obj.EventLog(floats))) == {("1", "2"): 1}


def test_times_are_moments_whatever_their_zone() -> None:
    """And text is read as in XES: one of another zone changes neither others nor assumptions."""
    zone = timezone(timedelta(hours=2))
    stamps: list[Any] = [
        NOON, NOON.astimezone(zone), pd.Timestamp(NOON), "2025-01-01T14:00:00+02:00",
        NOON.replace(tzinfo=None), "3/4/2025", None, datetime.max.replace(tzinfo=timezone.min),
    ]  # fmt: skip
    log = obj.EventLog([a_trace({"time:timestamp": stamp}) for stamp in stamps])
    assert open_log(log).assumptions == open_log(obj.EventLog(log[:1])).assumptions
    cases = read_cases(open_log(log))
    assert cases.by_case is not None

    def times(number: int, batch: CaseBatch) -> list[int]:
        assert batch.times is not None
        return batch.times.tolist()

    (found,) = cases.by_case.map_parts(times)
    assert sorted(found).count(int(NOON.timestamp()) * 10**6) == 5 and len(set(found)) <= 3
    texts = obj.EventLog(
        [a_trace({"time:timestamp": "31.12.2025"}, {"time:timestamp": "1.2.2025"})]
    )
    with pytest.raises(ReadError, match="no time stamp in column"):
        count_variants(open_log(texts, order="time"))
    assert count_variants(open_log(texts, order="time", time_format="%d.%m.%Y")).cases == 1


def test_whether_there_are_times_is_declared_or_named() -> None:
    """As in an XES file, before the first case; else all cases are asked."""
    log = obj.EventLog([a_trace({})])
    untimed = obj.EventLog([obj.Trace([obj.Event({"concept:name": "a"})]), obj.Trace()])
    assert open_log(log).has_times and not open_log(untimed).has_times
    assert open_log(log).assumptions == open_log(untimed).assumptions == (TIMES_TAKEN,)
    assert dict(count_variants(untimed)) == {("a",): 1, (): 1}
    assert open_log(log, timestamp="time:timestamp").assumptions == ()
    for declares in (
        {"extensions": {"Time": {"prefix": "time"}}},
        {"omni_present": {"event": {"time:timestamp": NOON}}},
    ):
        for traces in (log, untimed):
            said = open_log(obj.EventLog(list(traces), **declares))
            assert said.has_times and said.assumptions == ()
    release = anonymize(log, Certified(epsilon=1), seed=1)
    assert TIMES_TAKEN in release.certificate.assumptions
    german = render(TIMES_TAKEN, "de")
    assert german.startswith("Ob Ereignisse Zeitstempel haben")
    assert german in to_markdown(disclose(release.certificate), "de")


def test_an_event_names_no_case() -> None:
    """Whatever it says of a case: each trace is one, and says itself whose it is."""
    said = {"concept:name": "c", "case:concept:name": "0", "case:who": "ann"}
    log = obj.EventLog([a_trace({}), obj.Trace([obj.Event(said)], attributes={"who": "ben"})])
    assert dict(count_variants(log)) == {("a",): 1, ("c",): 1}
    log = obj.EventLog([*log, obj.Trace([obj.Event(said)], attributes={"who": "ben"})])
    assert count_variants(open_log(log, person="case:who", max_cases=1)).cases == 2


def test_a_global_decides_about_attributes() -> None:
    """As it does in XES files."""
    traces = with_wards([(None, 1), (None, "x")])
    log = obj.EventLog(traces, omni_present={"trace": {"ward": 0}})
    opened = open_log(log, attribute="ward", timestamp="time:timestamp")
    assert opened.attributes[0].of_case and opened.assumptions == ()
    assert opened.attributes[0].known.kind == "float"


def test_a_stream_is_a_table() -> None:
    """Its columns are found by name, of all events; that is named."""
    events = [{"case:concept:name": 1, "concept:name": 7}, {"case:concept:name": 1}]
    events[1]["concept:name"] = "b"  # type: ignore[assignment]
    stream = obj.EventStream([obj.Event(event) for event in events])
    assert dict(count_variants(stream)) == {("7", "b"): 1}
    assert open_log(stream).assumptions[0].code == "assumption.columns_from_log"


@pytest.mark.parametrize("role", ["activity", "timestamp", "person", "lifecycle", "start"])
def test_what_does_not_exist_is_refused(role: str) -> None:
    """Before anything is read; and each trace is a case."""
    more: dict[str, Any] = {"max_cases": 1} if role == "person" else {}
    with pytest.raises(ColumnsError, match="absent"):
        open_log(obj.EventLog([a_trace({})]), **{role: "absent"}, **more)
    with pytest.raises(SettingError, match="each trace is a case"):
        open_log(obj.EventLog([a_trace({})]), case="case:concept:name")


@pytest.mark.parametrize(("name", "attribute"), [("sepsis", "Age"), ("receipt", "channel")])
def test_what_pm4py_has_loaded_is_what_the_file_says(name: str, attribute: str, logs: Path) -> None:
    """Variants, levels and values are those of the file."""
    import pm4py

    path = logs / f"{name}.xes.gz"
    loaded = pm4py.convert_to_event_log(pm4py.read_xes(str(path)))
    both = [read_cases(open_log(log, attribute=attribute)) for log in (path, loaded)]
    assert both[0].variants == both[1].variants
    assert both[0].attributes == both[1].attributes

    def cells(number: int, batch: CaseBatch) -> Any:
        return np.bincount(batch.attributes[0].cells)

    counted = [sum(cases.by_case.map_parts(cells)).tolist() for cases in both if cases.by_case]
    assert counted[0] == counted[1]
