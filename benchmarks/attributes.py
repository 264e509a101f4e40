"""How good released attributes are, and what they cost the rest, at ε = 1 in all."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from figure import Figure, median

from sacofa import Certified, anonymize, open_log
from sacofa.evaluate.evaluate import measured_release, read_measured
from sacofa.evaluate.measures.attributes import activity_distances, value_distances
from sacofa.evaluate.measures.flow import similarity
from sacofa.evaluate.measures.times import Timed, arrivals_distance, cycle_time_error, wait_error
from sacofa.kernel.cases import CaseBatch

SEEDS = range(701, 711)
"""Kept for these figures: whoever tunes takes others."""
LISTED = {
    "sepsis": (
        "Age", "InfectionSuspected", "DiagnosticBlood", "SIRSCriteria2OrMore", "Hypotensie",
        "org:group",
    ),
    "receipt": ("case:channel", "case:department", "org:group"),
    "traffic_fines": ("vehicleClass", "article", "points", "amount"),
}  # fmt: skip
COLUMNS = """
[attributes.Age]
type = "number"
edges = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
"""


def measure_attributes(folder: Path) -> Iterator[Figure]:
    """Release each log with its attributes and without, with the same seeds."""
    for name, listed in LISTED.items():
        path = folder / f"{name}.xes.gz"
        if path.exists():
            yield from _measure(name, path, listed)


def _measure(name: str, path: Path, listed: tuple[str, ...]) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as place:
        columns = Path(place) / "columns.toml"
        columns.write_text(COLUMNS, encoding="utf-8")
        declared = columns if "Age" in listed else None
        log = open_log(path, attribute=listed, columns=declared)
        cases = read_measured(log)
    original = cases.by_case
    assert isinstance(original, CaseBatch)
    found: dict[str, list[float]] = {}
    for seed in SEEDS[: 2 if name == "traffic_fines" else None]:
        for kind, source in (("", log), ("/without", open_log(path))):
            release = anonymize(source, Certified(epsilon=1), seed=seed)
            asked = cases.attributes if not kind else ()
            batch = measured_release(release, asked).by_case
            assert isinstance(batch, CaseBatch)
            for measure, value in _compared(original, batch, attributes=not kind).items():
                found.setdefault(measure + kind, []).append(value)
    for measure, values in found.items():
        seeds = f"{SEEDS[0]} to {SEEDS[len(values) - 1]}"
        yield median(f"attributes/{name}/{measure}", values, seeds=seeds)


def _compared(original: CaseBatch, released: CaseBatch, *, attributes: bool) -> dict[str, float]:
    left, right = Timed.both(original, released)
    found = {
        "similarity": similarity(original.variants(), released.variants()),
        "cycle time": cycle_time_error(left, right),
        "waits": wait_error(left, right),
        "arrivals": arrivals_distance(left, right),
    }
    if attributes:
        values = value_distances(original, released)
        found["mean"] = float(np.mean(list(values.values())))
        for measure, distances in (
            ("values", values), ("by activity", activity_distances(original, released)),
        ):  # fmt: skip
            if "org:group" in distances:
                found[f"org:group {measure}"] = distances["org:group"]
    return found
