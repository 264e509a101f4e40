"""Releases with a seed, as checksums: a change that is not meant to change releases changes none.

`python -m tests.seeded` writes the checksums anew. A change of the mechanism does that on purpose,
and says so. `tests/release/test_seeded.py` compares.
"""

from __future__ import annotations

import csv
import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sacofa import Certified, Laplace, ReadOptions, Request, Sacofa, learn_rules
from sacofa.examples import hospital_csv, running_example
from sacofa.mechanisms import Mechanism

CHECKSUMS = Path(__file__).parent / "seeded.json"
COLUMNS = {
    "attributes": {
        "ward": {"type": "category", "values": ["north", "south", "west"]},
        "cost": {"type": "number", "min": 0, "max": 400, "unit": 50},
    }
}
CASES = 1_500


def write_log(path: Path) -> None:
    """Write a part of the embedded example, with attributes and persons made from it."""
    rows = list(csv.DictReader(hospital_csv().decode().splitlines()))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*rows[0], "ward", "cost", "patient"])
        for number, row in enumerate(rows):
            case = int(row["case:concept:name"])
            if case <= CASES:
                ward = ("north", "south", "west")[case * case % 7 % 3]
                writer.writerow([*row.values(), ward, number * 37 % 400, f"p{case * 2 // 3}"])


def seeded_releases() -> Iterator[tuple[str, Callable[[Path, Path], None]]]:
    """Each release: its name, and what writes it, from the log and to a file."""
    rules = learn_rules(running_example())

    def of(mechanism: Mechanism, **reading: Any) -> Callable[[Path, Path], None]:
        def write(log: Path, output: Path) -> None:
            options = ReadOptions(**reading)
            Request(log=log, mechanism=mechanism, output=output, options=options, seed=1).publish()

        return write

    attributes = {"attribute": ("ward", "cost"), "columns": COLUMNS}
    yield "certified.json", of(Certified(epsilon=1))
    yield "certified.csv", of(Certified(epsilon=1))
    yield "certified.xes", of(Certified(epsilon="1/10"))
    yield "certified-attributes.csv", of(Certified(epsilon=2), **attributes)
    yield "certified-persons.xes", of(Certified(epsilon=2), person="patient", max_cases=2)
    yield "laplace.json", of(Laplace(level_epsilon=1, max_length=8, prune=10))
    yield "sacofa.json", of(Sacofa(level_epsilon=1, max_length=8, prune=10, rules=rules))


def checksums() -> dict[str, str]:
    """The checksum of each release."""
    found = {}
    with tempfile.TemporaryDirectory() as name:
        log = Path(name) / "log.csv"
        write_log(log)
        for file, write in seeded_releases():
            write(log, Path(name) / file)
            found[file] = hashlib.sha256((Path(name) / file).read_bytes()).hexdigest()
    return found


if __name__ == "__main__":
    CHECKSUMS.write_text(json.dumps(checksums(), indent=2) + "\n", encoding="utf-8")
