"""Rules in sentences, for people who decide whether they are right."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .kinds import Row
from .models.language import ModelRules
from .rules import KINDS, Rules

Bools = NDArray[np.bool_]

NAME_WIDTH = 40
"""Width of the column of names."""


def show_rules(rules: Rules) -> str:
    """Return rules in words, one line for each activity."""
    return "\n".join(_lines(rules)) + "\n"


def never_happens(rules: Rules) -> Bools:
    """[a]: a can neither begin a case nor follow anything."""
    result: Bools = ~rules.starts & rules.never_follows.all(axis=0)
    return result


def _lines(rules: Rules) -> Iterator[str]:
    names = [_printable(name) for name in rules.activities]
    yield f"Rules about {len(names):,} activities, from {_printable(str(rules.source))}."
    if isinstance(rules, ModelRules):
        yield (
            f"The whole language of the model is kept ({rules.allowed.states:,} states), with up "
            f"to {rules.deviations} deviations. All its cases keep these rules:"
        )
    for kind in (kind for kind in KINDS if not kind.of_pairs):
        table = rules.tables[kind.name]
        allowed = [names[i] for i in np.flatnonzero(table).tolist()]
        yield kind.sentence(None if table.all() else allowed)
    yield "It may have no events." if rules.empty else "It has at least one event."
    yield from _table(rules, names)


def _table(rules: Rules, names: list[str]) -> Iterator[str]:
    """One line for each activity."""
    never = never_happens(rules)
    width = min(max(map(len, names), default=0), NAME_WIDTH)
    for activity, name in enumerate(names):
        words = "never happens" if never[activity] else _words(rules, names, activity, ~never)
        yield f"  {name:{width}}  {words or 'free'}"


def _words(rules: Rules, names: list[str], activity: int, possible: Bools) -> str:
    phrases = [
        phrase
        for kind in KINDS
        if kind.of_pairs
        for phrase in kind.phrases(
            Row(
                names=names,
                activity=activity,
                row=rules.tables[kind.name][activity],
                possible=possible,
            )
        )
    ]
    return "; ".join(phrase.text for phrase in sorted(phrases, key=lambda p: p.position))


def _printable(name: str) -> str:
    """A name without line breaks or anything else that controls a terminal."""
    return "".join(c if c.isprintable() else " " for c in name)
