"""How good the times of PRIPEL are, in pm4py's version; it leaves the gaps within cases exact.

It needs `diffprivlib`, which needs an older scikit-learn than the current one (1.5.2 will do).
Where that cannot be imported nothing is measured. Traffic fines is left out: PRIPEL compares every
released case with every case of the log. Sepsis is left out, too: there pm4py's version returns
cases of about a fortieth of their duration, and we do not know why.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from figure import Figure, median
from times import COLUMNS, compared

from sacofa import open_log
from sacofa.base.batches import gather
from sacofa.events import read_cases

RUNS = 3
SETTINGS = {"Receipt": ("receipt", 10, 3)}
"""The file, the longest case and the least count of the variants asked for first: the paper's."""


def measure_pripel(folder: Path) -> Iterator[Figure]:
    """Let pm4py release variants at ε = 1, and PRIPEL attach times at ε = 1 once more."""
    # pm4py asks for a function that current Pythons do not have.
    importlib.util.find_loader = importlib.util.find_spec  # type: ignore[attr-defined]
    try:
        from pm4py.algo.anonymization.pripel import algorithm as pripel
        from pm4py.algo.anonymization.trace_variant_query import algorithm as query
    except ImportError as why:
        print(f"PRIPEL is not measured: {why}", file=sys.stderr)
        return

    for name, (stem, length, least) in SETTINGS.items():
        original = gather(read_cases(open_log(folder / f"{stem}.parquet")).by_case)
        rows = []
        for _ in range(RUNS):
            log = _events_alone(folder / f"{stem}.xes.gz")
            asked = {"epsilon": 1.0, "k": length, "p": least, "show_progress_bar": False}
            variants = query.apply(log, query.Variants.SACOFA, asked)
            found = pripel.apply(log, variants, 1.0)
            released = gather(read_cases(open_log(found)).by_case)
            rows.append(compared(original, released))
        for place, column in enumerate(COLUMNS):
            yield median(f"pripel/original/{name}/{column}", [row[place] for row in rows])


def _events_alone(path: Path) -> Any:
    """A log in which cases have a name, and events an activity and a time."""
    import pm4py

    frame = pm4py.read_xes(str(path))[["case:concept:name", "concept:name", "time:timestamp"]]
    return pm4py.convert_to_event_log(frame)
