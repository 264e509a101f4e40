"""What is odd about a log before it is released, for the person who holds it; confidential."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import cast

import numpy as np

from ..errors import plain
from ..kernel.statements import Argument, Statement
from ..kernel.variants import VariantCounts
from .source import ComparingReader, Log

FEW = 10
"""Fewer activities that only one case has are no sign of anything."""
SHARE = 0.3
"""Names are taken for identifiers where at least this part of them occur in one case only."""

_IDENTIFIER = re.compile(r"\d{4,}|[0-9a-f]{8}-[0-9a-f]{4}-|\S@\S+\.\S|^\W*\d+\W*$", re.IGNORECASE)
_HALF = re.compile(
    r"[\s+_:/(.-]*(?P<half>start|started|begin|complete|completed|end|ended|finished)\)?$",
    re.IGNORECASE,
)
_BEGINS = ("start", "started", "begin")


def find_warnings(variants: VariantCounts, log: Log | None = None) -> tuple[Statement, ...]:
    """What should be looked at; with the log, also its times."""
    return (*_identifiers(variants), *_pairs(variants), *_disorder(log))


def _identifiers(variants: VariantCounts) -> Iterator[Statement]:
    """Warn of names that may name people or things: names of activities are published."""
    owner = np.repeat(np.arange(len(variants)), variants.lengths)
    pairs = np.unique(np.stack([variants.activity_ids.astype(np.int64), owner]), axis=1)
    cases = np.zeros(len(variants.activities), dtype=np.int64)
    np.add.at(cases, pairs[0], variants.counts[pairs[1]])
    used = np.flatnonzero(cases)
    odd = [variants.activities[i] for i in used if _IDENTIFIER.search(variants.activities[i])]
    if odd:
        yield Statement("warning.identifiers", number=len(odd), example=plain(odd[0][:60]))
    single = int((cases == 1).sum())
    if single >= FEW and single >= SHARE * len(used):
        yield Statement("warning.single", number=single, activities=len(used))


def _pairs(variants: VariantCounts) -> Iterator[Statement]:
    """Warn of activities that are the beginning and the end of one."""
    halves: dict[str, set[bool]] = defaultdict(set)
    for name in variants.used():
        half = _HALF.search(name)
        if half is not None and half.start() > 0:
            halves[name[: half.start()]].add(half["half"].lower() in _BEGINS)
    both = sorted(name for name, seen in halves.items() if len(seen) == 2)
    if both:
        lifecycle = Argument("lifecycle")
        example = plain(both[0][:60])
        yield Statement("warning.halves", number=len(both), example=example, lifecycle=lifecycle)


def _disorder(log: Log | None) -> Iterator[Statement]:
    """Warn of cases whose rows stand in another order than their times."""
    if log is None or not log.has_times or not log.engine.compares_order:
        return
    if number := cast(ComparingReader, log.reader).count_disordered(log):
        code = "warning.disorder_timed" if log.timed else "warning.disorder_as_filed"
        order = Argument("order", "file" if log.timed else "time")
        yield Statement(code, number=number, order=order)
