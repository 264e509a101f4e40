"""Counts cases one at a time, and bounds those of each person."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import ReadError, Statement
from ..kernel.unit import ONE_CASE, Unit
from ..kernel.variants import VariantCounts
from .options import JOINER

Name = str | tuple[str, ...]
"""An activity: a name, or the parts that make up one."""


Texts = list[str | None]


@dataclass(slots=True)
class Case:
    """A case as it is counted."""

    activities: Sequence[Name]
    """Names, or the parts that make them up."""
    truncated: bool
    """Whether it went on."""
    times: Sequence[int | None] = ()
    """When each event happened, in microseconds since 1970, if that was asked for."""
    starts: Sequence[int | None] = ()
    """When the work on each began, if that was asked for."""
    values: Sequence[Texts] = ()
    """The texts of the attributes that were asked for."""


class FirstCases:
    """Keeps the first cases of each person, and counts the others."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._had: dict[str, int] = {}
        self.dropped = 0
        """How many cases were not wanted."""

    def wants(self, person: str | None) -> bool:
        """Tell whether one more case of a person is counted: the first max_cases of each are.

        A case of nobody known is a person of its own.
        """
        if self._unit.person is None or person is None:
            return True
        had = self._had.get(person, 0)
        self._had[person] = had + 1
        wanted = had < self._unit.max_cases
        self.dropped += not wanted
        return wanted


class VariantCounter:
    """A running count of variants."""

    def __init__(self, path: object, unit: Unit = ONE_CASE) -> None:
        self._path = path
        self._ids: dict[Name, int] = {}
        self._counts: dict[tuple[bytes, bool], int] = {}
        self._unit = unit

    def add(self, activities: Sequence[Name], *, truncated: bool = False) -> None:
        """Count one case."""
        ids = self._ids
        ids_of_case = array("i", [ids.setdefault(name, len(ids)) for name in activities])
        key = (ids_of_case.tobytes(), truncated)
        self._counts[key] = self._counts.get(key, 0) + 1

    def variants(self) -> VariantCounts:
        """Give what was counted, with the activities in order of their names."""
        names = joined_names(self._path, self._ids)
        order = sorted(range(len(names)), key=names.__getitem__)
        place = np.empty(len(names), dtype=np.int32)
        place[order] = np.arange(len(names), dtype=np.int32)
        ids = np.frombuffer(b"".join(key for key, _ in self._counts), dtype=np.int32)
        return VariantCounts.from_arrays(
            [names[i] for i in order],
            place[ids] if len(ids) else ids,
            [len(key) // 4 for key, _ in self._counts],
            list(self._counts.values()),
            [not truncated for _, truncated in self._counts],
            self._unit,
        )


def joined_names(path: object, names: Iterable[Name]) -> list[str]:
    """Name activities that are built from several attributes; two of one name are refused."""
    joined = [name if isinstance(name, str) else JOINER.join(name) for name in names]
    check_unique(path, joined)
    return joined


def check_unique(path: object, names: Sequence[str]) -> None:
    """Refuse two activities that would have one name when their parts are joined."""
    if len(set(names)) < len(names):
        (twice, _), *_ = Counter(names).most_common(1)
        raise ReadError(path, Statement("read.activities.one_name", name=twice))
