"""Variants with their counts, in arrays: the working type between a log and a mechanism.

They are kept in one canonical order (by activity ids, shorter first), so that the same log gives
the same object however it was read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .statements import SettingError, Statement, is_whole
from .unit import ONE_CASE, Unit

Variant = tuple[str, ...]
Integers = NDArray[np.integer[Any]] | Sequence[int]
Counted = Mapping[Any, int] | Iterable[tuple[Sequence[str], int]]
Result = TypeVar("Result")
Scalar = TypeVar("Scalar", bound=np.generic)

MOST_CASES = 10**12
"""No log has more cases. So sums of counts, and of votes of all cases, fit a machine word."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Traces:
    """Sequences of activities, end to end in arrays that cannot be written to."""

    activities: tuple[str, ...]
    """The names; an activity's id is its place here."""
    activity_ids: NDArray[np.int32]
    """The activity ids of all sequences."""
    offsets: NDArray[np.int64]
    """Sequence i is activity_ids[offsets[i] : offsets[i + 1]]."""
    complete: NDArray[np.bool_]
    """False where the case went on but was truncated."""
    unit: Unit = ONE_CASE
    """The unit of privacy: neighbouring logs differ in at most max_cases of the cases."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, read_only(value))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of events of each sequence."""
        return self.offsets[1:] - self.offsets[:-1]

    def sequences(self) -> Iterator[tuple[int, ...]]:
        """Each sequence as activity ids."""
        # Slices of a list are much faster to make than slices of an array.
        ids, ends = self.activity_ids.tolist(), self.offsets.tolist()
        for start, end in pairwise(ends):
            yield tuple(ids[start:end])

    def map_parts(self, job: Callable[[int, Self], Result]) -> list[Result]:
        """Do a job on every part: here all is one part, with the number 0."""
        return [job(0, self)]

    def _renumbered(self, activities: Sequence[str]) -> NDArray[np.int32]:
        """The ids of all events among other activities; −1 where an activity is not among them."""
        ids = {name: i for i, name in enumerate(activities)}
        new = np.array([ids.get(name, -1) for name in self.activities] or [-1], dtype=np.int32)
        return new[self.activity_ids]


@dataclass(frozen=True, eq=False, kw_only=True)
class VariantCounts(Traces):
    """Every sequence of activities with the number of cases that took it."""

    counts: NDArray[np.int64]
    """The number of cases of each variant."""

    @classmethod
    def of(
        cls,
        counts: Counted,
        activities: Sequence[str] | None = None,
        truncated: Counted = (),
        unit: Unit = ONE_CASE,
    ) -> VariantCounts:
        """Build from variants of names; activities default to the names used, sorted."""
        done, cut = _pairs(counts), _pairs(truncated)
        # The same names may have a complete and a truncated variant: those are two.
        rows = [*done, *cut]
        numbers = [count for _, count in rows]
        _refuse_beyond_belief(numbers)
        names = [name for variant, _ in rows for name in variant]
        if activities is None:
            used = set(names)
            check_names("variant", used)
            activities = sorted(used)
        ids = {name: i for i, name in enumerate(activities)}
        if not ids.keys() >= set(names):
            raise SettingError("variant", None, Statement("must.be.made_of_given"))
        lengths = [len(variant) for variant, _ in rows]
        flags = np.arange(len(rows)) < len(done)
        return cls.from_arrays(
            activities, [ids[name] for name in names], lengths, numbers, flags, unit
        )

    @classmethod
    def from_cases(cls, cases: Iterable[Sequence[str]]) -> VariantCounts:
        """Count the variants of cases given as sequences of activity names."""
        return cls.of(Counter(tuple(_check_variant(case)) for case in cases))

    @classmethod
    def from_arrays(
        cls,
        activities: Sequence[str],
        activity_ids: Integers,
        lengths: Integers,
        counts: Integers,
        complete: NDArray[np.bool_] | Sequence[bool] | None = None,
        unit: Unit = ONE_CASE,
    ) -> VariantCounts:
        """Build from arrays in any order: equal variants are added up, zero counts dropped."""
        # Big-endian bytes sort as the ids do, so that sorting keys sorts the variants.
        # They are compared as a whole, many times faster than tuples of ids.
        big_endian = np.asarray(activity_ids, dtype=">u4")
        raw = big_endian.tobytes()
        sizes = np.asarray(lengths, dtype=np.int64)
        ends = (np.cumsum(sizes) * 4).tolist()
        flags = [True] * len(ends) if complete is None else np.asarray(complete).tolist()
        total: dict[tuple[bytes, bool], int] = {}
        start = 0
        for end, flag, count in zip(ends, flags, np.asarray(counts).tolist(), strict=True):
            # False sorts first: complete before truncated, of the same activities.
            key = (raw[start:end], not flag)
            total[key] = total.get(key, 0) + count
            start = end
        # A variant without cases is dropped; otherwise logs with equal counts would differ.
        keys = sorted(key for key, count in total.items() if count)
        offsets = np.zeros(len(keys) + 1, dtype=np.int64)
        np.cumsum([len(key) // 4 for key, _ in keys], out=offsets[1:])
        joined = np.frombuffer(b"".join(key for key, _ in keys), dtype=">u4")
        return cls(
            activities=tuple(activities),
            activity_ids=joined.astype(np.int32),
            offsets=offsets,
            counts=np.array([total[key] for key in keys], dtype=np.int64),
            complete=np.array([not cut for _, cut in keys], dtype=np.bool_),
            unit=unit,
        )

    def __iter__(self) -> Iterator[tuple[Variant, int]]:
        """Each variant as names, with its count."""
        names = self.activities
        for ids, count in zip(self.sequences(), self.counts.tolist(), strict=True):
            yield tuple(names[i] for i in ids), count

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, VariantCounts) and self.activities == other.activities
        parts = ("unit", "activity_ids", "offsets", "counts", "complete")
        return same and all(np.array_equal(getattr(self, p), getattr(other, p)) for p in parts)

    # Arrays have no hash.
    __hash__ = None  # type: ignore[assignment]

    def used(self) -> list[str]:
        """The names of the activities that occur."""
        return [self.activities[i] for i in np.unique(self.activity_ids).tolist()]

    @property
    def cases(self) -> int:
        """The number of cases."""
        return int(self.counts.sum())

    @property
    def events(self) -> int:
        """The number of events."""
        return int((self.lengths * self.counts).sum())

    def truncate(self, max_length: int, *, by_length: bool = False) -> VariantCounts:
        """Truncate longer cases at max_length; they are no longer complete.

        With `by_length`, exactly the cases shorter than max_length are complete, so that a case of
        that length does not reveal whether it continued.
        """
        lengths = self.lengths
        complete = self.complete & (lengths <= max_length)
        if by_length:
            complete = lengths < max_length
        if (lengths <= max_length).all() and (complete == self.complete).all():
            return self
        # The place of each event in its own variant.
        place = np.arange(len(self.activity_ids)) - np.repeat(self.offsets[:-1], lengths)
        ids = self.activity_ids[place < max_length]
        cut = np.minimum(lengths, max_length)
        return self.from_arrays(self.activities, ids, cut, self.counts, complete, self.unit)

    def where(self, kept: NDArray[np.bool_]) -> VariantCounts:
        """Keep some variants."""
        ids = self.activity_ids[np.repeat(kept, self.lengths)]
        return self.from_arrays(
            self.activities, ids, self.lengths[kept], self.counts[kept], self.complete[kept],
            self.unit,
        )  # fmt: skip

    def project_onto(self, activities: Sequence[str]) -> VariantCounts:
        """Express over other activities; events whose activity is not among them are dropped."""
        if tuple(activities) == self.activities:
            return self
        moved = self._renumbered(activities)
        kept = moved >= 0
        # Cases that lose all events stay, as cases without any: their number must not change.
        owner = np.repeat(np.arange(len(self)), self.lengths)
        lengths = np.bincount(owner[kept], minlength=len(self))
        return self.from_arrays(
            activities, moved[kept], lengths, self.counts, self.complete, self.unit
        )


@runtime_checkable
class DistributedVariants(Protocol):
    """Variants in parts on other machines: each different variant lies in one part only.

    A job may be done again where a machine failed, and must give the same.
    """

    @property
    def activities(self) -> tuple[str, ...]: ...

    @property
    def unit(self) -> Unit: ...

    @property
    def parts(self) -> Sequence[int]:
        """The indices of the parts with any variant."""

    def truncate(self, max_length: int, *, by_length: bool = False) -> DistributedVariants: ...

    def project_onto(self, activities: Sequence[str]) -> DistributedVariants: ...

    def map_parts(self, job: Callable[[int, VariantCounts], Result]) -> list[Result]:
        """Run a job on every part with any variant, given its index, where the part is stored."""


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """The same array, without a way to write to it from here on."""
    shown = array.view()
    shown.setflags(write=False)
    return shown


def check_names(what: str, names: Iterable[object]) -> None:
    """Refuse names of activities that are not text."""
    for name in names:
        if not isinstance(name, str):
            raise SettingError(what, type(name).__name__, Statement("must.be.texts"))


def _check_variant(variant: Sequence[str]) -> Sequence[str]:
    # A text is one name, and would fall into letters.
    if isinstance(variant, str | bytes) or not isinstance(variant, Sequence):
        raise SettingError("variant", type(variant).__name__, Statement("must.be.sequence"))
    return variant


def _refuse_beyond_belief(counts: Sequence[int]) -> None:
    for count in counts:
        if not is_whole(count):
            raise SettingError("count", type(count).__name__, Statement("must.be.whole"))
    if min(counts, default=0) < 0:
        raise SettingError("count", min(counts), Statement("must.be.at_least", least=0))
    if sum(counts) > MOST_CASES:
        raise SettingError("counts", sum(counts), Statement("must.be.at_most", most=MOST_CASES))


def _pairs(counts: Counted) -> list[tuple[Sequence[str], int]]:
    pairs = list(counts.items() if isinstance(counts, Mapping) else counts)
    for variant, _ in pairs:
        if type(variant) is not tuple:
            _check_variant(variant)
    return pairs
