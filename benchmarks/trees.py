"""Synthetic logs that random process trees generate, and the table of those that are kept.

A process tree is built from sequence, exclusive choice with skewed probabilities, parallel branches
and loops. Playing it out gives the cases; a few deviate. Seeds of the tree and of the cases differ,
so that a second sample of the same process shows how far two logs of it are apart.

    python benchmarks/trees.py FOLDER [--only NAME ...]

writes the kept logs as Parquet, with times and attributes.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import duckdb
import numpy as np
from numpy.typing import NDArray

from sacofa.events.duckdb.database import literal
from sacofa.kernel.cases import MICROSECONDS, CaseBatch
from sacofa.kernel.variants import VariantCounts

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Generator = np.random.Generator
Operator = Literal["sequence", "choice", "parallel", "loop"]
OPERATORS: tuple[Operator, ...] = ("sequence", "choice", "parallel", "loop")

KINDS: dict[str, tuple[float, float, float, float]] = {
    "sequential": (0.70, 0.25, 0.00, 0.05),
    "choices": (0.35, 0.60, 0.00, 0.05),
    "parallel": (0.35, 0.15, 0.45, 0.05),
    "loops": (0.45, 0.20, 0.05, 0.30),
    "mixed": (0.40, 0.25, 0.25, 0.10),
}
"""How often a node below the root of a tree has each operator, in the order of `OPERATORS`."""
SKIP = 0.25
"""How often a choice has a branch without activities."""
SKEW = 1.2
"""The i-th branch of a choice is i**SKEW times less likely than the first."""
MAX_ROUNDS = 8
"""A loop ends after that many rounds."""
YEAR = 365 * 86_400
FIRST_MOMENT = 1_577_836_800
"""The first case begins on 2020-01-01 or soon after; in seconds since 1970."""
SEGMENTS = ("standard", "business", "premium", "public", "internal")
STAFF = 20


class Node(NamedTuple):
    """An operator with its branches, or a single activity, or nothing."""

    operator: Operator | Literal["activity", "nothing"]
    branches: tuple[Node, ...] = ()
    activity: int = -1
    weights: tuple[float, ...] = ()
    """Of a choice: how likely each branch is. Of a loop: how likely a further round is. Of parallel
    branches: above 1 a branch tends to be early, below 1 late."""


class Played(NamedTuple):
    """Events of many cases: those of each case in their order."""

    owners: Ints
    """The case of each event, ascending."""
    activities: Ints


@dataclass(frozen=True, kw_only=True)
class TreeLog:
    """A log of a random process tree; everything follows from these values."""

    cases: int
    activities: int
    kind: str
    seed: int
    deviating: float = 0.06
    """The share of cases in which one event is skipped, swapped, repeated or inserted."""
    held_out: bool = False
    """Used for no choice of any part, limit or parameter: only for the final figures."""
    sample: int = 0
    """Which sample of the process: others have the same tree and other cases."""

    @property
    def name(self) -> str:
        """The kind of process, its activities and cases, and whether the log is held out."""
        return f"{self.kind}-{self.activities}-{self.cases}{'-held-out' if self.held_out else ''}"

    @cached_property
    def tree(self) -> Node:
        """The process."""
        draw = np.random.default_rng((self.seed, 0))
        order: list[int] = draw.permutation(self.activities).tolist()
        return _grow(order, self.kind, draw, root=True)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The activities: more than the log shows where some are very rare."""
        width = len(str(self.activities))
        return tuple(f"activity {i + 1:0{width}}" for i in range(self.activities))

    @cached_property
    def played(self) -> Played:
        """All events, without times."""
        draw = np.random.default_rng((self.seed, 1, self.sample))
        played = _play(self.tree, np.arange(self.cases), draw)
        return _deviate(played, self.cases, self.deviating, self.activities, draw)

    @cached_property
    def variants(self) -> VariantCounts:
        """The log as counted variants, over all its public activities."""
        lengths = np.bincount(self.played.owners, minlength=self.cases)
        ones = np.ones(self.cases, dtype=np.int64)
        return VariantCounts.from_arrays(self.names, self.played.activities, lengths, ones)

    @cached_property
    def by_case(self) -> CaseBatch:
        """The log case by case, with times."""
        lengths = np.bincount(self.played.owners, minlength=self.cases)
        return CaseBatch(
            activities=self.names,
            activity_ids=self.played.activities.astype(np.int32),
            offsets=np.concatenate(([0], np.cumsum(lengths))),
            complete=np.ones(self.cases, dtype=np.bool_),
            times=self._seconds() * MICROSECONDS,
        )

    def _seconds(self) -> Ints:
        """When each event happens: Poisson arrivals over two years, then log-normal waits."""
        draw = np.random.default_rng((self.seed, 2, self.sample))
        process = np.random.default_rng((self.seed, 3))
        typical = np.exp(process.uniform(np.log(300), np.log(4 * 86_400), self.activities))
        spread = process.uniform(0.4, 1.2, self.activities)
        starts = np.sort(draw.random(self.cases)) * 2 * YEAR
        owners, activities = self.played
        waits = typical[activities] * np.exp(spread[activities] * draw.normal(size=len(owners)))
        passed = np.cumsum(waits)
        first = np.searchsorted(owners, np.arange(self.cases))
        before = np.concatenate(([0.0], passed))[first]
        seconds: Ints = (FIRST_MOMENT + starts[owners] + passed - before[owners]).astype(np.int64)
        return seconds

    def columns(self) -> dict[str, NDArray[Any]]:
        """The log as a table: an event on each row, with attributes of cases and events."""
        draw = np.random.default_rng((self.seed, 4, self.sample))
        process = np.random.default_rng((self.seed, 5))
        owners, activities = self.played
        lengths = np.bincount(owners, minlength=self.cases)
        popularity = 1 / np.arange(1, len(SEGMENTS) + 1)
        segment = draw.choice(len(SEGMENTS), self.cases, p=popularity / popularity.sum())
        # Longer cases are about larger amounts, so that an attribute goes together with the flow.
        amount = np.exp(draw.normal(5 + 0.8 * np.log1p(lengths) + 0.4 * segment, 0.7))
        team = process.integers(0, STAFF, (self.activities, 4))
        member = np.minimum(draw.geometric(0.5, len(owners)), 4) - 1
        return {
            "case_id": owners,
            "activity": np.array(self.names)[activities],
            "timestamp": self._seconds(),
            "case:segment": np.array(SEGMENTS)[segment][owners],
            "case:amount": np.round(amount, 2)[owners],
            "resource": np.char.add("staff ", team[activities, member].astype(str)),
        }

    def write(self, path: Path) -> None:
        """Write it as Parquet or CSV."""
        columns = self.columns()
        form = "csv, header true" if path.suffix == ".csv" else "parquet"
        with duckdb.connect() as database:
            database.register("events", columns)
            database.execute(
                "copy (select * replace (make_timestamp(timestamp * 1000000) as timestamp)"
                f" from events) to {literal(path)} (format {form})"
            )


KEPT: tuple[TreeLog, ...] = tuple(
    TreeLog(cases=cases, activities=activities, kind=kind, seed=seed, held_out=held_out)
    for cases, activities, kind, seed, held_out in (
        (500, 8, "choices", 101, False),
        (1_000, 20, "loops", 122, False),
        (2_000, 12, "parallel", 173, False),
        (2_500, 60, "sequential", 104, False),
        (3_000, 40, "mixed", 105, False),
        (5_000, 100, "choices", 106, False),
        (8_000, 25, "parallel", 107, False),
        (20_000, 15, "mixed", 108, False),
        (600, 10, "mixed", 201, True),
        (1_200, 30, "choices", 202, True),
        (2_000, 16, "loops", 203, False),
        (3_000, 20, "parallel", 204, True),
        (5_000, 50, "mixed", 205, True),
        (6_000, 12, "sequential", 206, True),
        (10_000, 30, "parallel", 207, True),
        (30_000, 80, "mixed", 208, True),
    )
)
"""Logs that figures are reported on. Those held out are used for no choice."""


def _grow(activities: Sequence[int], kind: str, draw: Generator, *, root: bool = False) -> Node:
    """Build a random tree of these activities; its root is a sequence."""
    if len(activities) == 1:
        return Node("activity", activity=activities[0])
    operator = "sequence" if root else OPERATORS[draw.choice(len(OPERATORS), p=KINDS[kind])]
    most = 2 if operator == "loop" else min(len(activities), 6 if root else 4)
    number = int(draw.integers(2, most + 1))
    cuts = np.sort(draw.choice(np.arange(1, len(activities)), number - 1, replace=False)).tolist()
    ends = zip([0, *cuts], [*cuts, len(activities)], strict=True)
    branches = [_grow(activities[start:end], kind, draw) for start, end in ends]
    weights: list[float] = []
    if operator == "choice":
        if draw.random() < SKIP:
            branches.append(Node("nothing"))
        weights = [1 / (i + 1) ** SKEW for i in draw.permutation(len(branches)).tolist()]
    elif operator == "parallel":
        weights = np.exp(draw.normal(0, 0.7, number)).tolist()
    elif operator == "loop":
        weights = [float(draw.uniform(0.1, 0.5))]
    return Node(operator, tuple(branches), weights=tuple(weights))


def _play(node: Node, cases: Ints, draw: Generator) -> Played:
    """Play a node out for these cases, which are in ascending order."""
    if node.operator == "activity":
        return Played(cases, np.full(len(cases), node.activity))
    if node.operator == "choice":
        chance = np.array(node.weights) / sum(node.weights)
        chosen = draw.choice(len(node.branches), len(cases), p=chance)
        return _one_after_the_other(
            [_play(branch, cases[chosen == i], draw) for i, branch in enumerate(node.branches)]
        )
    if node.operator == "loop":
        return _repeat(node, cases, draw)
    parts = [_play(branch, cases, draw) for branch in node.branches]
    if node.operator == "parallel":
        return _interleave(parts, node.weights, draw)
    return _one_after_the_other(parts)


def _one_after_the_other(parts: Sequence[Played]) -> Played:
    """In each case the events of the first part, then those of the second, and so on."""
    owners = np.concatenate([np.empty(0, dtype=np.int64), *(part.owners for part in parts)])
    activities = np.concatenate([np.empty(0, dtype=np.int64), *(part.activities for part in parts)])
    order = np.argsort(owners, kind="stable")
    return Played(owners[order], activities[order])


def _repeat(loop: Node, cases: Ints, draw: Generator) -> Played:
    """The first branch; then, as often as chance will have it, the second and the first again."""
    body, again = loop.branches
    parts = [_play(body, cases, draw)]
    for _ in range(MAX_ROUNDS):
        cases = cases[draw.random(len(cases)) < loop.weights[0]]
        parts += [_play(again, cases, draw), _play(body, cases, draw)]
    return _one_after_the_other(parts)


def _interleave(parts: Sequence[Played], weights: Sequence[float], draw: Generator) -> Played:
    """The events of all parts in a random order that keeps the order of each part."""
    moments = []
    for part, weight in zip(parts, weights, strict=True):
        moment = draw.random(len(part.owners)) ** weight
        moments.append(moment[np.lexsort((moment, part.owners))])
    together = _one_after_the_other(parts)
    # The same sort as that of the parts, so that each moment meets its event.
    owners = np.concatenate([part.owners for part in parts])
    when = np.concatenate(moments)[np.argsort(owners, kind="stable")]
    order = np.lexsort((when, together.owners))
    return Played(together.owners, together.activities[order])


def _deviate(played: Played, cases: int, share: float, activities: int, draw: Generator) -> Played:
    """Skip, swap, repeat or insert one event in a share of the cases."""
    owners, ids = played.owners, played.activities.copy()
    lengths = np.bincount(owners, minlength=cases)
    chosen = np.flatnonzero((draw.random(cases) < share) & (lengths > 1))
    first = np.searchsorted(owners, chosen)
    place = first + (draw.random(len(chosen)) * (lengths[chosen] - 1)).astype(np.int64)
    how = draw.integers(0, 4, len(chosen))
    swapped = place[how == 1]
    ids[swapped], ids[swapped + 1] = ids[swapped + 1], ids[swapped]
    added = np.where(how == 2, ids[place], draw.integers(0, activities, len(chosen)))
    more = np.isin(how, (2, 3))
    kept = np.ones(len(owners), dtype=np.bool_)
    kept[place[how == 0]] = False
    order = np.argsort(np.concatenate([np.flatnonzero(kept), place[more] + 0.5]), kind="stable")
    return Played(
        np.concatenate([owners[kept], owners[place[more]]])[order],
        np.concatenate([ids[kept], added[more]])[order],
    )


def main() -> None:
    """Write kept logs into a folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these alone")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for log in KEPT:
        if options.only is None or log.name in options.only:
            log.write(options.folder / f"{log.name}.parquet")
            print(log.name, log.variants.cases, "cases", log.variants.events, "events")


if __name__ == "__main__":
    main()
