"""How long reading and counting takes, and how much memory.

    python benchmarks/reading.py --events 10_000_000 50_000_000 100_000_000 --shapes [XES ...]

makes the figures of docs/scale.md on one machine. It needs 8 GB of disk, and
20 GB for 300_000_000 events.
Each figure comes from a process of its own: seconds on the clock, seconds of processor time, and
the largest resident memory. Compare processor time where the machine has other things to do.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

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
from sacofa.logs import count_variants, open_log
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

R4PM_VARIANTS = """
from sacofa.logs import count_variants, open_log
found = count_variants(open_log({path!r}, engine="r4pm"))
answer = [found.events, found.cases, len(found)]
"""

WRITE = """
import numpy as np
from sacofa.logs import write_variants
from sacofa.variants import VariantCounts
ids, lengths = np.arange(10 * 5000) % 24, np.full(5000, 10)
variants = VariantCounts.from_arrays([f"activity {{i}}" for i in range(24)], ids, lengths,
                                     np.full(5000, {events} // 50_000))
write_variants(variants, {path!r})
answer = [variants.events, variants.cases, len(variants)]
"""

SPARK = """
from pyspark.sql import SparkSession
from sacofa.logs import count_variants, open_log
session = (SparkSession.builder.master("local[2]").config("spark.driver.memory", "4g")
           .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
           .config("spark.sql.shuffle.partitions", "64").getOrCreate())
session.sparkContext.setLogLevel("OFF")
found = count_variants(open_log({path!r}, engine="spark", order="time"))
answer = [found.events, found.cases, len(found)]
"""


def measure(what: str, work: str) -> None:
    """Run some work in a process of its own and print what it took."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE.format(work=work)], capture_output=True, text=True
    )
    if done.returncode:
        print(f"{what:<44} failed: {(done.stderr.strip().splitlines() or ['killed'])[-1][:150]}")
        return
    found = json.loads(done.stdout.splitlines()[-1])
    each = found["processor"] / max(found["answer"][0], 1) * 1e6
    print(
        f"{what:<44} {found['clock']:8.1f} s {found['processor']:8.1f} s {each:6.2f} µs "
        f"{found['megabytes']:8,.0f} MB   {found['answer']}",
        flush=True,
    )


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


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, nargs="+", default=[10_000_000])
    parser.add_argument("--shapes", action="store_true", help="very short and long cases, too")
    parser.add_argument("--write", type=int, default=50_000_000, help="events to write, 0 for none")
    parser.add_argument("--spark", action="store_true", help="count with Spark, too")
    parser.add_argument("--folder", type=Path, help="where made-up logs are kept")
    parser.add_argument("xes", nargs="*", help="XES files to read")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sacofa-") as made:
        folder = given.folder or Path(made)
        print(
            f"{'':<44} {'clock':>10} {'processor':>10} {'per event':>9} {'memory':>11}   "
            "events, cases, variants"
        )
        path = sample(folder, given.events[0])
        measure(f"{given.events[0]:,} events, bare DuckDB query", BARE.format(path=path))
        measure(f"{given.events[0]:,} events, pandas", PANDAS.format(path=path))
        for events in given.events:
            path = sample(folder, events)
            for order in ("time", "file"):
                work = OURS.format(path=path, order=order)
                measure(f"{events:,} events, sacofa, by {order}", work)
        for name in SHAPES if given.shapes else ():
            # One case of a hundred million events is beyond belief, and many of two are not.
            most = given.events[0] if name == "a single case" else given.events[-1]
            for events in sorted({given.events[0], most}):
                path = shape(folder, events, name)
                measure(f"{events:,} events, {name}", OURS.format(path=path, order="time"))
        if given.spark:
            path = sample(folder, given.events[-1])
            measure(f"{given.events[-1]:,} events, Spark", SPARK.format(path=path))
        for xes in given.xes:
            name = Path(xes).name
            measure(f"{name}, sacofa", OURS.format(path=xes, order="file"))
            measure(f"{name}, r4pm to a frame", R4PM_FRAME.format(path=xes))
            measure(f"{name}, sacofa with engine r4pm", R4PM_VARIANTS.format(path=xes))
        if given.write:
            target = str(Path(made) / "released.parquet")
            work = WRITE.format(path=target, events=given.write)
            measure(f"{given.write:,} events written to Parquet", work)


if __name__ == "__main__":
    main()
