"""Reads a log to be measured: with its times, where they are its own."""

from __future__ import annotations

from dataclasses import replace

from ..cases import Cases, gather
from ..domains import Attribute
from ..logs import Log, count_variants, read_cases
from ..logs.released import ARTIFICIAL
from ..logs.time_mark import time_mark


def read_measured(log: Log, attributes: tuple[Attribute, ...] = ()) -> Cases:
    """Read variants, and in memory the cases with their times, unless those are made up.

    `attributes` are those of the original: a release is held against the same domains.
    """
    if attributes and log.columns is not None:
        log = replace(log, columns=replace(log.columns, attributes=attributes))
    timed = log.has_times and time_mark(log) != ARTIFICIAL
    if not timed and not log.attributes:
        return Cases(variants=count_variants(log))
    cases = read_cases(log)
    assert cases.by_case is not None
    by_case = gather(cases.by_case)
    return replace(
        cases, by_case=by_case if timed else replace(by_case, times=None), has_times=timed
    )
