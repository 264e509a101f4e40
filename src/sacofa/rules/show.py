"""Rules in sentences, for people who decide whether they are right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from .models.language import ModelRules
from .rules import Rules

Bools = NDArray[np.bool_]


def show_rules(rules: Rules) -> str:
    """Tell rules in words, one line for each activity."""
    return "\n".join(_lines(rules)) + "\n"


def never_happens(rules: Rules) -> Bools:
    """[a]: a can neither begin a case nor follow anything."""
    result: Bools = ~rules.starts & rules.never_follows.all(axis=0)
    return result


def _lines(rules: Rules) -> Iterator[str]:
    names = rules.activities
    yield f"Rules about {len(names):,} activities, from {_flat(str(rules.source))}."
    if isinstance(rules, ModelRules):
        yield (
            f"The whole language of the model is kept ({rules.allowed.states:,} states), with up "
            f"to {rules.deviations} deviations. All its cases keep these rules:"
        )
    if rules.starts.all():
        yield "A case may begin with any activity."
    else:
        yield f"A case begins with {_listed(_chosen(names, rules.starts), 'or')}."
    yield "It may have no events." if rules.empty else "It has at least one event."
    never = never_happens(rules)
    width = max((len(_flat(name)) for name in names), default=0)
    for a, name in enumerate(names):
        said = "never happens" if never[a] else "; ".join(_said(rules, a, never)) or "free"
        yield f"  {_flat(name):{min(width, 40)}}  {said}"


def _said(rules: Rules, a: int, gone: Bools) -> Iterator[str]:
    """What is to be said of an activity."""
    names = rules.activities
    others = np.arange(len(names)) != a
    if rules.never_follows[a, a]:
        yield "at most once"
    if rules.always_follows[a, a]:
        yield "at least twice, where it happens"
    before = _chosen(names, rules.always_precedes[a])
    if before:
        yield f"only after {_listed(before, 'and')}"
    after = _chosen(names, rules.always_follows[a] & others)
    if after:
        yield f"later always {_listed(after, 'and')}"
    barred, free = rules.never_follows[a] & others & ~gone, ~rules.never_follows[a] & others
    if barred.any() and barred.sum() <= free.sum():
        yield f"then never {_listed(_chosen(names, barred), 'or')}"
    elif barred.any():
        only = _listed(_chosen(names, free), "or")
        yield f"then nothing but {only}" if free.any() else "then nothing else"


def _chosen(names: Sequence[str], row: Bools) -> list[str]:
    return [_flat(names[i]) for i in np.flatnonzero(row).tolist()]


def _listed(names: Sequence[str], word: str) -> str:
    if len(names) < 2:
        return "".join(names) or "nothing"
    return f"{', '.join(names[:-1])} {word} {names[-1]}"


def _flat(name: str) -> str:
    """A name without line breaks or what else a terminal would act on."""
    return "".join(c if c.isprintable() else " " for c in name)
