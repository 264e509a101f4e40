"""Reads a log to be measured: with its times, where they are its own."""

from __future__ import annotations

from ..cases import Cases, gather
from ..logs import Log, count_variants, read_cases
from ..logs.released import ARTIFICIAL
from ..logs.time_mark import time_mark


def read_measured(log: Log) -> Cases:
    """Read variants, and in memory the cases with their times, unless those are made up."""
    if not log.has_times or time_mark(log) == ARTIFICIAL:
        return Cases(variants=count_variants(log))
    cases = read_cases(log)
    assert cases.by_case is not None
    return Cases(variants=cases.variants, by_case=gather(cases.by_case))
