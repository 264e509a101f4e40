"""When things happened in the hospital that never was: always the same, in three years."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from ..kernel.bits import SeededBits
from ..kernel.noise import Noise
from ..kernel.variants import Variant
from .hospital import SEED, hospital

FIRST_DAY, DAYS = datetime(2000, 1, 1, tzinfo=UTC), 1_096
HOURS = (2, 1, 1, 1, 1, 2, 3, 5, 8, 10, 10, 9, 8, 8, 8, 7, 7, 7, 7, 6, 5, 4, 3, 3)
"""How many people come at each hour of the day, beside one another."""
WAITS = {
    "Register": 12, "Triage": 9, "Leave": 80, "X-ray": 40, "Consultation": 55, "Prescription": 12,
    "Blood test": 35, "Surgery": 300, "Recovery": 130, "Antibiotics": 50, "Intensive care": 90,
    "Transfer": 240, "Discharge": 900, "Bill": 2_880, "Follow-up": 20_160,
}  # fmt: skip
"""After how many minutes each activity happens, half of all times."""
AGAIN = 720
"""The same for what is done once more on the ward."""
OFFICE = ("Bill", "Follow-up")
"""What people do from Monday to Friday, from 8 to 16 o'clock."""
BITS = 53


def hospital_csv() -> bytes:
    """The log of the hospital as a table with times, cases in the order in which they began."""
    uniform = _uniform()
    cases = [
        list(zip(variant, _times(variant, uniform), strict=True))
        for variant, count in hospital()
        for _ in range(count)
    ]
    cases.sort(key=lambda case: case[0][1])
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["case:concept:name", "concept:name", "time:timestamp"])
    for number, case in enumerate(cases, start=1):
        table.writerows([number, name, f"{time:%Y-%m-%dT%H:%M:%SZ}"] for name, time in case)
    return text.getvalue().encode()


def _uniform() -> Iterator[float]:
    noise = Noise(SeededBits(SEED + 1))
    while True:
        yield from (noise.below(1 << BITS, 4096) / float(1 << BITS)).tolist()


def _times(variant: Variant, uniform: Iterator[float]) -> list[datetime]:
    """When the events of one case happened, each after the one before."""
    mark = next(uniform) * sum(HOURS)
    hour = next(h for h in range(24) if mark < sum(HOURS[: h + 1]))
    day = int(next(uniform) * DAYS)
    time = FIRST_DAY + timedelta(days=day, hours=hour, seconds=int(next(uniform) * 3_600))
    times = [time]
    for place, name in enumerate(variant[1:], start=1):
        minutes = AGAIN if name in variant[2:place] and name not in OFFICE else WAITS[name]
        # Some take four times as long, some a quarter of it; a few much longer.
        bend = 4.0 * (next(uniform) + next(uniform) + next(uniform) - 1.5)
        time += timedelta(seconds=60 + int(60 * minutes * 2.0**bend))
        if name in OFFICE:
            time = _office(time, next(uniform))
        times.append(time)
    return times


def _office(time: datetime, share: float) -> datetime:
    """The same moment, or one in the next office hours."""
    if time.weekday() < 5 and 8 <= time.hour < 16:
        return time
    day = time.replace(hour=8, minute=0, second=0) + timedelta(days=time.hour >= 8)
    while day.weekday() >= 5:
        day += timedelta(days=1)
    return day + timedelta(seconds=int(share * 28_800))
