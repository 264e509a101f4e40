"""A hospital that never was: a log with loops, rare behaviour and a long tail, always the same."""

from __future__ import annotations

from collections import Counter

from ..privacy.bits import SeededBits
from ..privacy.noise import Noise
from ..variants import VariantCounts

SEED = 2021


def hospital(cases: int = 4000) -> VariantCounts:
    """Some thousand emergency cases, made up from a simple process and the same every time."""
    dice = _Dice()
    return VariantCounts.of(Counter(tuple(_case(dice)) for _ in range(cases)))


class _Dice:
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


def _case(dice: _Dice) -> list[str]:
    """One case, from arrival to discharge."""
    case = ["Register"]
    if dice.happens(12):
        case.insert(0, "Ambulance")
    case.append("Triage")
    if dice.happens(3):
        return [*case, "Leave"]
    kind = dice.roll()
    if kind < 40:
        case += _consult(dice)
    elif kind < 65:
        case += _operate(dice)
    else:
        case += _treat_infection(dice)
    if dice.happens(2):
        case.append("Transfer")
    case += ["Discharge", "Bill"] if dice.happens(92) else ["Bill", "Discharge"]
    while dice.happens(9):
        case.append("Follow-up")
    return case


def _consult(dice: _Dice) -> list[str]:
    steps = ["X-ray"] if dice.happens(35) else []
    steps.append("Consultation")
    if dice.happens(25):
        steps.append("Prescription")
    return steps


def _operate(dice: _Dice) -> list[str]:
    steps = ["Blood test"]
    while dice.happens(15):
        steps.append("Blood test")
    if dice.happens(30):
        steps.insert(dice.roll() % (len(steps) + 1), "X-ray")
    steps += ["Surgery", "Recovery"]
    while dice.happens(20):
        steps += ["Antibiotics"]
    if dice.happens(4):
        steps += ["Intensive care", "Surgery", "Recovery"]
    return steps


def _treat_infection(dice: _Dice) -> list[str]:
    steps = ["Blood test", "Antibiotics"] if dice.happens(80) else ["Antibiotics", "Blood test"]
    while dice.happens(45):
        steps += ["Blood test"] if dice.happens(60) else ["Antibiotics"]
    if dice.happens(8):
        steps += ["Intensive care"]
        while dice.happens(50):
            steps += ["Blood test"]
    return steps
