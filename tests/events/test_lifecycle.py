"""Activities that were started and completed happened once, in every reader."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sacofa.base.batches import gather
from sacofa.errors import SettingError
from sacofa.events import count_variants, open_log, read_cases
from sacofa.events.duckdb import partitions
from sacofa.events.lifecycle import join_instances
from sacofa.kernel.cases import NO_TIME, CaseBatch

Row = tuple[str, str, str | None, int]
"""A case, an activity, a transition and a second."""

LOG: list[Row] = [
    ("1", "a", "schedule", 0), ("1", "a", "start", 1), ("1", "b", "START", 2),
    ("1", "a", "start", 3), ("1", "a", "complete", 4), ("1", "b", "Complete", 5),
    ("1", "c", None, 6), ("1", "a", "complete", 7), ("2", "a", "complete", 1),
    ("2", "a", "start", 2), ("2", "b", "In Progress", 3), ("3", "a", "withdraw", 1),
]  # fmt: skip

MEANT = [
    (("a", "b", "c", "a"), (4, 5, 6, 7), (1, 2, None, 3)),
    (("a", "a", "b"), (1, 2, 3), (None, 2, None)),
    ((), (), ()),
]
"""What LOG says: the activities of each case, when they ended and when they began."""


def second(number: int) -> str:
    return f"2020-01-01T00:00:{number:02}"


def frame_of(rows: list[Row]) -> pd.DataFrame:
    """Rows as pm4py has them."""
    return pd.DataFrame(
        {
            "case:concept:name": [row[0] for row in rows],
            "concept:name": [row[1] for row in rows],
            "lifecycle:transition": pd.Series([row[2] for row in rows], dtype="object"),
            "time:timestamp": [second(row[3]) for row in rows],
        }
    )


def write_csv(folder: Path, rows: list[Row]) -> Path:
    path = folder / "log.csv"
    frame_of(rows).to_csv(path, index=False)
    return path


def write_xes(folder: Path, rows: list[Row]) -> Path:
    """Rows as XES, whose classifier tells starts from completions."""
    text = ['<log><extension prefix="time"/>',
            '<classifier name="MXML" keys="concept:name lifecycle:transition"/>']  # fmt: skip
    for case in dict.fromkeys(row[0] for row in rows):
        text.append("<trace>")
        for _, name, transition, time in (row for row in rows if row[0] == case):
            said = (
                f'<string key="lifecycle:transition" value="{transition}"/>' if transition else ""
            )
            text.append(
                f'<event><string key="concept:name" value="{name}"/>{said}'
                f'<date key="time:timestamp" value="{second(time)}"/></event>'
            )
        text.append("</trace>")
    path = folder / "log.xes"
    path.write_text("".join([*text, "</log>"]))
    return path


def write_frame(folder: Path, rows: list[Row]) -> pd.DataFrame:
    return frame_of(rows)


def instances(source: Any, **options: Any) -> list[Any]:
    """Cases as names, ends and beginnings, in seconds; they are those that are counted."""
    log = open_log(source, **options)
    cases = read_cases(log)
    assert cases.by_case is not None and cases.variants == count_variants(log)
    batch = gather(cases.by_case)
    assert isinstance(batch, CaseBatch) and batch.times is not None and batch.starts is not None
    zero = 1_577_836_800_000_000

    def seconds(times: Any) -> tuple[int | None, ...]:
        return tuple(None if t == NO_TIME else (t - zero) // 10**6 for t in times.tolist())

    return [
        (names, seconds(batch.times[start:end]), seconds(batch.starts[start:end]))
        for ids, start, end in zip(
            batch.sequences(), batch.offsets.tolist(), batch.offsets.tolist()[1:], strict=False
        )
        for names in [tuple(batch.activities[i] for i in ids)]
    ]


WRITERS = {"csv": write_csv, "xes": write_xes, "frame": write_frame}


@pytest.mark.parametrize("name", WRITERS)
def test_starts_are_joined_with_their_ends(name: str, tmp_path: Path) -> None:
    """The first start belongs to the first end; other transitions tell of no work."""
    told: list[str] = []
    source: Any = WRITERS[name](tmp_path, LOG)
    assert sorted(instances(source)) == sorted(MEANT)
    count_variants(open_log(source), notify=lambda note: told.append(str(note)))
    assert any("2 events left out" in text for text in told)
    # Who asks for both as activities gets both.
    both = open_log(source, activity=("concept:name", "lifecycle:transition"))
    if name == "xes":
        with pytest.raises(Exception, match="without lifecycle:transition"):
            count_variants(both)


rows = st.lists(
    st.tuples(
        st.sampled_from("12345678"),
        st.sampled_from("ab"),
        st.sampled_from([None, "start", "start", "complete", "complete", "suspend"]),
        st.integers(0, 9),
    ),
    min_size=8,
    max_size=60,
)


def expected(log: list[Row], order: str) -> list[Any]:
    """What `join_instances` makes of each case."""
    found = []
    for case in dict.fromkeys(row[0] for row in log):
        events = [row for row in log if row[0] == case]
        if order == "time":
            events.sort(key=lambda row: row[3])
        kept = join_instances([row[2] for row in events], [row[1] for row in events])
        found.append(
            (
                tuple(events[i][1] for i, _ in kept),
                tuple(events[i][3] for i, _ in kept),
                tuple(None if s is None else events[s][3] for _, s in kept),
            )
        )
    return sorted(found, key=repr)


def test_tables_and_lists_are_joined_alike() -> None:
    """Windows in a database find what a queue finds, in one part, in many, and case by case."""

    @given(log=rows, order=st.sampled_from(["time", "file"]), size=st.sampled_from([4, 10**9]))
    @settings(
        max_examples=12, deadline=None, derandomize=True, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    def law(log: list[Row], order: str, size: int) -> None:
        with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
            patch.setattr(partitions, "PARTITION_ROWS", size)
            for write in (write_frame, write_xes):
                source: Any = write(Path(folder), log)
                found = sorted(instances(source, order=order), key=repr)
                assert found == expected(log, order)
                # A case that goes changes no other.
                rest = [row for row in log if row[0] != "2"]
                if rest:
                    left = sorted(instances(write(Path(folder), rest), order=order), key=repr)
                    assert all(case in found for case in left)

    law()


def test_two_columns_of_times(tmp_path: Path) -> None:
    """The end orders the events, and the beginning is kept; day and month are found from both."""
    path = tmp_path / "log.csv"
    path.write_text(
        "Case ID,Activity,Start Timestamp,Complete Timestamp\n"
        "1,a,31/12/2019 23:59:50,1/1/2020 00:00:04\n1,b,,1/1/2020 00:00:05\n"
    )
    assert instances(path) == [(("a", "b"), (4, 5), (-10, None))]
    named = path.rename(tmp_path / "other.csv")
    named.write_text(named.read_text().replace("Start Timestamp", "von"))
    assert instances(named, start="von", time_format="day-first")[0][2] == (-10, None)
    with pytest.raises(SettingError, match="left out for XES"):
        open_log(write_xes(tmp_path, LOG), start="time:timestamp")


def test_a_transition_of_another_name(tmp_path: Path) -> None:
    """It is named."""
    path = tmp_path / "log.csv"
    path.write_text("case,activity,time,what\n1,a,2020-01-01,start\n1,a,2020-01-02,complete\n")
    assert list(count_variants(path)) == [(("a", "a"), 1)]
    assert list(count_variants(open_log(path, lifecycle="what"))) == [(("a",), 1)]
