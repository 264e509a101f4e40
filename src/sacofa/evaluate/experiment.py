"""An experiment: many runs, over all cores, kept in a table as they are done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..errors import SettingError
from .evaluate import Measured
from .perform import Performer
from .runs import FAILED, TIMEOUT, Row, Run, digest_of, start_row
from .table import RunTable
from .workers import Lost, available_cores, spread

TIME_LIMIT = 600.0
"""Seconds that one run may take."""

Progress = Callable[[int, int], None]
"""Told how many runs are done, and how many there are in all."""


def carry_out(
    runs: Sequence[Run],
    originals: Mapping[str, Measured],
    table: RunTable,
    *,
    workers: int | None = None,
    time_limit: float = TIME_LIMIT,
    progress: Progress | None = None,
) -> list[Row]:
    """Make all runs that the table does not have yet, and give the rows of all."""
    if workers is not None and workers < 1:
        raise SettingError("workers", workers, "1 or more")
    if not time_limit > 0:
        raise SettingError("time_limit", time_limit, "above 0 seconds")
    digests = {name: digest_of(log) for name, log in originals.items()}
    keys = [start_row(run, digests[run.log], "").key for run in runs]
    missing = [run for run, key in zip(runs, keys, strict=True) if key not in table]
    done = len(runs) - len(missing)
    if progress is not None:
        progress(done, len(runs))
    work = Performer(originals)
    for run, result in spread(
        work, missing, workers=workers or available_cores(), time_limit=time_limit
    ):
        if isinstance(result, Lost):
            status = TIMEOUT if result.timed_out else FAILED
            result = start_row(run, digests[run.log], status, result.why)
        table.append(result)
        done += 1
        if progress is not None:
            progress(done, len(runs))
    rows = {row.key: row for row in table.rows()}
    return [rows[key] for key in keys]
