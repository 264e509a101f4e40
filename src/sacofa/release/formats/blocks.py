"""Released cases, event by event: the one generator that feeds all writers of event logs.

The cases of the most frequent variant come first, and cases are numbered 1, 2, 3, ... in the order
of the file, so that a file reveals no more than the variants and their counts do. A case without
events has no row. If a release has no times, artificial ones are written, here and nowhere else:
2000-01-01, a second later for each case and a second later for each event; every file says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from ...events.released import ARTIFICIAL, PRIVATE
from ...mechanisms.released import ReleasedLog

START = datetime(2000, 1, 1, tzinfo=UTC)
"""The time before the first event of the first case if times are artificial."""

START_SECONDS = int(START.timestamp())
BLOCK = 1 << 20
"""About how many events a block holds."""


@dataclass(frozen=True, kw_only=True)
class EventBlock:
    """Events of whole cases, in columns."""

    case: NDArray[np.int64]
    """The number of the case of each event."""
    activity_id: NDArray[np.int32]
    """What each event did."""
    seconds: NDArray[np.int64]
    """When it happened, in seconds since 1970."""
    truncated: NDArray[np.bool_]
    """Whether the case of each event went on."""
    core: NDArray[np.bool_] | None = None
    """Whether the case of each event is of the orderly core; None: none is marked."""

    starts: NDArray[np.int64] | None = None
    """When the work on it began, as `seconds`; None: not known."""
    values: tuple[NDArray[np.int32], ...] = ()
    """The codes of each attribute."""

    def __len__(self) -> int:
        return len(self.case)


def describe_times(log: ReleasedLog) -> str:
    """What a file says of its times."""
    return ARTIFICIAL if log.times is None else PRIVATE


def event_blocks(log: ReleasedLog) -> Iterator[EventBlock]:
    """Yield the events of all cases in blocks of whole cases, those of frequent variants first."""
    layout = _Layout(log)
    # Large counts are split into pieces first, so that no variant is larger than a block.
    fit = np.maximum(BLOCK // np.maximum(layout.lengths, 1), 1)
    pieces = -(-layout.counts // fit)
    owner = np.repeat(np.arange(len(layout.order)), pieces)
    first = _places_within(pieces) * fit[owner]
    count = np.minimum(fit[owner], layout.counts[owner] - first)
    ends = np.cumsum(count * layout.lengths[owner])
    start = 0
    while start < len(owner):
        # As many pieces as fill a block, at least one.
        before = ends[start - 1] if start else 0
        end = max(int(np.searchsorted(ends, before + BLOCK, side="right")), start + 1)
        part = slice(start, end)
        place = np.repeat(owner[part], count[part])
        nth = np.repeat(first[part], count[part]) + _places_within(count[part])
        yield layout.block(place, nth)
        start = end


def _places_within(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count 0, 1, 2, … anew within each of several groups that lie end to end."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


class _Layout:
    """Where the cases of a file lie in lists that are in the order of the variants."""

    def __init__(self, log: ReleasedLog) -> None:
        variants = log.variants
        lengths, counts = variants.lengths, variants.counts
        cases, events = np.cumsum(counts), np.cumsum(counts * lengths)
        self.log = log
        self.order = np.argsort(-counts, kind="stable")
        """The places of the variants that have events, the most frequent first."""
        self.order = self.order[lengths[self.order] > 0]
        self.lengths, self.counts = lengths[self.order], counts[self.order]
        self.first_case = (cases - counts)[self.order]
        self.first_event = (events - counts * lengths)[self.order]
        self.number = np.cumsum(self.counts) - self.counts + 1
        """The number of the first case of each variant."""

    def block(self, place: NDArray[np.int64], nth: NDArray[np.int64]) -> EventBlock:
        """The events of cases, each given by the place of its variant here and within it."""
        log, variants = self.log, self.log.variants
        rows = self.lengths[place]
        within = _places_within(rows)
        variant = np.repeat(self.order[place], rows)
        case = np.repeat(self.number[place] + nth, rows)
        case_at = np.repeat(self.first_case[place] + nth, rows)
        event_at = np.repeat(self.first_event[place] + nth * rows, rows) + within
        return EventBlock(
            case=case,
            activity_id=variants.activity_ids[variants.offsets[variant] + within],
            seconds=START_SECONDS + case + within + 1 if log.times is None else log.times[event_at],
            truncated=~variants.complete[variant],
            core=None if log.core is None else log.core[variant],
            starts=None if log.starts is None else log.starts[event_at],
            values=tuple(each.codes[case_at if each.of_case else event_at] for each in log.columns),
        )


def all_events(log: ReleasedLog) -> EventBlock:
    """The events of all cases in one block."""
    layout = _Layout(log)
    place = np.repeat(np.arange(len(layout.order)), layout.counts)
    return layout.block(place, _places_within(layout.counts))
