"""Rules as sentences, for people who review them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .kinds import Bools
from .models.automaton import ModelRules
from .rules import KINDS, Rules

NAME_WIDTH = 40
"""Width of the column of names."""


def show_rules(rules: Rules) -> str:
    """Return rules in words, one line for each activity."""
    # Names without line breaks or anything else that controls a terminal.
    names = [_printable(name) for name in rules.activities]
    lines = [f"Rules about {len(names):,} activities, from {_printable(str(rules.source))}."]
    if isinstance(rules, ModelRules):
        lines.append(
            f"The whole language of the model is kept ({rules.allowed.states:,} states), with up "
            f"to {rules.deviations} deviations. All its cases keep these rules:"
        )
    for kind in filter(lambda kind: not kind.of_pairs, KINDS):
        listed = _listed(names, rules.tables[kind.name], "or")
        free = rules.tables[kind.name].all()
        any_may = f"A case may {kind.verb} with any activity."
        lines.append(any_may if free else f"A case {kind.verb}s with {listed}.")
    lines.append("It may have no events." if rules.empty else "It has at least one event.")
    never = never_happens(rules)
    width = min(max(map(len, names), default=0), NAME_WIDTH)
    for activity, name in enumerate(names):
        words = "; ".join(_phrases(rules, names, activity, ~never))
        lines.append(f"  {name:{width}}  {'never happens' if never[activity] else words or 'free'}")
    return "\n".join([*lines, ""])


def never_happens(rules: Rules) -> Bools:
    """[a]: a can neither begin a case nor follow anything."""
    result: Bools = ~rules.starts & rules.never_follows.all(axis=0)
    return result


def _phrases(rules: Rules, names: Sequence[str], activity: int, possible: Bools) -> Iterator[str]:
    """The parts of the sentence about one activity: how often, before it, after it, never."""
    follows, precedes = rules.always_follows[activity], rules.always_precedes[activity]
    never, others = rules.never_follows[activity], np.arange(len(names)) != activity
    if follows[activity]:
        yield "at least twice, where it happens"
    if never[activity]:
        yield "at most once"
    if precedes.any():
        yield f"only after {_listed(names, precedes, 'and')}"
    if (follows & others).any():
        yield f"later always {_listed(names, follows & others, 'and')}"
    barred, free = never & others & possible, ~never & others
    if barred.any() and barred.sum() <= free.sum():
        yield f"then never {_listed(names, barred, 'or')}"
    elif barred.any():
        yield (
            f"then nothing but {_listed(names, free, 'or')}" if free.any() else "then nothing else"
        )


def _listed(names: Sequence[str], chosen: Bools, word: str) -> str:
    """Return the names of chosen activities: "A, B and C"."""
    some = [names[i] for i in np.flatnonzero(chosen).tolist()]
    if len(some) < 2:
        return "".join(some) or "nothing"
    return f"{', '.join(some[:-1])} {word} {some[-1]}"


def _printable(name: str) -> str:
    return "".join(c if c.isprintable() else " " for c in name)
