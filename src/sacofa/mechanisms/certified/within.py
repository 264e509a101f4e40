"""How far the figures of a release may be off: from its answers and what was made of them, alone.

Noise is known, and so is how far the release is from the noisy answers that it was fitted to. Both
together bound how far it is from the log. All of it is public, hence free.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log

import numpy as np

from ...queries.flow import VOTE_UNITS, StepVotes
from ...queries.protocol import Answer
from ...variants import VariantCounts
from ..protocol import Within
from .size import cases_within, count_cases

SURE = log(20)
"""Laplace noise stays within so many of its scales in 95 of 100 runs."""
MOST = 0.95
"""So many of the steps of a release are no further from their answers than what is taken."""
FITTED = 2.5
"""Counts of variants are fitted to several answers at once; against the cases nearest to them they
are off by up to so many times the noise of the last vote (hospital, Receipt, Sepsis; 95 of 100)."""
STEPS_EACH = 4
"""So many steps lead to an activity, roughly: its events are off by what all of them are. Fewer are
not enough where activities are few and ε is large (a made-up log of 8 activities, ε = 3)."""


def find_within(answers: Sequence[Answer], released: VariantCounts) -> Within:
    """Work out how far each kind of figure may be off."""
    if not released.cases:
        return Within()
    _, variance = count_cases(answers)
    final = next((a for a in answers if a.query.name == "final"), None)
    steps = next((a for a in answers if isinstance(a.query, StepVotes)), None)
    step = None if steps is None else _off(steps, released)
    return Within(
        cases=ceil(cases_within(variance)),
        variant=None if final is None else ceil(FITTED * SURE / float(final.epsilon)),
        step=None if step is None else ceil(step),
        activity=None if step is None else ceil(STEPS_EACH * step),
    )


def _off(steps: Answer, released: VariantCounts) -> float:
    """How far the count of a step may be off: by noise, and by what the release does not fit."""
    assert isinstance(steps.query, StepVotes)
    votes = steps.query.table(released.project_onto(steps.activities))
    noisy = np.asarray(steps.values, dtype=np.float64).ravel()
    shown = votes > 0
    misfit = float(np.quantile(np.abs(votes - noisy)[shown], MOST)) if shown.any() else 0.0
    # A case spreads one vote over its steps: so much of votes is so many steps.
    each = released.events / released.cases + 1
    return (SURE / float(steps.epsilon) + misfit) / VOTE_UNITS * each
