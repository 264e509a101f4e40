"""Runs of an experiment, the row that is kept of each, and tables and medians of the rows."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import os
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple, get_args, get_type_hints

import numpy as np

from ..base.batches import gather
from ..base.files import explained
from ..errors import OutputError
from ..kernel.cases import Cases
from ..kernel.statements import Statement
from ..mechanisms.protocol import Mechanism
from .registry import BY_NAME, Measure, Measured, variants_of

ORIGINAL = "original"
"""The series of the original log itself, measured as if it were a release."""
LIMIT = "sampling limit"
"""The series of two random halves of the log, measured against each other."""
TABLE_KEYS = ("log", "ε asked for", "series", "ε spent", "times", "runs")
"""Columns of a table of medians before the measures."""
DONE, REFUSED, TIMEOUT, FAILED = "done", "refused", "timeout", "failed"
"""The states of a run."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One release by one mechanism, to be made and measured."""

    log: str
    series: str  # name under which runs are compared: the mechanism, or one configuration of it
    epsilon: str = ""  # as it was written
    mechanism: Mechanism | None = None  # None measures the original itself
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
    """The result of a run. Confidential: measured on the original log without noise."""

    log: str
    digest: str  # identifies the content of the original log, whatever its name
    series: str
    mechanism: str
    epsilon: str
    settings: str
    repetition: int
    seed: int
    status: str  # `done`, `refused` (by the mechanism), `timeout` or `failed`
    spent: float | None = None  # ε of the whole release; infinite if none is guaranteed
    times: str = ""  # whether the release has times (yes or no), because they take a part of ε
    cases: int | None = None
    variants: int | None = None
    release_seconds: float | None = None
    measure_seconds: float | None = None
    note: str = ""  # why there are no measures
    measures: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, run: Run, digest: str, status: str, note: str = "") -> Row:
        """Return the row of a run that has no measures yet."""
        same = ("log", "series", "epsilon", "settings", "repetition", "seed")
        name = run.mechanism.name if run.mechanism is not None else ""
        values = {field: getattr(run, field) for field in same}
        return cls(
            **values, digest=digest, mechanism=name, status=status, note=" ".join(note.split())
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
        """Read a row from text; ValueError if it is not one."""
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


def read_rows(content: bytes) -> list[Row]:
    """Read the rows of a table; ValueError if it holds something else."""
    try:
        header, *lines = csv.reader(io.StringIO(content.decode(), newline=""))
    except csv.Error as error:
        raise ValueError(str(error)) from None
    if header != HEADER:
        raise ValueError(header)
    return [Row.from_cells(line) for line in lines]


class RunTable:
    """The rows of an experiment in a CSV file that grows by whole rows.

    An interrupted experiment continues with the runs that the table does not have.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, or create it; OutputError if it holds something else."""
        self.path = path
        self._rows: dict[tuple[str, ...], Row] = {}
        with explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            content = path.read_bytes() if path.exists() else b""
            whole = content[: content.rfind(b"\n") + 1]
            if len(whole) < len(content):
                os.truncate(path, len(whole))
        if not whole:
            self._write(HEADER)
            return
        try:
            self._rows = {row.key: row for row in read_rows(whole)}
        except ValueError:
            raise OutputError(path, Statement("runs.other_content")) from None

    def rows(self) -> list[Row]:
        """Return each run once, with its latest result."""
        return list(self._rows.values())

    def __getitem__(self, key: tuple[str, ...]) -> Row:
        """Return the latest result of a run."""
        return self._rows[key]

    def __contains__(self, key: tuple[str, ...]) -> bool:
        """Whether a run need not be repeated. A run that failed is tried again."""
        return key in self._rows and self._rows[key].status != FAILED

    def append(self, row: Row) -> None:
        """Add a row permanently."""
        self._write(row.to_cells())
        self._rows[row.key] = row

    def _write(self, cells: Sequence[str]) -> None:
        line = io.StringIO(newline="")
        csv.writer(line, lineterminator="\n").writerow(cells)
        # One write at the end of the file: after a power cut a row is there as a whole, or the
        # next reader drops its torn beginning.
        private = partial(os.open, mode=0o600)
        with explained(self.path), open(self.path, "ab", 0, opener=private) as target:
            target.write(line.getvalue().encode())
            os.fsync(target.fileno())


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


class Spread(NamedTuple):
    """Median and quartiles of one measure."""

    low: float
    median: float
    high: float

    def __str__(self) -> str:
        is_one = self.low == self.median == self.high
        return f"{self.median:.3f}" + f" ({self.low:.3f}–{self.high:.3f})" * (not is_one)


class Summary:
    """The rows of an experiment by log, series and ε, in the order of their first run."""

    def __init__(self, rows: Sequence[Row]) -> None:
        """Prepare the rows."""
        self.rows = rows
        self.logs = list(dict.fromkeys(row.log for row in rows))
        """Names of the logs."""
        names = dict.fromkeys(row.series for row in rows)
        self.series = [name for name in names if name not in (ORIGINAL, LIMIT)]
        """Names of the series, without those of the original."""

    def epsilons(self, log: str) -> list[str]:
        """Every requested ε, the largest first."""
        asked = dict.fromkeys(row.epsilon for row in self.rows if row.log == log and row.epsilon)
        return sorted(asked, key=Fraction, reverse=True)

    def values(self, measure: str, log: str, series: str, epsilon: str = "") -> list[float]:
        """Return a measure of all runs that have a result."""
        return [
            row.measures[measure]
            for row in self._select(log, series, epsilon)
            if row.status == DONE and measure in row.measures
        ]

    def spread(self, measure: str, log: str, series: str, epsilon: str = "") -> Spread | None:
        """Return median and quartiles of a measure; None if no run has a result."""
        values = self.values(measure, log, series, epsilon)
        return Spread(*np.quantile(values, (0.25, 0.5, 0.75)).tolist()) if values else None

    def median(self, measure: str, log: str, series: str, epsilon: str = "") -> float:
        """Return the median of a measure; NaN if no run has a result."""
        spread = self.spread(measure, log, series, epsilon)
        return math.nan if spread is None else spread.median

    def spent(self, log: str, series: str, epsilon: str) -> str:
        """Return the ε of the whole release as text."""
        found = {row.spent for row in self._select(log, series, epsilon) if row.spent is not None}
        return " / ".join("∞" if math.isinf(e) else f"{e:g}" for e in sorted(found)) or "–"

    def table(self, measures: Sequence[str] = ()) -> Iterator[str]:
        """Return a Markdown table of medians, with a line for each log, ε and series.

        Measures of times and attributes are omitted if no log has any.
        """
        measures = measures or [measure.name for measure in measures_of(self.rows)]
        yield markdown_row(*TABLE_KEYS, *(BY_NAME[name].title for name in measures))
        yield markdown_row(*["---"] * len(TABLE_KEYS), *["--:"] * len(measures))
        for log, series, epsilon in self.settings():
            medians = (self.median(name, log, series, epsilon) for name in measures)
            figures = ("–" if math.isnan(median) else f"{median:.3f}" for median in medians)
            own = (f"*{series}*", "", "", "")
            details = self.describe(log, series, epsilon) if epsilon else own
            yield markdown_row(log, epsilon, *details, *figures)

    def settings(self) -> Iterator[tuple[str, str, str]]:
        """Yield every log, series and ε with a run."""
        for log in self.logs:
            own = [("", ORIGINAL), ("", LIMIT)]
            for epsilon, series in (*own, *product(self.epsilons(log), self.series)):
                if self._select(log, series, epsilon):
                    yield log, series, epsilon

    def describe(self, log: str, series: str, epsilon: str) -> tuple[str, ...]:
        """Return the series, the spent ε, whether times were released, and the runs."""
        rows = self._select(log, series, epsilon)
        lost = Counter(row.status for row in rows if row.status != DONE)
        states = ", ".join(f"{number} {state}" for state, number in lost.items())
        times = " / ".join(sorted({row.times for row in rows if row.times})) or "–"
        runs = f"{len(rows)} ({states})" if states else str(len(rows))
        return series, self.spent(log, series, epsilon), times, runs

    def _select(self, log: str, series: str, epsilon: str) -> list[Row]:
        wanted = (log, series, epsilon)
        return [row for row in self.rows if (row.log, row.series, row.epsilon) == wanted]


def measures_of(rows: Sequence[Row]) -> list[Measure]:
    """Return the measures of a table of rows: those of times and attributes if any row has them."""
    found = set[str]().union(*(row.measures for row in rows))
    return [one for one in BY_NAME.values() if one.name in found or not one.timed]


def markdown_row(*cells: object) -> str:
    """Return one line of a Markdown table."""
    return "| " + " | ".join(str(cell) for cell in cells) + " |"
