"""What an attacker may look at: an outcome as named values.

A value that is not there (a variant that was not released) is told apart from every value that is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernel.variants import VariantCounts
from ..mechanisms.protocol import Outcome

Feature = tuple[Hashable, ...]
"""The name of a value: which part, and where in it."""
Features = dict[Feature, int]
View = Callable[[Outcome], Features]
"""Turns an outcome into values; what it leaves out cannot be used against the mechanism."""

PRESENT = 1


def view_release(outcome: Outcome) -> Features:
    """What everyone sees: each released variant, how many cases there are, when, and values."""
    released = outcome.log.variants
    counts = released.counts.tolist()
    words = zip(released.sequences(), released.complete.tolist(), strict=True)
    found: Features = {("variant", word): count for word, count in zip(words, counts, strict=True)}
    found["cases",] = sum(counts)
    found["variants",] = len(counts)
    if outcome.log.times is not None and len(outcome.log.times):
        found.update(_when(released, outcome.log.times))
    for column in outcome.log.columns:
        many = np.bincount(column.codes + 1, minlength=len(column.texts) + 1).tolist()
        found["attribute", column.key, "missing"] = many[0]
        found.update(
            (("attribute", column.key, "is", text), number)
            for text, number in zip(column.texts, many[1:], strict=True)
        )
    return found


def _when(released: VariantCounts, times: NDArray[np.int64]) -> Features:
    """What stands out about released times: the first and last, and what takes longest."""
    lengths = np.repeat(released.lengths, released.counts)
    case = np.repeat(np.arange(len(lengths)), lengths)
    gaps = np.diff(times)[case[1:] == case[:-1]]
    ends = np.cumsum(lengths)
    some = lengths > 0
    took = times[ends[some] - 1] - times[ends[some] - lengths[some]]
    return {
        ("times", "earliest"): int(times.min()),
        ("times", "latest"): int(times.max()),
        ("times", "longest gap"): int(gaps.max(initial=0)),
        ("times", "longest case"): int(took.max(initial=0)),
        ("times", "all cases"): int(took.sum()),
    }


def view_transcript(outcome: Outcome) -> Features:
    """What the mechanism itself saw after noise: every value in its transcript."""
    found: Features = {}
    _flatten((), outcome.transcript, found)
    return found


VIEWS: Mapping[str, View] = {"release": view_release, "transcript": view_transcript}
"""Both views of our own mechanisms."""


def _flatten(path: Feature, part: Any, found: Features) -> None:
    """Name every value: numbers by where they stand, anything else by what it is."""
    if isinstance(part, np.ndarray):
        found.update(zip(_places(path, part.size), part.ravel().tolist(), strict=True))
    elif isinstance(part, int | float | np.number | np.bool_):
        found[path] = part  # type: ignore[assignment]
    elif isinstance(part, Mapping):
        for key, value in part.items():
            if type(value) is int:
                found[(*path, key)] = value
            else:
                _flatten((*path, key), value, found)
    elif isinstance(part, Sequence) and not isinstance(part, str):
        for i, value in enumerate(part):
            _flatten((*path, i), value, found)
    else:
        found[(*path, part)] = PRESENT


@lru_cache(maxsize=256)
def _places(path: Feature, size: int) -> tuple[Feature, ...]:
    """The names of the values of an array: the same in every run, so they are made once."""
    return tuple((*path, i) for i in range(size))


def describe_feature(feature: Feature, activities: Sequence[str]) -> str:
    """A feature in words."""
    return " ".join(_say(part, activities) for part in feature)


def _say(part: Hashable, activities: Sequence[str]) -> str:
    if isinstance(part, tuple):
        if len(part) == 2 and isinstance(part[0], tuple):
            word, finished = part
            return _say(word, activities) + ("" if finished else " (cut)")
        return "⟨" + ", ".join(activities[i] for i in part) + "⟩"
    return str(part)
