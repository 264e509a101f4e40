"""Views: what an attacker observes of an outcome, as named values.

An absent value (a variant that was not released) is different from every value that is present.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..kernel.variants import VariantCounts
from ..mechanisms.protocol import Outcome

Feature = tuple[Hashable, ...]
"""The name of a value: the part of the outcome, and the place in it."""
Features = dict[Feature, int]
View = Callable[[Outcome], Features]
"""Turns an outcome into values; values that it omits cannot be used against the mechanism."""

PRESENT = 1


def view_release(outcome: Outcome) -> Features:
    """Return the features of a release: variants, number of cases, times, attributes."""
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
    """Extreme times: the first, the last, and the longest durations."""
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
    """Return every value in the transcript: the noisy answers that the mechanism received."""
    found: Features = {}
    _flatten((), outcome.transcript, found)
    return found


VIEWS: Mapping[str, View] = {"release": view_release, "transcript": view_transcript}
"""The views that fit any mechanism."""


def _flatten(path: Feature, part: object, found: Features) -> None:
    """Name every value: numbers by their place, anything else by itself."""
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
    """Names of the values of an array. Cached, because they are the same in every run."""
    return tuple((*path, i) for i in range(size))


def describe_feature(feature: Feature, activities: Sequence[str]) -> str:
    """Return a feature in words."""
    return " ".join(_say(part, activities) for part in feature)


def _say(part: Hashable, activities: Sequence[str]) -> str:
    if isinstance(part, tuple):
        if len(part) == 2 and isinstance(part[0], tuple):
            word, finished = part
            return _say(word, activities) + ("" if finished else " (cut)")
        return "⟨" + ", ".join(activities[i] for i in part) + "⟩"
    return str(part)
