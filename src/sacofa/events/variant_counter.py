"""Counts cases one at a time, and bounds those of each person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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
        self._path, self._unit = path, unit
        self._counts: Counter[tuple[tuple[Name, ...], bool]] = Counter()

    def add(self, activities: Sequence[Name], *, truncated: bool = False) -> None:
        """Count one case."""
        self._counts[tuple(activities), truncated] += 1

    def variants(self) -> VariantCounts:
        """Give what was counted, with the activities in order of their names."""
        names = list(dict.fromkeys(name for variant, _ in self._counts for name in variant))
        text = dict(zip(names, joined_names(self._path, names), strict=True))
        counted: tuple[dict[tuple[str, ...], int], dict[tuple[str, ...], int]] = ({}, {})
        for (variant, truncated), number in self._counts.items():
            counted[truncated][tuple(text[name] for name in variant)] = number
        return VariantCounts.of(counted[0], sorted(text.values()), counted[1], self._unit)


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
