"""How long reading and counting takes, and how much memory: the figures of docs/scale.md.

It needs 8 GB of disk for 100 million events, 20 GB for 300 million. Each figure comes from a
process of its own: seconds of processor time, because the machine has other things to do, and the
largest resident memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from figure import Figure

EVENTS = (10_000_000, 50_000_000, 100_000_000)
MOST = 300_000_000
WRITTEN = 50_000_000
SAMPLE_EVENTS_PER_CASE = 13.15

SHAPES = {
    "cases of one event": "i",
    "cases of two events": "i % ({events} // 2)",
    "a single case": "0",
}
"""Logs that are hard on memory: the case of event i."""

SHAPE = """
import duckdb
duckdb.execute('''COPY (
    SELECT 'case ' || ({case}) AS case_id, 'activity ' || hash(i) % 24 AS activity,
           make_timestamp((1577836800 + i // 3) * 1000000) AS timestamp
    FROM range({events}) AS rows(i)) TO ''' + repr({path!r}))
"""

MEASURE = """
import json, pathlib, time
wall, start = time.perf_counter(), time.process_time()
{work}
# The usual call for the largest memory counts that of the parent process, too.
status = pathlib.Path("/proc/self/status").read_text()
used = int(status.split("VmHWM:")[1].split()[0])
print(json.dumps({{"clock": time.perf_counter() - wall, "processor": time.process_time() - start,
                  "megabytes": used / 1024, "answer": answer}}))
"""

OURS = """
from sacofa.events import count_variants, open_log
found = count_variants(open_log({path!r}, order={order!r}))
answer = [found.events, found.cases, len(found)]
"""

BARE = """
import duckdb
duckdb.execute("SET enable_progress_bar = false")
answer = duckdb.execute('''SELECT sum(n * len(v))::BIGINT, sum(n)::BIGINT, count(*) FROM (SELECT v, count(*) AS n FROM (
    SELECT list(activity ORDER BY timestamp) AS v FROM read_parquet(''' + repr({path!r}) + ''') GROUP BY case_id
) GROUP BY v)''').fetchone()
"""  # noqa: E501

PANDAS = """
import pandas as pd
frame = pd.read_parquet({path!r}).sort_values("timestamp", kind="stable")
found = frame.groupby("case_id", sort=False)["activity"].agg(tuple).value_counts()
answer = [len(frame), int(found.sum()), len(found)]
"""

R4PM_FRAME = """
from r4pm.df import import_xes
frame, _ = import_xes({path!r})
answer = [len(frame), None, None]
"""

WRITE = """
import numpy as np
from sacofa.mechanisms.released import ReleasedLog
from sacofa.kernel.variants import VariantCounts
from sacofa.release.formats import store_log
ids, lengths = np.arange(10 * 5000) % 24, np.full(5000, 10)
variants = VariantCounts.from_arrays([f"activity {{i}}" for i in range(24)], ids, lengths,
                                     np.full(5000, {events} // 50_000))
store_log(ReleasedLog(variants=variants), {path!r})
answer = [variants.events, variants.cases, len(variants)]
"""


def measure(what: str, work: str) -> Iterator[Figure]:
    """Run some work in a process of its own and tell what it took."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE.format(work=work)], capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{what}: {(done.stderr.strip().splitlines() or ['killed'])[-1]}")
    found = json.loads(done.stdout.splitlines()[-1])
    events = found["answer"][0]
    place = f"scale/{what}"
    seconds = round(found["processor"], 1)
    yield Figure(name=f"{place}/seconds", value=seconds, unit="s of the processor")
    each = round(found["processor"] / max(events, 1) * 1e6, 2)
    yield Figure(name=f"{place}/each", value=each, unit="µs of the processor for each event")
    memory = round(found["megabytes"])
    yield Figure(name=f"{place}/memory", value=memory, unit="MB at the peak")


def sample(folder: Path, events: int) -> str:
    """Make a log of about so many events, once."""
    path = folder / f"sample-{events}.parquet"
    if not path.exists():
        cases = round(events / SAMPLE_EVENTS_PER_CASE)
        subprocess.run(
            [sys.executable, "-m", "sacofa", "generate", "--cases", str(cases), "-o", path],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
    return str(path)


def shape(folder: Path, events: int, name: str) -> str:
    """Make a log of so many events whose cases have an extreme length, once."""
    path = folder / f"{name.replace(' ', '-')}-{events}.parquet"
    if not path.exists():
        case = SHAPES[name].format(events=events)
        work = SHAPE.format(case=case, events=events, path=str(path))
        subprocess.run([sys.executable, "-c", work], check=True)
    return str(path)


def measure_scale(logs: Path) -> Iterator[Figure]:
    """Made-up logs of many events and of hard shapes, XES, writing."""
    with tempfile.TemporaryDirectory(prefix="sacofa-") as made:
        folder = Path(made)
        path = sample(folder, EVENTS[0])
        yield from measure(f"{EVENTS[0]} events, bare DuckDB", BARE.format(path=path))
        yield from measure(f"{EVENTS[0]} events, pandas", PANDAS.format(path=path))
        for events in EVENTS:
            path = sample(folder, events)
            for order in ("time", "file"):
                work = OURS.format(path=path, order=order)
                yield from measure(f"{events} events, by {order}", work)
        for name in SHAPES:
            path = shape(folder, EVENTS[0], name)
            work = OURS.format(path=path, order="time")
            yield from measure(f"{EVENTS[0]} events, {name}", work)
        xes = str(logs / "traffic_fines.xes.gz")
        yield from measure("XES", OURS.format(path=xes, order="file"))
        yield from measure("XES, r4pm to a frame", R4PM_FRAME.format(path=xes))
        target = str(folder / "released.parquet")
        yield from measure("writing", WRITE.format(path=target, events=WRITTEN))


def measure_large(logs: Path) -> Iterator[Figure]:
    """The largest logs: an hour, mostly to make them."""
    with tempfile.TemporaryDirectory(prefix="sacofa-") as made:
        name = "cases of two events"
        path = shape(Path(made), EVENTS[-1], name)
        yield from measure(f"{EVENTS[-1]} events, {name}", OURS.format(path=path, order="time"))
        path = sample(Path(made), MOST)
        yield from measure(f"{MOST} events, by time", OURS.format(path=path, order="time"))
