"""Durations as people say them."""

from __future__ import annotations

UNITS = (("y", 31_536_000), ("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
"""What is counted in, the largest first; so many seconds each."""
FEW = 2
"""From so many on, days and years are used, or for just one: 1.5 d is 36 h."""


def say_duration(seconds: float) -> str:
    """Say a duration in one unit, with two digits or all before the point."""
    for name, size in UNITS:
        few = FEW if name in ("y", "d") else 1
        if seconds == size or seconds >= few * size or name == "s":
            amount = seconds / size
            digits = 0 if amount >= 10 or amount == int(amount) else 1
            return f"{amount:,.{digits}f} {name}"
    raise AssertionError
