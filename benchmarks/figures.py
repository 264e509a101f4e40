"""Measures the figures that documents show, and keeps them in benchmarks/figures.json.

    python benchmarks/figures.py LOGS [--only GROUP ...]

LOGS holds the paper's logs. Without `--only` it measures the groups that change most with the
mechanism `certified`. On two busy cores `certified` takes 20 minutes, `equal` and `papers` 8 each,
`authors` and `speed` 20 each, `ablation` 15, `frontier` 7, others about 2, `scale` and `large` much
more.
A group that was measured to its end replaces all of its earlier figures.
`python docs/make/figures.py` writes the tables of the pages from the file.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from ablate import measure_ablation
from attributes import measure_attributes
from authors import measure_authors
from delta import measure_delta
from figure import Figure, drop_others, keep_figures
from generated import measure_generated
from margins import measure_coverage
from periods import measure_periods
from pripel import measure_pripel
from reading import measure_large, measure_scale
from speed import measure_speed
from times import measure_cost, measure_times
from utility import (
    measure_certified,
    measure_equal,
    measure_frontier,
    measure_hospital,
    measure_papers,
)
from verdict import measure_verdict
from wide import measure_wide

from rules import measure_rules

Group = Callable[[Path], Iterator[Figure]]

GROUPS: dict[str, Group] = {
    "certified": measure_certified,
    "equal": measure_equal,
    "hospital": measure_hospital,
    "frontier": measure_frontier,
    "wide": measure_wide,
    "generated": measure_generated,
    "delta": measure_delta,
    "ablation": measure_ablation,
    "verdict": measure_verdict,
    "times": measure_times,
    "cost": measure_cost,
    "attributes": measure_attributes,
    "papers": measure_papers,
    "authors": measure_authors,
    "pripel": measure_pripel,
    "periods": measure_periods,
    "coverage": measure_coverage,
    "rules": measure_rules,
    "speed": measure_speed,
    "scale": measure_scale,
    "large": measure_large,
}
USUAL = ("certified", "equal", "hospital")


def main() -> None:
    """Measure group by group, and keep each figure as soon as it is measured."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("logs", type=Path, help="the folder with the paper's logs")
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=USUAL, metavar="GROUP",
                        help=f"measure these alone: {', '.join(GROUPS)}")  # fmt: skip
    options = parser.parse_args()
    if not options.logs.is_dir():
        sys.exit(f"{options.logs} is no folder: name the one that holds the paper's logs")
    warnings.simplefilter("ignore")
    for group in options.only:
        command = f"make figures ONLY={group}"
        measured = set()
        for figure in GROUPS[group](options.logs):
            signed = figure.signed(command)
            print(f"{signed.name}: {signed.value} {signed.unit}".rstrip(), flush=True)
            keep_figures([signed])
            measured.add(signed.name)
        drop_others(command, measured)


if __name__ == "__main__":
    main()
