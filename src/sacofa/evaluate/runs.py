"""Runs of an experiment, the row that is kept of each, and the table that keeps the rows."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np

from ..base.batches import gather
from ..errors import OutputError
from ..kernel.cases import Cases
from ..kernel.statements import Statement
from ..mechanisms.protocol import Mechanism
from .evaluate import Measured, variants_of
from .registry import BY_NAME

ORIGINAL = "original"
"""The series of the original log itself, measured as if it were a release."""
LIMIT = "sampling limit"
"""The series of two random halves of the log, measured against each other."""
DONE, REFUSED, TIMEOUT, FAILED = "done", "refused", "timeout", "failed"
"""The states of a run."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One release by one mechanism, to be made and measured.

    Attributes:
        log: Name of the log.
        series: Name under which runs are compared: the mechanism, or one configuration of it.
        epsilon: Requested ε as it was written.
        mechanism: Mechanism that makes the release; None measures the original itself.
        repetition: Number of the repetition, from 1.
    """

    log: str
    series: str
    epsilon: str = ""
    mechanism: Mechanism | None = None
    repetition: int = 1

    @property
    def settings(self) -> str:
        """The settings of the mechanism, as JSON."""

        def plain(value: object) -> object:
            if isinstance(value, Fraction | Statement):
                return str(value)
            return "inf" if value == math.inf else value

        settings = self.mechanism.settings() if self.mechanism is not None else {}
        return json.dumps({name: plain(value) for name, value in settings.items()})

    @property
    def seed(self) -> int:
        """A seed that differs from run to run and is the same whenever the run is repeated."""
        name = "\n".join((self.log, self.series, self.settings, str(self.repetition)))
        return zlib.crc32(name.encode())


@dataclass(frozen=True, kw_only=True)
class Row:
    """The result of a run. Confidential: measured on the original log without noise.

    Attributes:
        digest: Identifies the content of the original log, whatever its name.
        status: `done`, `refused` (by the mechanism), `timeout` or `failed`.
        spent: ε of the whole release by its certificate; infinite if none is guaranteed.
        times: Whether the release has times (`yes` or `no`), because they take a part of ε.
        cases: Number of released cases.
        variants: Number of released variants.
        note: Reason why there is no measure.
        measures: Measures by name; empty if there is no release.
    """

    log: str
    digest: str
    series: str
    mechanism: str
    epsilon: str
    settings: str
    repetition: int
    seed: int
    status: str
    spent: float | None = None
    times: str = ""
    cases: int | None = None
    variants: int | None = None
    release_seconds: float | None = None
    measure_seconds: float | None = None
    note: str = ""
    measures: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, run: Run, digest: str, status: str, note: str = "") -> Row:
        """Return the row of a run that has no measures yet."""
        return cls(
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
        )

    @property
    def key(self) -> tuple[str, ...]:
        """Identifies the run and the log that it was made on."""
        return (self.log, self.digest, self.series, self.settings, str(self.repetition))

    def to_cells(self) -> list[str]:
        """Return the row as text; a missing value is empty."""
        values = [getattr(self, name) for name in FIXED_COLUMNS]
        values += [self.measures.get(name) for name in BY_NAME]
        return ["" if value is None else str(value) for value in values]

    @classmethod
    def from_cells(cls, cells: Sequence[str]) -> Row:
        """Read a row from text.

        Raises:
            ValueError: If a number cannot be read, or the number of cells is wrong.
        """
        hints = get_type_hints(cls)
        values: dict[str, object] = {}
        measures = {}
        for name, cell in zip(HEADER, cells, strict=True):
            if name in BY_NAME and cell:
                measures[name] = float(cell)
            elif name not in BY_NAME:
                kind, *optional = get_args(hints[name]) or (hints[name],)
                values[name] = kind(cell) if cell or not optional else None
        return cls(**values, measures=measures)  # type: ignore[arg-type]


FIXED_COLUMNS = tuple(entry.name for entry in fields(Row) if entry.name != "measures")
"""The columns of a table of runs that come before the measures."""
HEADER = [*FIXED_COLUMNS, *BY_NAME]
"""All columns of a table of runs."""


class RunTable:
    """The rows of an experiment in a CSV file that grows by whole rows.

    An experiment that was interrupted goes on with the runs that the table does not have.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, or create it.

        Raises:
            OutputError: If the file cannot be written, or holds something else.
        """
        self.path = path
        self._rows: dict[tuple[str, ...], Row] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._read() if path.exists() else self._write(HEADER)
        except OSError as error:
            raise self._unwritable(error) from error

    def rows(self) -> list[Row]:
        """Return each run once, with its latest result."""
        return list(self._rows.values())

    def __contains__(self, key: tuple[str, ...]) -> bool:
        """Whether a run need not be repeated. A run that failed is tried again."""
        return key in self._rows and self._rows[key].status != FAILED

    def append(self, row: Row) -> None:
        """Add a row permanently."""
        try:
            self._write(row.to_cells())
        except OSError as error:
            raise self._unwritable(error) from error
        self._rows[row.key] = row

    def _unwritable(self, error: OSError) -> OutputError:
        why = str(error.strerror or error)
        return OutputError(self.path, Statement("file.unwritable", why=why))

    def _write(self, cells: Sequence[str]) -> None:
        line = io.StringIO(newline="")
        csv.writer(line, lineterminator="\n").writerow(cells)
        # One write at the end of the file: after a power cut a row is there as a whole, or the
        # next reader drops its torn beginning.
        target = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(target, line.getvalue().encode())
            os.fsync(target)
        finally:
            os.close(target)

    def _read(self) -> None:
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            os.truncate(self.path, len(whole))
        if not whole:
            self._write(HEADER)
            return
        try:
            header, *lines = csv.reader(io.StringIO(whole.decode(), newline=""))
            if header != HEADER:
                raise ValueError
            rows = map(Row.from_cells, lines)
            self._rows = {row.key: row for row in rows}
        except (ValueError, csv.Error):
            raise OutputError(self.path, Statement("runs.other_content")) from None


def digest_of(log: Measured) -> str:
    """Return 12 characters that identify the content of a log."""
    counts = variants_of(log)
    content = hashlib.sha256(json.dumps(counts.activities).encode())
    for part in (counts.activity_ids, counts.offsets, counts.counts, counts.complete):
        content.update(part.tobytes())
    if isinstance(log, Cases) and log.by_case is not None:
        batch = gather(log.by_case)
        # Sorted, because readers do not all keep the order of cases.
        content.update(b"" if batch.times is None else np.sort(batch.times).tobytes())
        for values in batch.attributes:
            content.update(values.name.encode() + np.bincount(values.cells).tobytes())
    return content.hexdigest()[:12]
