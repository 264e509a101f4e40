"""A fictional hospital: a log with loops, rare behaviour and a long tail, always the same."""

from __future__ import annotations

from collections import Counter

from ..kernel.bits import SeededBits
from ..kernel.noise import Noise
from ..kernel.variants import VariantCounts

SEED = 2021


def hospital(cases: int = 4000) -> VariantCounts:
    """Some thousand emergency cases, made up from a simple process and the same every time."""
    sampler = _Sampler()
    return VariantCounts.of(Counter(tuple(_case(sampler)) for _ in range(cases)))


class _Sampler:
    """Chances in per cent, from a fixed seed."""

    def __init__(self) -> None:
        self._noise = Noise(SeededBits(SEED))
        self._rolls: list[int] = []

    def roll(self) -> int:
        """A number from 0 to 99."""
        if not self._rolls:
            self._rolls = self._noise.below(100, 4096).tolist()
        return self._rolls.pop()

    def happens(self, percent: int) -> bool:
        """Whether something happens that happens so often."""
        return self.roll() < percent


def _case(sampler: _Sampler) -> list[str]:
    """One case, from arrival to discharge."""
    case = ["Register"]
    if sampler.happens(12):
        case.insert(0, "Ambulance")
    case.append("Triage")
    if sampler.happens(3):
        return [*case, "Leave"]
    kind = sampler.roll()
    if kind < 40:
        case += _consult(sampler)
    elif kind < 65:
        case += _operate(sampler)
    else:
        case += _treat_infection(sampler)
    if sampler.happens(2):
        case.append("Transfer")
    case += ["Discharge", "Bill"] if sampler.happens(92) else ["Bill", "Discharge"]
    while sampler.happens(9):
        case.append("Follow-up")
    return case


def _consult(sampler: _Sampler) -> list[str]:
    steps = ["X-ray"] if sampler.happens(35) else []
    steps.append("Consultation")
    if sampler.happens(25):
        steps.append("Prescription")
    return steps


def _operate(sampler: _Sampler) -> list[str]:
    steps = ["Blood test"]
    while sampler.happens(15):
        steps.append("Blood test")
    if sampler.happens(30):
        steps.insert(sampler.roll() % (len(steps) + 1), "X-ray")
    steps += ["Surgery", "Recovery"]
    while sampler.happens(20):
        steps += ["Antibiotics"]
    if sampler.happens(4):
        steps += ["Intensive care", "Surgery", "Recovery"]
    return steps


def _treat_infection(sampler: _Sampler) -> list[str]:
    steps = ["Blood test", "Antibiotics"] if sampler.happens(80) else ["Antibiotics", "Blood test"]
    while sampler.happens(45):
        steps += ["Blood test"] if sampler.happens(60) else ["Antibiotics"]
    if sampler.happens(8):
        steps += ["Intensive care"]
        while sampler.happens(50):
            steps += ["Blood test"]
    return steps
