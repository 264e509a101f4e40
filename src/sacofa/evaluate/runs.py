"""One run of an experiment: a release is made and measured; and the row that is kept of it."""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any, get_type_hints

import numpy as np

from ..kernel.cases import Cases, gather
from ..mechanisms.protocol import Mechanism
from .evaluate import Measured, variants_of
from .registry import BY_NAME

ORIGINAL = "original"
"""The series of the original log itself, measured as if it were released."""

LIMIT = "sampling limit"
"""The series of what two random halves of the log show of each other."""

DONE, REFUSED, TIMEOUT, FAILED = "done", "refused", "timeout", "failed"


@dataclass(frozen=True, kw_only=True)
class Run:
    """What is to be done: one release by one mechanism, and its measures."""

    log: str
    """The name of the log."""
    series: str
    """The name under which runs are compared: the mechanism, or one way to set it."""
    epsilon: str = ""
    """The ε that was asked for, as it was written."""
    mechanism: Mechanism | None = None
    """What makes the release; None for the original itself."""
    repetition: int = 1

    @property
    def settings(self) -> str:
        """The settings of the mechanism, as JSON."""
        settings = self.mechanism.settings() if self.mechanism is not None else {}
        return json.dumps({name: _plain(value) for name, value in settings.items()})

    @property
    def seed(self) -> int:
        """A seed that differs from run to run and is the same each time the run is made."""
        name = "\n".join((self.log, self.series, self.settings, str(self.repetition)))
        return zlib.crc32(name.encode())


@dataclass(frozen=True, kw_only=True)
class Row:
    """What became of a run. Secret: measured on the original log without noise."""

    log: str
    digest: str
    """Tells the original from others of the same name."""
    series: str
    mechanism: str
    epsilon: str
    settings: str
    repetition: int
    seed: int
    status: str
    """done, refused (by the mechanism), timeout or failed."""
    spent: float | None = None
    """The ε of the whole release by its certificate; infinite where none holds."""
    times: str = ""
    """Whether the release has times (yes or no): they take a part of ε."""
    cases: int | None = None
    """Released cases."""
    variants: int | None = None
    """Released variants."""
    release_seconds: float | None = None
    measure_seconds: float | None = None
    note: str = ""
    """Why there is no measure."""
    measures: Mapping[str, float] = field(default_factory=dict)
    """Every measure by its name; none where there is no release."""

    @property
    def key(self) -> tuple[str, ...]:
        """Which run of which log it is."""
        return (self.log, self.digest, self.series, self.settings, str(self.repetition))

    def to_cells(self) -> list[str]:
        """As text; nothing where there is no value."""
        values = [getattr(self, name) for name in FIXED]
        values += [self.measures.get(name) for name in BY_NAME]
        return ["" if value is None else str(value) for value in values]

    @classmethod
    def from_cells(cls, cells: list[str]) -> Row:
        """Read from text; ValueError where a number is none."""
        hints = get_type_hints(cls)
        values: dict[str, Any] = {}
        for name, cell in zip(FIXED, cells[: len(FIXED)], strict=True):
            kind = hints[name]
            if kind is str:
                values[name] = cell
            elif kind is int:
                values[name] = int(cell)
            else:
                number = int if kind == int | None else float
                values[name] = number(cell) if cell else None
        measured = zip(BY_NAME, cells[len(FIXED) :], strict=True)
        return cls(**values, measures={name: float(cell) for name, cell in measured if cell})


FIXED = tuple(entry.name for entry in fields(Row) if entry.name != "measures")
"""The columns of a table of runs; those of the measures follow them."""
HEADER = [*FIXED, *BY_NAME]


def start_row(run: Run, digest: str, status: str, note: str = "", **values: Any) -> Row:
    """Make the row of a run from what is known of it."""
    return Row(
        log=run.log,
        digest=digest,
        series=run.series,
        mechanism=run.mechanism.name if run.mechanism is not None else "",
        epsilon=run.epsilon,
        settings=run.settings,
        repetition=run.repetition,
        seed=run.seed,
        status=status,
        note=" ".join(note.split()),
        **values,
    )


def digest_of(log: Measured) -> str:
    """Tell one log from another."""
    counts = variants_of(log)
    content = hashlib.sha256(json.dumps(counts.activities).encode())
    for part in (counts.activity_ids, counts.offsets, counts.counts, counts.complete):
        content.update(part.tobytes())
    if isinstance(log, Cases) and log.by_case is not None:
        batch = gather(log.by_case)
        # Sorted: readers do not all keep the order of cases.
        content.update(b"" if batch.times is None else np.sort(batch.times).tobytes())
        for values in batch.attributes:
            content.update(values.name.encode() + np.bincount(values.cells).tobytes())
    return content.hexdigest()[:12]


def _plain(value: object) -> object:
    if isinstance(value, Fraction):
        return str(value)
    return "inf" if value == math.inf else value
