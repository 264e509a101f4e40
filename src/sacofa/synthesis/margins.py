"""Margins of error (95 %) of released figures: typed values that a certificate holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import ceil, isfinite, sqrt
from typing import Any, TypeVar

from ..kernel.statements import Statement

Value = TypeVar("Value")
Place = str | None
"""An activity; None as the first of a directly-follows pair is the start, as the second the end."""
Step = tuple[Place, Place]
Variant = tuple[tuple[str, ...], bool]
"""The activities of a variant, and whether it is complete."""

DECIMALS = 6
"""Shares are kept to so many decimal places."""


@dataclass(frozen=True, kw_only=True)
class VariantMargins:
    """How far the number of cases of a variant may be off: of cases with exactly these events."""

    listed: Mapping[Variant, int] = field(default_factory=dict)
    """Margins of single variants."""
    certain_from: int | None = None
    """Any other variant with a lower count need not occur at all; None: whatever its count is."""
    others: int = 1
    """The margin of any other variant, at least."""

    def of(self, variant: Variant, count: int) -> int:
        """The margin of a variant that was released with this count."""
        if variant in self.listed:
            return self.listed[variant]
        if self.certain_from is not None and count >= self.certain_from:
            return self.others
        return max(self.others, count)


@dataclass(frozen=True, kw_only=True)
class ShareMargin:
    """How far a share may be off: √(fixed² · values + slope · share), at most 1."""

    fixed: float
    """The noise of one value."""
    slope: float
    """What adds to the square for larger shares."""
    edges: tuple[float, ...] = ()
    """Of numbers: the edges of the ranges that were asked for."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "fixed", round(self.fixed, DECIMALS))
        # The slope adds to a square.
        object.__setattr__(self, "slope", round(self.slope, 2 * DECIMALS))

    def of(self, share: float, values: int = 1) -> float:
        """The margin of a share that so many values make up together."""
        return min(sqrt(self.fixed**2 * values + self.slope * share), 1.0)


@dataclass(frozen=True, kw_only=True)
class Margins:
    """In 95 of 100 runs a figure is off by no more than its margin; what is absent is not known."""

    cases: int | None = None
    """Of the number of cases."""
    variants: VariantMargins | None = None
    """Of the cases of a variant."""
    activities: Mapping[str, int] = field(default_factory=dict)
    """Of the events of an activity."""
    steps: Mapping[Step, int] = field(default_factory=dict)
    """Of how often one activity directly follows another."""
    cycle_time: tuple[float, ...] = ()
    """Of the share of cases whose cycle time is in each of the bins that people use."""
    begin: ShareMargin | None = None
    """Of the share of cases that begin in a month."""
    attributes: Mapping[str, ShareMargin] = field(default_factory=dict)
    """Of the share of a value, for each attribute."""
    waits: Mapping[Step, float] = field(default_factory=dict)
    """Of the median wait of a directly-follows pair, as a share of its waits: at 0.1 the true
    median lies between the released 40th and 60th percentile."""

    def __post_init__(self) -> None:
        # A certificate that is read back states the same.
        waits = {step: round(size, DECIMALS) for step, size in self.waits.items()}
        object.__setattr__(self, "waits", waits)
        rounded = tuple(round(size, DECIMALS) for size in self.cycle_time)
        object.__setattr__(self, "cycle_time", rounded)

    def ranges(self) -> dict[str, tuple[int, int]]:
        """The smallest and the largest margin of each kind of count; what is known."""
        kinds = {
            "cases": () if self.cases is None else (self.cases,),
            "activities": self.activities.values(),
            "steps": self.steps.values(),
        }
        return {kind: (min(sizes), max(sizes)) for kind, sizes in kinds.items() if sizes}

    @property
    def statement(self) -> Statement | None:
        """The margins of counts as one statement; None if nothing is known."""
        known = []
        for kind, (low, high) in self.ranges().items():
            if high > low:
                known.append(Statement(f"margins.{kind}_range", low=low, high=high))
            else:
                known.append(Statement(f"margins.{kind}", low=low))
        return Statement("margins.known", known=known) if known else None

    def to_content(self) -> dict[str, object]:
        """Plain values; activities are places in a list of names."""
        listed = {} if self.variants is None else self.variants.listed
        pairs = (*self.steps, *self.waits)
        used: set[Place] = {*self.activities}
        used.update(*pairs, *(sequence for sequence, _ in listed))
        names = sorted(name for name in used if name is not None)
        place: dict[Place, int | None] = {name: i for i, name in enumerate(names)} | {None: None}
        content: dict[str, object] = {"cases": self.cases, "names": names, "variants": None}
        if self.variants is not None:
            content["variants"] = {
                "certain_from": self.variants.certain_from,
                "others": self.variants.others,
                "listed": [
                    [[place[name] for name in sequence], complete, margin]
                    for (sequence, complete), margin in listed.items()
                ],
            }
        content["activities"] = [[place[name], size] for name, size in self.activities.items()]
        content["steps"] = [[place[a], place[b], size] for (a, b), size in self.steps.items()]
        content["waits"] = [[place[a], place[b], size] for (a, b), size in self.waits.items()]
        content["cycle_time"] = list(self.cycle_time)
        content["begin"] = None if self.begin is None else _share(self.begin)
        content["attributes"] = {key: _share(share) for key, share in self.attributes.items()}
        return content

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Margins:
        """Read plain values; ValueError, TypeError or KeyError where they are damaged."""
        names = [_typed(str, name) for name in content["names"]]

        def known(at: object) -> str:
            if _count(at) >= len(names):
                raise ValueError(at)
            return names[_count(at)]

        def pairs(
            entries: Iterable[tuple[object, object, object]], read: Callable[[object], Value]
        ) -> dict[Step, Value]:
            return {(_or_none(known, a), _or_none(known, b)): read(size) for a, b, size in entries}

        def variants(entry: Mapping[str, Any]) -> VariantMargins:
            return VariantMargins(
                certain_from=_or_none(_count, entry["certain_from"]),
                others=_count(entry["others"]),
                listed={
                    (tuple(map(known, sequence)), _typed(bool, complete)): _count(margin)
                    for sequence, complete, margin in entry["listed"]
                },
            )

        shares = content["attributes"].items()
        return cls(
            cases=_or_none(_count, content["cases"]),
            variants=_or_none(variants, content["variants"]),
            activities={known(at): _count(size) for at, size in content["activities"]},
            steps=pairs(content["steps"], _count),
            waits=pairs(content["waits"], _part),
            cycle_time=tuple(map(_part, content["cycle_time"])),
            begin=_or_none(_read_share, content["begin"]),
            attributes={_typed(str, key): _read_share(share) for key, share in shares},
        )


def root_of_squares(sizes: list[int]) -> int:
    """The margin of a sum of figures whose errors are independent."""
    return ceil(sqrt(sum(size**2 for size in sizes)))


def _share(share: ShareMargin) -> dict[str, object]:
    content: dict[str, object] = {"fixed": share.fixed, "slope": share.slope}
    return {**content, "edges": list(share.edges)} if share.edges else content


def _read_share(content: Mapping[str, Any]) -> ShareMargin:
    return ShareMargin(
        fixed=_part(content["fixed"]),
        slope=_part(content["slope"]),
        edges=tuple(map(_real, content.get("edges", ()))),
    )


def _or_none(read: Callable[[Any], Value], value: object) -> Value | None:
    return None if value is None else read(value)


def _count(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(value)
    return value


def _real(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ValueError(value)
    return float(value)


def _part(value: object) -> float:
    if _real(value) < 0:
        raise ValueError(value)
    return _real(value)


def _typed(kind: type[Value], value: object) -> Value:
    if not isinstance(value, kind):
        raise TypeError(value)
    return value
