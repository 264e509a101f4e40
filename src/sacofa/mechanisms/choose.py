"""Make a mechanism from settings as people give them: by name, with numbers as text."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from ..errors import SettingError, nearest
from ..privacy.unit import ONE_CASE, Unit
from ..semantics.rules import Rules
from .certified import Certified
from .paper import Laplace, Sacofa
from .protocol import Mechanism

DEFAULT = "certified"
"""The mechanism of a person who asks for nothing in particular."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The settings of any mechanism; None where a person said nothing."""

    epsilon: str | float | None = None
    """The price: of the whole release, or of one level for the papers' mechanisms."""
    max_length: int | None = None
    """Longer cases are cut here."""
    prune: int | None = None
    """One threshold for harmless and harmful prefixes."""
    prune_harmless: int | None = None
    """The threshold of harmless prefixes."""
    prune_harmful: str | int | float | None = None
    """The threshold of harmful prefixes; "inf" admits none."""
    prune_finished: bool | None = None
    """Whether thresholds hold for finished prefixes too."""
    score: str | None = None
    """binary or continuous: whether violations are counted."""
    max_violations: int | None = None
    """Where the continuous score cuts the number of violations."""
    rules: Rules | None = None
    """Public rules."""
    unit: Unit = ONE_CASE
    """What is protected."""


def make_mechanism(name: str, choice: Choice) -> Mechanism:
    """Make the mechanism of a name; settings that it does not have or lacks are refused."""
    if name not in MAKERS:
        known = ", ".join(MAKERS)
        raise SettingError("mechanism", name, f"one of {known}.{nearest(name, MAKERS)}")
    make, uses = MAKERS[name]
    for field in fields(Choice):
        given = getattr(choice, field.name) is not None and field.name != "unit"
        if given and field.name not in uses:
            raise SettingError(
                field.name, getattr(choice, field.name), f"left out: {name} has no such setting"
            )
    return make(choice)


def _make_certified(choice: Choice) -> Mechanism:
    return Certified(
        epsilon=_need(choice, "epsilon"),
        **_given(choice, "max_length", "rules"),
        unit=choice.unit,
    )


def _make_laplace(choice: Choice) -> Mechanism:
    return Laplace(
        level_epsilon=_need(choice, "epsilon"),
        max_length=_need(choice, "max_length"),
        prune=_need(choice, "prune"),
        **_given(choice, "prune_finished"),
        unit=choice.unit,
    )


def _make_sacofa(choice: Choice) -> Mechanism:
    if choice.prune is not None and (choice.prune_harmless, choice.prune_harmful) != (None, None):
        raise SettingError("prune", choice.prune, "left out where the two thresholds are given")
    if choice.prune is None and choice.prune_harmful is None:
        raise SettingError("prune", None, "given, or prune_harmful and prune_harmless")
    harmful = choice.prune if choice.prune is not None else _need(choice, "prune_harmful")
    harmless = choice.prune if choice.prune is not None else _need(choice, "prune_harmless")
    if choice.score not in (None, "binary", "continuous"):
        raise SettingError("score", choice.score, "binary or continuous")
    if (choice.score == "continuous") != (choice.max_violations is not None):
        raise SettingError(
            "max_violations", choice.max_violations, "given with score continuous, and only then"
        )
    return Sacofa(
        level_epsilon=_need(choice, "epsilon"),
        max_length=_need(choice, "max_length"),
        prune_harmless=harmless,
        prune_harmful=_threshold(harmful),
        rules=choice.rules,
        max_violations=choice.max_violations,
        **_given(choice, "prune_finished"),
        unit=choice.unit,
    )


def _need(choice: Choice, name: str) -> Any:
    value = getattr(choice, name)
    if value is None:
        raise SettingError(name, value, "given")
    return value


def _given(choice: Choice, *names: str) -> dict[str, Any]:
    """The settings that a person gave; the others keep the mechanism's own default."""
    return {name: getattr(choice, name) for name in names if getattr(choice, name) is not None}


def _threshold(value: str | int | float) -> int | float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise SettingError("prune_harmful", value, "a whole number, 1 or more, or inf")
    return number if math.isinf(number) or number != int(number) else int(number)


MAKERS: dict[str, tuple[Callable[[Choice], Mechanism], frozenset[str]]] = {
    "certified": (_make_certified, frozenset(["epsilon", "max_length", "rules"])),
    "sacofa": (
        _make_sacofa,
        frozenset(
            [
                "epsilon",
                "max_length",
                "prune",
                "prune_harmless",
                "prune_harmful",
                "prune_finished",
                "score",
                "max_violations",
                "rules",
            ]
        ),
    ),
    "laplace": (_make_laplace, frozenset(["epsilon", "max_length", "prune", "prune_finished"])),
}
"""Every mechanism by its name: how it is made, and the settings that it has."""
