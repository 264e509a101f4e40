"""A fictional hospital: a log with loops, rare behaviour and a long tail, always the same."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from ..kernel.bits import SeededBits
from ..kernel.noise import Noise
from ..kernel.variants import Variant, VariantCounts

SEED = 2021
FIRST_DAY, DAYS = datetime(2000, 1, 1, tzinfo=UTC), 1_096
HOURS = (2, 1, 1, 1, 1, 2, 3, 5, 8, 10, 10, 9, 8, 8, 8, 7, 7, 7, 7, 6, 5, 4, 3, 3)
"""Relative frequency of arrivals at each hour of the day."""
WAITS = {
    "Register": 12, "Triage": 9, "Leave": 80, "X-ray": 40, "Consultation": 55, "Prescription": 12,
    "Blood test": 35, "Surgery": 300, "Recovery": 130, "Antibiotics": 50, "Intensive care": 90,
    "Transfer": 240, "Discharge": 900, "Bill": 2_880, "Follow-up": 20_160,
}  # fmt: skip
"""Median minutes until each activity happens."""
AGAIN = 720
"""The same for an activity that is repeated on the ward."""
OFFICE = ("Bill", "Follow-up")
"""Working hours: Monday to Friday, 8:00 to 16:00."""
BITS = 53


def hospital(cases: int = 4000) -> VariantCounts:
    """Some thousand emergency cases, made up from a simple process and the same every time."""
    rolls = _rolls(SEED, 100, -1)
    return VariantCounts.of(Counter(tuple(_case(rolls)) for _ in range(cases)))


def hospital_csv() -> bytes:
    """The log of the hospital as a table with times, cases in the order in which they began."""
    uniform = (roll / float(1 << BITS) for roll in _rolls(SEED + 1, 1 << BITS, 1))
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


def _rolls(seed: int, sides: int, direction: int) -> Iterator[int]:
    """Whole numbers from 0, from a fixed seed; blocks are read forwards (1) or backwards (-1)."""
    noise = Noise(SeededBits(seed))
    while True:
        yield from noise.below(sides, 4096)[::direction].tolist()


def _case(rolls: Iterator[int]) -> list[str]:
    """One case, from arrival to discharge."""
    case = ["Ambulance", "Register"] if next(rolls) < 12 else ["Register"]
    case.append("Triage")
    if next(rolls) < 3:
        return [*case, "Leave"]
    kind = next(rolls)
    if kind < 40:
        case += ["X-ray"] if next(rolls) < 35 else []
        case += ["Consultation", "Prescription"] if next(rolls) < 25 else ["Consultation"]
    else:
        case += _operate(rolls) if kind < 65 else _treat_infection(rolls)
    if next(rolls) < 2:
        case.append("Transfer")
    case += ["Discharge", "Bill"] if next(rolls) < 92 else ["Bill", "Discharge"]
    while next(rolls) < 9:
        case.append("Follow-up")
    return case


def _operate(rolls: Iterator[int]) -> list[str]:
    steps = ["Blood test"]
    while next(rolls) < 15:
        steps.append("Blood test")
    if next(rolls) < 30:
        steps.insert(next(rolls) % (len(steps) + 1), "X-ray")
    steps += ["Surgery", "Recovery"]
    while next(rolls) < 20:
        steps.append("Antibiotics")
    return [*steps, "Intensive care", "Surgery", "Recovery"] if next(rolls) < 4 else steps


def _treat_infection(rolls: Iterator[int]) -> list[str]:
    steps = ["Blood test", "Antibiotics"] if next(rolls) < 80 else ["Antibiotics", "Blood test"]
    while next(rolls) < 45:
        steps.append("Blood test" if next(rolls) < 60 else "Antibiotics")
    if next(rolls) < 8:
        steps.append("Intensive care")
        while next(rolls) < 50:
            steps.append("Blood test")
    return steps


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
