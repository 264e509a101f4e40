"""Description of a log. All of it is confidential, because no noise is added."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import ReadError, plain
from ..kernel.cases import MICROSECONDS, NO_TIME, CaseBatch
from ..kernel.statements import Argument, Statement
from ..kernel.variants import Variant, VariantCounts
from .bounded_file import Progress
from .log import count_variants, read_cases
from .notices import Notify
from .profile import ColumnProfile, Role, find_roles, profile_columns
from .source import ComparingReader, Log

QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)

SHOWN_EVENTS = 100
"""Number of events of a variant that are listed; a case may have millions."""

MIN_NUMBERED = 10
"""Fewer activities that only one case has do not lead to a warning."""
MIN_NUMBERED_SHARE = 0.3
"""Names are taken for identifiers where at least this part of them occur in one case only."""

_IDENTIFIER = re.compile(r"\d{4,}|[0-9a-f]{8}-[0-9a-f]{4}-|\S@\S+\.\S|^\W*\d+\W*$", re.IGNORECASE)
_HALF = re.compile(
    r"[\s+_:/(.-]*(?P<half>start|started|begin|complete|completed|end|ended|finished)\)?$",
    re.IGNORECASE,
)
_BEGINS = ("start", "started", "begin")


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """The size and the shape of a log."""

    events: int
    """Number of events."""
    activities: int
    """Number of distinct activities."""
    cases: int
    """Number of cases."""
    variants: int
    """Number of distinct variants."""
    unfinished: int
    """Number of truncated cases."""
    mean_length: float
    """The number of events of a case, on average."""
    lengths: dict[str, int]
    """Quantiles of the number of events of a case; "0.5" is the median."""
    unique: float
    """Share of the cases with a unique variant."""
    frequent: tuple[tuple[Variant, int], ...]
    """The most frequent variants with their counts."""
    warnings: tuple[Statement, ...] = ()
    """Problems to review before the log is released."""
    roles: tuple[Role, ...] = ()
    """The roles of columns, and the reason for each."""
    times: TimeSpan | None = None
    """The range of times and the durations of cases; None if unknown."""
    persons: int | None = None
    """Number of persons, if there is a column for them."""
    columns: tuple[ColumnProfile, ...] = ()
    """The columns without a role."""


@dataclass(frozen=True, kw_only=True)
class TimeSpan:
    """The range of times, and the durations of cases."""

    first: str
    """The first time stamp, in UTC."""
    last: str
    """The last time stamp, in UTC."""
    durations: dict[str, float]
    """Seconds from the first to the last event of a case: median, p90 and max."""


def inspect_log(
    log: Log,
    *,
    frequent: int = 5,
    progress: Progress | None = None,
    notify: Notify | None = None,
) -> Inspection:
    """Describe a log: its size and shape, its times, its columns and their content.

    Args:
        log: The log as `open_log` returns it.
        frequent: How many of the most frequent variants to list.
        progress: Receives the share of the log that was read.
        notify: Receives notices for the holder of the log.

    Returns:
        The description; it is confidential.

    Raises:
        ReadError: The log cannot be read.
    """
    notes: list[Statement] = []
    variants, times = _read(log, progress, notes.append)
    if notify is not None:
        for note in dict.fromkeys(notes):
            notify(note)
    columns, persons = profile_columns(log, variants.cases)
    return replace(
        inspect_variants(variants, frequent=frequent, log=log),
        roles=find_roles(log),
        times=times,
        persons=persons,
        columns=columns,
    )


def _read(
    log: Log, progress: Progress | None, notify: Notify
) -> tuple[VariantCounts, TimeSpan | None]:
    # Time stamps that only order events do not lead to a refusal; anything else is reported again.
    with suppress(ReadError):
        if log.has_times:
            cases = read_cases(log, progress=progress, notify=notify)
            assert isinstance(cases.variants, VariantCounts) and cases.by_case is not None
            return cases.variants, _time_span(cases.by_case.map_parts(_spans))
    return count_variants(log, progress=progress, notify=notify), None


def _spans(number: int, batch: CaseBatch) -> NDArray[np.int64]:
    """The first and the last known time of each case."""
    assert batch.times is not None
    known = batch.times != NO_TIME
    times, case = batch.times[known], np.repeat(np.arange(len(batch)), batch.lengths)[known]
    begins = np.flatnonzero(np.diff(case, prepend=-1))
    if not len(begins):
        return np.empty((0, 2), dtype=np.int64)
    ends = (np.minimum.reduceat(times, begins), np.maximum.reduceat(times, begins))
    return np.stack(ends, axis=1)


def _time_span(parts: list[NDArray[np.int64]]) -> TimeSpan | None:
    first, last = np.concatenate(parts).T
    if not len(first):
        return None
    found = _quantiles(last - first, np.ones_like(first), (0.5, 0.9, 1.0)).values()
    return TimeSpan(
        first=str(np.datetime64(int(first.min()) // MICROSECONDS, "s")),
        last=str(np.datetime64(int(last.max()) // MICROSECONDS, "s")),
        durations=dict(
            zip(("median", "p90", "max"), (it / MICROSECONDS for it in found), strict=True)
        ),
    )


def inspect_variants(
    variants: VariantCounts, *, frequent: int = 5, log: Log | None = None
) -> Inspection:
    """Describe a log by its variants; with the log itself, its times are looked at, too."""
    counts = variants.counts
    # Ties are broken by the order of variants, so that the result is deterministic.
    top = np.argsort(-counts, kind="stable")[:frequent]
    names, steps, offsets = variants.activities, variants.activity_ids, variants.offsets
    return Inspection(
        events=variants.events,
        activities=len(np.unique(steps)),
        cases=variants.cases,
        variants=len(variants),
        unfinished=int(counts[~variants.complete].sum()),
        mean_length=variants.events / variants.cases if variants.cases else 0.0,
        lengths=_quantiles(variants.lengths, counts),
        unique=float((counts == 1).sum() / variants.cases) if variants.cases else 0.0,
        frequent=tuple(
            (tuple(names[i] for i in steps[offsets[v] : offsets[v + 1]]), int(counts[v]))
            for v in top
        ),
        warnings=find_warnings(variants, log),
    )


def shown_variants(inspection: Inspection) -> list[dict[str, Any]]:
    """Return the most frequent variants; of a long one only the first events."""
    return [
        {"activities": list(variant[:SHOWN_EVENTS]), "count": count, "events": len(variant)}
        for variant, count in inspection.frequent
    ]


def _quantiles(
    sizes: NDArray[np.int64], counts: NDArray[np.int64], quantiles: Sequence[float] = QUANTILES
) -> dict[str, int]:
    """Return the quantiles of the sizes of cases for these shares."""
    if not len(sizes):
        return {}
    order = np.argsort(sizes, kind="stable")
    upto = np.cumsum(counts[order])
    ranks = np.maximum(np.ceil(np.array(quantiles) * upto[-1]), 1)
    at = np.searchsorted(upto, ranks, side="left")
    return {f"{q:g}": int(sizes[order[i]]) for q, i in zip(quantiles, at, strict=True)}


def find_warnings(variants: VariantCounts, log: Log | None = None) -> tuple[Statement, ...]:
    """Return the problems to review; with the log, also those of its times."""
    found = [*_identifiers(variants), *_halves(variants)]
    # Cases whose rows are not in the order of their times.
    if log is None or not log.has_times or not log.engine.compares_order:
        return tuple(found)
    if number := cast(ComparingReader, log.reader).count_disordered(log):
        code = "warning.disorder_timed" if log.timed else "warning.disorder_as_filed"
        order = Argument("order", "file" if log.timed else "time")
        found.append(Statement(code, number=number, order=order))
    return tuple(found)


def _identifiers(variants: VariantCounts) -> Iterator[Statement]:
    """Warn of activity names that may identify people or things: they are published."""
    owner = np.repeat(np.arange(len(variants)), variants.lengths)
    pairs = np.unique(np.stack([variants.activity_ids.astype(np.int64), owner]), axis=1)
    cases = np.zeros(len(variants.activities), dtype=np.int64)
    np.add.at(cases, pairs[0], variants.counts[pairs[1]])
    used = np.flatnonzero(cases)
    odd = [variants.activities[i] for i in used if _IDENTIFIER.search(variants.activities[i])]
    if odd:
        yield Statement("warning.identifiers", number=len(odd), example=plain(odd[0][:60]))
    single = int((cases == 1).sum())
    if single >= MIN_NUMBERED and single >= MIN_NUMBERED_SHARE * len(used):
        yield Statement("warning.single", number=single, activities=len(used))


def _halves(variants: VariantCounts) -> Iterator[Statement]:
    """Warn of pairs of activities that are the beginning and the end of one."""
    halves: dict[str, set[bool]] = defaultdict(set)
    for name in variants.used():
        half = _HALF.search(name)
        if half is not None and half.start() > 0:
            halves[name[: half.start()]].add(half["half"].lower() in _BEGINS)
    both = sorted(name for name, seen in halves.items() if len(seen) == 2)
    if both:
        values = {"example": plain(both[0][:60]), "lifecycle": Argument("lifecycle")}
        yield Statement("warning.halves", number=len(both), **values)
