"""Whether the margins of released figures hold: how often, and how wide they are.

Each log is released many times at ε = 1 with default settings, times and attributes included.
Every published figure is compared with the same figure of the log. `ratio` says how many times
smaller all margins of a kind could be for 95 % of the figures to lie within them. Margins were
derived on the paper's logs, the hospital example and generated logs that are not held out, with
other seeds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from figure import Figure
from numpy.typing import NDArray
from trees import KEPT, TreeLog

from sacofa import Certified, anonymize, open_log
from sacofa.base.batches import gather
from sacofa.evaluate.measures.times import Timed
from sacofa.evaluate.reproduction import find_logs
from sacofa.events import read_cases
from sacofa.examples import hospital
from sacofa.kernel.cases import CaseBatch, Cases
from sacofa.release.anonymize import Release
from sacofa.report.figures import ReleasedFigure, list_figures
from sacofa.report.flow import count_flow
from sacofa.report.times import describe_times

SEEDS = range(901, 931)
"""Kept for these figures: whoever derives margins takes others."""
CHECKED = (
    "mixed-10-600-held-out",
    "choices-30-1200-held-out",
    "loops-16-2000",
    "sequential-12-6000-held-out",
)
AMOUNTS = """
[attributes."case:amount"]
type = "number"
edges = [0, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000]
"""
ALL = "all logs"
KINDS = ("cases", "variant", "activity", "step", "wait", "cycle time", "begin", "attribute")


class Checked(NamedTuple):
    """A published figure next to the figure of the log."""

    kind: str
    released: float
    margin: float
    error: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Original:
    """A log, and what it has of each value of an attribute."""

    cases: Cases
    values: Mapping[str, NDArray[np.float64] | NDArray[np.str_]]

    def check(self, release: Release) -> Iterator[Checked]:
        """Compare every figure that has a margin."""
        true = {**self._counts(release), **self._shares(release)}
        waits = self._waits(release)
        for figure in list_figures(release):
            key = _key(figure)
            if figure.kind == "wait" and figure.activities in waits:
                yield waits[figure.activities]
            elif figure.kind == "attribute":
                share, margin = self._attribute(figure), figure.share_margin
                if share is not None and margin is not None and figure.share is not None:
                    error = abs(figure.share - share)
                    yield Checked(figure.kind, figure.share, margin, error)
            elif figure.count is not None and figure.count_margin is not None:
                error = abs(figure.count - true.get(key, 0))
                yield Checked(figure.kind, figure.count, figure.count_margin, error)
            elif key in true and figure.share is not None and figure.share_margin is not None:
                error = abs(figure.share - true[key])
                yield Checked(figure.kind, figure.share, figure.share_margin, error)

    def _counts(self, release: Release) -> dict[object, float]:
        log = self.cases.variants
        longest = max((len(names) for names, _ in release.variants), default=0)
        finished = release.variants.complete.all()
        cut = log if finished else log.truncate(longest, by_length=True)
        flow = count_flow(log)
        found: dict[object, float] = {("cases", None): log.cases}
        for (names, count), complete in zip(cut, cut.complete.tolist(), strict=True):
            found["variant", names, complete] = count
        found |= {("activity", (name,)): n for name, n in flow.activities.items()}
        return found | {("step", step): n for step, n in flow.steps.items()}

    def _shares(self, release: Release) -> dict[object, float]:
        times = describe_times(release, self.cases.by_case)
        if times is None:
            return {}
        bars = (("cycle time", times.cycle), ("begin", times.arrivals))
        return {(kind, bar.label): bar.before or 0.0 for kind, some in bars for bar in some}

    def _waits(self, release: Release) -> dict[tuple[str | None, ...], Checked]:
        """Medians by their rank among released waits: a margin is a share of these."""
        batch, margins = release.by_case, release.certificate.margins
        if batch is None or self.cases.by_case is None or margins is None:
            return {}
        before, after = Timed.both(self.cases.by_case, batch)
        old, waits = before.waits(), after.waits()
        found: dict[tuple[str | None, ...], Checked] = {}
        for (a, b), margin in margins.waits.items():
            if (a, b) in old and (a, b) in waits and margin < 0.5:
                true, here = old[a, b], np.sort(waits[a, b])
                ends = (
                    np.searchsorted(here, np.median(true), "left"),
                    np.searchsorted(here, np.median(true), "right"),
                )
                low, high = (end / len(here) for end in ends)
                error = max(low - 0.5, 0.5 - high, 0.0)
                found[a, b] = Checked("wait", 0.5, margin, error)
        return found

    def _attribute(self, figure: ReleasedFigure) -> float | None:
        values = self.values.get(figure.name or "")
        if values is None or figure.value == "all others" or figure.value is None:
            return None
        if values.dtype.kind == "f" and " – " in figure.value:
            low, high = map(float, figure.value.split(" – "))
            return float(((values >= low) & (values < high)).mean())
        return float((values.astype(str) == figure.value).mean())


def _key(figure: ReleasedFigure) -> tuple[object, ...]:
    if figure.kind == "variant":
        return figure.kind, figure.activities, figure.finished
    return figure.kind, figure.activities if figure.count is not None else figure.value


def tree_log(tree: TreeLog, folder: Path) -> Original:
    """A generated log with its times and the attributes of its cases."""
    path, columns = folder / f"{tree.name}.parquet", folder / "columns.toml"
    tree.write(path)
    columns.write_text(AMOUNTS, encoding="utf-8")
    log = open_log(path, attribute=("case:segment", "case:amount"), columns=columns)
    table = tree.columns()
    _, first = np.unique(table["case_id"], return_index=True)
    values = {name: table[name][first] for name in ("case:segment", "case:amount")}
    return Original(cases=whole(read_cases(log)), values=values)


def whole(cases: Cases) -> Cases:
    """The same in one part."""
    batch = gather(cases.by_case)
    assert isinstance(batch, CaseBatch)
    return Cases(
        variants=batch.variants(), by_case=batch, attributes=cases.attributes, pairs=cases.pairs
    )


def measure_coverage(folder: Path) -> Iterator[Figure]:
    """All logs, one after the other, and then together."""
    together: list[Checked] = []
    number = 0
    for name, log in originals(folder):
        checked = run(log, SEEDS)
        yield from figures(name, checked, len(SEEDS))
        together += checked
        number += len(SEEDS)
    yield from figures(ALL, together, number)


def originals(folder: Path) -> Iterator[tuple[str, Original]]:
    """The logs by their names, each made when it is its turn."""
    yield "hospital", Original(cases=Cases(variants=hospital()), values={})
    with TemporaryDirectory() as place:
        for tree in KEPT:
            if tree.name in CHECKED:
                yield tree.name, tree_log(tree, Path(place))
    for name, path in find_logs(folder).items():
        yield name, Original(cases=whole(read_cases(open_log(path))), values={})


def run(log: Original, seeds: Sequence[int], epsilon: str = "1") -> list[Checked]:
    """The figures of many releases, next to those of the log."""
    found: list[Checked] = []
    for seed in seeds:
        found += log.check(anonymize(log.cases, Certified(epsilon=epsilon), seed=seed))
    return found


def figures(name: str, checked: Sequence[Checked], runs: int) -> Iterator[Figure]:
    """Of each kind: how many figures, how often the margin holds, and how wide it is."""
    drawn = f"{SEEDS[0]} to {SEEDS[-1]}"
    for kind in KINDS:
        some = [one for one in checked if one.kind == kind]
        if not some:
            continue
        for what, value in summary(some).items():
            place = f"coverage/{name}/{kind}/{what}"
            yield Figure(name=place, value=value, runs=runs, seeds=drawn)


def summary(checked: Sequence[Checked]) -> dict[str, float]:
    """Coverage, the median margin, the 95th percentile of the error, and the ratio."""
    margins = np.array([one.margin for one in checked])
    errors = np.array([one.error for one in checked])
    used = float(np.quantile(errors / margins, 0.95))
    return {
        "figures": len(checked),
        "coverage": round(float((errors <= margins).mean()), 4),
        "margin": round(float(np.median(margins)), 4),
        "error": round(float(np.quantile(errors, 0.95)), 4),
        "ratio": round(1 / max(used, 1e-3), 2),
    }
