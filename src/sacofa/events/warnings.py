"""What is odd about a log before it is released, in words for the person who holds it; secret."""

from __future__ import annotations

import re
from collections import defaultdict

import numpy as np

from ..errors import plain
from ..kernel.variants import VariantCounts
from .notices import count_of
from .source import Log

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


def find_warnings(variants: VariantCounts, log: Log | None = None) -> tuple[str, ...]:
    """Say what should be looked at; with the log, also of its times."""
    return (*_identifiers(variants), *_pairs(variants), *_disorder(log))


def _identifiers(variants: VariantCounts) -> list[str]:
    """Warn of names that may name people or things: names of activities are published."""
    owner = np.repeat(np.arange(len(variants)), variants.lengths)
    pairs = np.unique(np.stack([variants.activity_ids.astype(np.int64), owner]), axis=1)
    cases = np.zeros(len(variants.activities), dtype=np.int64)
    np.add.at(cases, pairs[0], variants.counts[pairs[1]])
    used = np.flatnonzero(cases)
    odd = [variants.activities[i] for i in used if _IDENTIFIER.search(variants.activities[i])]
    found = []
    if odd:
        word = "looks like an identifier" if len(odd) == 1 else "look like identifiers"
        found.append(
            f"{count_of(len(odd), 'activity', 'activities')} {word}, such as "
            f'"{plain(odd[0][:60])}": names of activities are published as they are, so keep what '
            "names people or things out of them"
        )
    single = int((cases == 1).sum())
    if single >= FEW and single >= SHARE * len(used):
        found.append(
            f"{single:,} of {len(used):,} activities occur in one case only: is this the column of "
            "the activity? Names of activities are published as they are"
        )
    return found


def _pairs(variants: VariantCounts) -> list[str]:
    """Warn of activities that are the beginning and the end of one."""
    halves: dict[str, set[bool]] = defaultdict(set)
    for name in variants.used():
        half = _HALF.search(name)
        if half is not None and half.start() > 0:
            halves[name[: half.start()]].add(half["half"].lower() in _BEGINS)
    both = sorted(name for name, seen in halves.items() if len(seen) == 2)
    if not both:
        return []
    return [
        f"{count_of(len(both), 'activity is', 'activities are')} there twice, as start and as end "
        f'("{plain(both[0][:60])}"): each counts as two events. Leave the ending out of the name, '
        "and give it in a column of its own (lifecycle)"
    ]


def _disorder(log: Log | None) -> list[str]:
    """Warn of cases whose rows stand in another order than their times."""
    count = getattr(None if log is None else log.reader, "count_disordered", None)
    if log is None or count is None or not log.has_times:
        return []
    disordered = count(log)
    if not disordered:
        return []
    taken = "the times are taken (choose the order of the file for the rows)"
    if not log.timed:
        taken = "the rows are taken (choose the order by time for the times)"
    return [
        f"in {count_of(disordered, 'case')} events stand in another order than their times say: "
        f"{taken}"
    ]
