"""Mechanisms in their smallest form: the same code and promise, made to run often and show much.

Nothing here is what a person would release a log with. Settings that the promise does not depend
on are turned down (each mechanism says which: its `minimal`), so that a run on a small log takes
about a millisecond.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..kernel.unit import Unit
from ..mechanisms.protocol import Mechanism
from ..mechanisms.registry import MECHANISMS, make_mechanism
from ..mechanisms.settings import settings_of

ACTIVITIES = 2
"""How many activities the pairs around a threshold have."""
THRESHOLD = 10
"""The threshold that is tried with a mechanism that does not tell its own."""


def make_minimal(name: str, given: Mapping[str, Any]) -> Mechanism:
    """Make the mechanism of a name as small as can be, but for what is given."""
    kind = MECHANISMS.get(name)
    least: dict[str, Any] = {} if kind is None else dict(kind.minimal)
    said = {option: value for option, value in given.items() if value is not None}
    offered = set() if kind is None else {entry.option for entry in settings_of(kind)}
    if any(option.startswith("prune") for option in said):
        least.pop("prune", None)
    public = {option: value for option, value in least.items() if option in offered}
    mechanism = make_mechanism(name, public | said)
    inner = {option: value for option, value in least.items() if option not in offered}
    return replace(mechanism, **inner)  # type: ignore[type-var]


def threshold_of(mechanism: Mechanism, unit: Unit) -> int:
    """The count from which a mechanism shows a variant, as far as that is known beforehand."""
    # Pairs around a threshold have no times: there, nothing is spent on them.
    found = mechanism.for_log(timed=False).shown_from(unit, ACTIVITIES)
    return THRESHOLD if found is None else found
