"""Generates realistic logs of any size for tests and trials.

Most cases follow one of a few thousand sequences, with Zipf frequencies; in one of ten, events are
exchanged. A third of the events have the time stamp of the previous event. All values are hashes of
the seed, so a larger log begins with the same cases as a smaller one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.files import write_whole
from ..base.temporary import secret_folder
from ..errors import OutputError, SettingError, Statement
from .bounded_file import Progress
from .duckdb.database import as_os_error, borrowed, literal

Numbers = NDArray[np.uint64]

CASES_AT_ONCE = 100_000
SEQUENCES = 3_000
"""Number of sequences that most cases are sampled from."""
MAX_ACTIVITIES = 1_000
YEAR = 365 * 86_400
START = 1_577_836_800
"""The first moment, 2020-01-01, in seconds."""


def write_sample(
    path: str | Path,
    *,
    cases: int,
    activities: int = 24,
    seed: int = 0,
    force: bool = False,
    progress: Progress | None = None,
) -> None:
    """Write a made-up log as Parquet or CSV, with case_id, activity and timestamp."""
    if cases < 1:
        raise SettingError("cases", cases, Statement("must.domain.above", low="0"))
    if not 3 <= activities <= MAX_ACTIVITIES:
        must = Statement("must.whole_between", low=3, high=MAX_ACTIVITIES)
        raise SettingError("activities", activities, must)
    if not 0 <= seed < 1 << 63:
        raise SettingError("seed", seed, Statement("must.read.not_negative"))
    target = Path(path)
    form = {".csv": "FORMAT csv, HEADER true", ".parquet": "FORMAT parquet"}
    if target.suffix.lower() not in form:
        raise OutputError(target, Statement("output.sample_format"))
    import duckdb

    told = progress or (lambda share: None)
    names = [f"activity {i + 1:0{len(str(activities))}}" for i in range(activities)]
    settings = {"threads": "1", "memory_limit": "256MB"}
    try:
        with (
            write_whole(target, force) as part,
            secret_folder() as folder,
            borrowed(folder, folder / "events", settings) as database,
        ):
            database.execute("CREATE TABLE events (c BIGINT, i SMALLINT, t BIGINT)")
            for done, block in event_blocks(cases, activities, seed):
                database.register("block", block)
                database.execute("INSERT INTO events SELECT c, i, t FROM block")
                database.unregister("block")
                told(0.7 * done / cases)
            database.execute("CREATE TABLE names AS SELECT ? AS n", [names])
            database.execute(
                "COPY (SELECT 'case ' || c AS case_id, (SELECT n FROM names)[i + 1] AS activity, "
                "make_timestamp(t * 1000000) AS timestamp FROM events) "
                f"TO {literal(part)} ({form[target.suffix.lower()]})"
            )
    except duckdb.Error as error:
        raise as_os_error(error) from None
    told(1.0)


def event_blocks(
    cases: int, activities: int, seed: int
) -> Iterator[tuple[int, dict[str, NDArray[Any]]]]:
    """Make the events of cases, a block at a time: case c, activity i and second t."""
    sequences, lengths = make_sequences(activities, seed)
    offsets = np.cumsum(lengths) - lengths
    popularity = np.cumsum(1.0 / np.arange(1, len(lengths) + 1) ** 1.1)
    popularity /= popularity[-1]
    for first in range(0, cases, CASES_AT_ONCE):
        number = np.arange(first, min(first + CASES_AT_ONCE, cases), dtype=np.uint64)
        which = np.searchsorted(popularity, _share(number, seed, 1), side="right")
        which = np.minimum(which, len(lengths) - 1)
        size = lengths[which]
        case = np.repeat(number, size)
        begin = np.repeat(np.cumsum(size) - size, size)
        place = np.arange(len(case)) - begin
        step = sequences[np.repeat(offsets[which], size) + place].astype(np.int64)
        event = case * np.uint64(1 << 12) + place.astype(np.uint64)
        odd = np.repeat(_share(number, seed, 2) < 0.1, size) & (_share(event, seed, 3) < 0.25)
        other = (_share(event, seed, 4) * activities).astype(np.int64)
        step = np.where(odd, other, step)
        # A third are ties; the others are minutes to days later.
        later = 60 * np.exp(_share(event, seed, 6) * 8.5)
        gap = np.where(_share(event, seed, 5) < 1 / 3, 0.0, later)
        passed = np.cumsum(gap)
        start = START + first / CASES_AT_ONCE * YEAR / 50 + _share(number, seed, 7) * YEAR / 25
        time = (np.repeat(start, size) + passed - passed[begin]).astype(np.int64)
        order = np.argsort(time, kind="stable")
        cases_from_1 = (case[order] + np.uint64(1)).astype(np.int64)
        block = {"c": cases_from_1, "i": step[order].astype(np.int16), "t": time[order]}
        yield first + len(number), block


def make_sequences(activities: int, seed: int) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
    """Generate sequences end to end, and their lengths: a path with skips, repeats and detours."""
    path = min(max(3, activities * 2 // 3), 18)
    made: list[list[int]] = []
    for number in range(SEQUENCES):
        luck = _share(np.arange(number * 100, number * 100 + 4 * path, dtype=np.uint64), seed, 8)
        sequence: list[int] = []
        for at in range(path):
            skip, repeat, aside, where = luck[4 * at : 4 * at + 4]
            if skip < 0.35 and 0 < at < path - 1:
                continue
            sequence.append(at)
            if repeat < 0.08:
                sequence.append(at)
            if aside < 0.1:
                sequence.append(int(where * activities))
        made.append(sequence)
    flat = [step for sequence in made for step in sequence]
    lengths = np.array([len(sequence) for sequence in made], dtype=np.int64)
    return np.array(flat, dtype=np.int16), lengths


def _share(number: Numbers, seed: int, salt: int) -> NDArray[np.float64]:
    """Hash numbers to pseudo-random shares between 0 and 1 (the finalizer of SplitMix64)."""
    start = (seed * 0x9E3779B97F4A7C15 + salt * 0xD1B54A32D192ED03) % (1 << 64)
    x = number * np.uint64(0x9E3779B97F4A7C15) + np.uint64(start)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Numbers = x ^ (x >> np.uint64(31))
    return (mixed >> np.uint64(11)).astype(np.float64) / float(1 << 53)
