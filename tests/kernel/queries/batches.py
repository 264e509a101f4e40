"""Small batches of cases with times, the nasty ones too."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from sacofa.kernel.cases import NO_TIME, CaseBatch
from sacofa.kernel.queries.durations import DAY, HOUR, SECOND

Event = tuple[int, int, int]
"""An activity, when the work began, when it ended."""


def batch(cases: list[list[Event]], activities: int = 4, *, starts: bool = True) -> CaseBatch:
    """Lay cases end to end."""
    events = [event for case in cases for event in case]
    return CaseBatch(
        activities=tuple("abcdefgh"[:activities]),
        activity_ids=np.array([a for a, _, _ in events], dtype=np.int32),
        offsets=np.concatenate([[0], np.cumsum([len(case) for case in cases])]).astype(np.int64),
        complete=np.ones(len(cases), dtype=np.bool_),
        times=np.array([t for _, _, t in events], dtype=np.int64),
        starts=np.array([s for _, s, _ in events], dtype=np.int64) if starts else None,
    )


YEAR_1, YEAR_9999 = -62_135_596_800 * SECOND, 253_402_300_799 * SECOND
LAST = int(np.iinfo(np.int64).max)
nasty_times = st.one_of(
    st.sampled_from([NO_TIME, NO_TIME + 1, LAST, 0, -1, YEAR_1, YEAR_9999, 3 * DAY, 3 * DAY + 1]),
    st.integers(NO_TIME, LAST),
    st.integers(0, 40_000).map(lambda day: day * DAY),
    st.integers(0, 10**6).map(lambda hour: hour * HOUR),
)
events = st.tuples(st.integers(0, 3), nasty_times, nasty_times)
nasty_cases = st.lists(events, max_size=9)
