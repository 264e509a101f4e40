"""Counts cases one at a time."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np

from ..errors import ReadError
from ..kernel.unit import ONE_CASE, Unit
from ..kernel.variants import VariantCounts
from .options import JOINER


class VariantCounter:
    """A running count of variants, and of the cases that each person has had so far."""

    def __init__(self, path: object, unit: Unit = ONE_CASE) -> None:
        self._path = path
        self._ids: dict[str | tuple[str, ...], int] = {}
        self._counts: dict[tuple[bytes, bool], int] = {}
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

    def add(
        self, activities: Sequence[str] | Sequence[tuple[str, ...]], *, truncated: bool = False
    ) -> None:
        """Count one case; an activity is a name or the parts that make up one."""
        ids = self._ids
        ids_of_case = array("i", [ids.setdefault(name, len(ids)) for name in activities])
        key = (ids_of_case.tobytes(), truncated)
        self._counts[key] = self._counts.get(key, 0) + 1

    def variants(self) -> VariantCounts:
        """Give what was counted, with the activities in order of their names."""
        names = [joined(parts) for parts in self._ids]
        check_unique(self._path, names)
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


def joined(parts: str | Sequence[str]) -> str:
    """Name an activity that is built from several attributes."""
    return parts if isinstance(parts, str) else JOINER.join(parts)


def check_unique(path: object, names: Sequence[str]) -> None:
    """Refuse two activities that would have one name when their parts are joined."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ReadError(path, f'two different activities would both be called "{twice}"')
