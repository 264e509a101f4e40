"""Measures the figures that documents show, and keeps them in benchmarks/figures.json.

    python benchmarks/figures.py LOGS [--only GROUP ...]

LOGS holds the paper's logs. Without `--only` it measures what changes with the mechanism
`certified` most, in two minutes of the processor; `attributes`, `cost`, `frontier`, `papers`,
`periods`, `pripel`, `speed`, `times` and `wide` take as long, `rules` and `verdict` two or three
times that, `scale` and `large` much longer.
Figures that are not measured again stay as they are. `python docs/make/figures.py` writes the
tables of the pages from the file.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from figure import Figure, keep_figures
from periods import measure_periods
from pripel import measure_pripel
from reading import measure_large, measure_scale
from rules import measure_rules
from speed import measure_speed
from times import measure_cost, measure_times
from utility import measure_certified, measure_frontier, measure_hospital, measure_papers
from verdict import measure_verdict
from wide import measure_wide

from attributes import measure_attributes

Group = Callable[[Path], Iterator[Figure]]

GROUPS: dict[str, Group] = {
    "certified": measure_certified,
    "hospital": measure_hospital,
    "frontier": measure_frontier,
    "wide": measure_wide,
    "verdict": measure_verdict,
    "times": measure_times,
    "cost": measure_cost,
    "attributes": measure_attributes,
    "papers": measure_papers,
    "pripel": measure_pripel,
    "periods": measure_periods,
    "rules": measure_rules,
    "speed": measure_speed,
    "scale": measure_scale,
    "large": measure_large,
}
USUAL = ("certified", "hospital")


def main() -> None:
    """Measure group by group; what was measured is kept at once."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("logs", type=Path, help="the folder with the paper's logs")
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=USUAL, metavar="GROUP",
                        help=f"measure these alone: {', '.join(GROUPS)}")  # fmt: skip
    options = parser.parse_args()
    if not options.logs.is_dir():
        sys.exit(f"{options.logs} is no folder: name the one that holds the paper's logs")
    warnings.simplefilter("ignore")
    for group in options.only:
        for figure in GROUPS[group](options.logs):
            signed = figure.signed(f"make figures ONLY={group}")
            print(f"{signed.name}: {signed.value} {signed.unit}".rstrip(), flush=True)
            keep_figures([signed])


if __name__ == "__main__":
    main()
