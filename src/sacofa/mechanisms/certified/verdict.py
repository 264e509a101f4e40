"""What a release of `certified` is good for: errors predicted from noise and noisy answers alone.

Before anything is spent, the numbers of activities and cases and ε tell how much noise there will
be. After a run, the release is asked the same queries as the log was. Its answers and the noisy
ones disagree by noise; disagreement beyond that is the error of the model.

With K cells, noise of scale b and T votes in all, a table is off by

    (cells with votes) · b / 2T  +  (Σ |noisy − released| − (K + 2 √K) · b) / 2T

(b is the mean absolute noise of Laplace's law; for Gaussian noise, its own mean and deviation)

in total variation distance, about: the first part is what noise does to the cells that matter, and
the second, if above 0, what noise does not explain. On synthetic logs of all kinds, half of the
errors of directly-follows edges were below 0.8 times that and one of twenty was above 1.8 times.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, pi, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...base.cells import cells_of
from ...errors import SettingError
from ...kernel.queries.attributes import CaseAttribute, EventAttribute
from ...kernel.queries.flow import VOTE_UNITS, ActivityVotes, CaseLengths, StepVotes
from ...kernel.queries.protocol import Answer
from ...kernel.unit import ONE_CASE, Unit
from ...kernel.variants import VariantCounts
from ...synthesis.attributes.ask import divide
from ...synthesis.thresholds import SHAPES
from ...synthesis.verdict import Cause, PredictedErrors, Sureness, Verdict
from .budget import USUAL_LENGTH
from .settings import CertifiedSettings

Floats = NDArray[np.float64]

RELIABLE = PredictedErrors(edges=0.10, activities=0.05, lengths=0.10, attributes=0.10)
"""Errors up to which a release is reliable."""
ROUGH = 2.5
"""Factor of these errors up to which a release is rough: beyond, most edges were off by more than
predicted."""
STEPS_EACH = 3
"""At least as many directly-follows pairs lead from an activity on average. A release of fewer may
have lost them to noise, and before a run nothing else is known."""
ACTIVITIES_OF_A_CASE = 0.5
"""The part of all activities that a case has, where nothing is known yet."""

DEVIATIONS = 2.0
"""Noise explains a disagreement of up to as many standard deviations above its mean."""


class _Error(NamedTuple):
    """A predicted error by its two parts, which add up to it."""

    noise: float
    model: float = 0.0
    """What noise does not explain."""

    def times(self, factor: float) -> _Error:
        return _Error(self.noise * factor, self.model * factor)


Errors = dict[str, _Error]
"""By the fields of `PredictedErrors`."""


def foresee(
    settings: CertifiedSettings,
    *,
    activities: int,
    cases: int,
    unit: Unit = ONE_CASE,
    length: int = USUAL_LENGTH,
) -> Verdict:
    """Judge before anything is spent, from public numbers of activities, cases and their events."""
    if activities < 0:
        raise SettingError("activities", activities, "0 or more")
    if cases < 0:
        raise SettingError("cases", cases, "0 or more")
    cases = max(cases, 1)
    split = settings.for_size(settings.split(activities), cases, activities, unit)
    scale = _scale(settings, unit, split.semantics)
    # A case of n Euclidean votes gives √n in sum.
    votes = cases * (sqrt(length) if settings.delta else 1.0)
    edges = _Error(noise=max(STEPS_EACH * activities, 1) / (2 * scale * votes))
    errors = {"edges": edges, "activities": edges.times(ACTIVITIES_OF_A_CASE)}
    asked = settings.attributes
    prices = divide(settings.attribute_price, asked, (), activities)
    laws = [settings.budget.law(unit.max_cases, price) for price in prices]
    found = [
        _attribute(cells_of(a.known), 1 if a.of_case else activities, law.epsilon)
        for a, law in zip(asked, laws, strict=True)
    ]
    if found:
        errors["attributes"] = _Error(noise=max(found) / cases)
    # Where noise is small beside a log, votes for steps get what they get in most logs.
    usual = _scale(settings, unit, settings.split(activities).semantics)
    return _verdict(settings, errors, cases, scale / usual)


def judge(
    settings: CertifiedSettings, answers: Sequence[Answer], size: int, released: VariantCounts
) -> Verdict:
    """Judge a run by its noisy answers and what was made of them."""
    number = len(released.activities)
    errors: Errors = {}
    other = _Error(noise=0.0)
    moved = 1.0
    attributes: list[float] = []
    for answer in answers:
        query = answer.query
        if isinstance(query, StepVotes):
            errors["edges"] = _error(answer, query, released, STEPS_EACH * number)
            usual = _scale(settings, released.unit, settings.split(number).semantics)
            moved = float(answer.epsilon * VOTE_UNITS) / usual
        elif isinstance(query, ActivityVotes):
            other = _error(answer, query, released, 0)
        elif isinstance(query, CaseLengths):
            errors["lengths"] = _error(answer, query, released, 0)
        elif isinstance(query, CaseAttribute | EventAttribute):
            scale = answer.epsilon * VOTE_UNITS
            attributes.append(_attribute(query.size, query.rows, scale) / max(size, 1))
    # The noise of votes for activities says little: in small logs they get next to no budget.
    edges = errors["edges"]
    worse = _Error(noise=edges.noise, model=max(edges.model, other.model))
    errors["activities"] = worse.times(_activities_of_a_case(released))
    if attributes:
        errors["attributes"] = _Error(noise=max(attributes))
    return _verdict(settings, errors, max(size, 1), moved)


def _error(
    answer: Answer,
    query: StepVotes | ActivityVotes | CaseLengths,
    released: VariantCounts,
    fewest: int,
) -> _Error:
    """Compare what the release answers with the noisy answer; `fewest` cells matter at least."""
    values = np.asarray(answer.values, dtype=np.float64).ravel() * float(answer.epsilon)
    own = query.table(released.project_onto(answer.activities)) * float(answer.epsilon)
    votes = max(float(own.sum()), 1.0)
    if isinstance(query, CaseLengths):
        # Cases were asked before they were truncated.
        last = int(np.flatnonzero(own).max(initial=0)) + 1
        values, own = values[:last], own[:last]
    shape, number = SHAPES[type(answer.noise)], len(own)
    explained = shape.mean * number + DEVIATIONS * shape.deviation * sqrt(number)
    beyond = float(np.abs(values - own).sum()) - explained
    noise = shape.mean * max(int(np.count_nonzero(own)), fewest, 1) / (2 * votes)
    return _Error(noise=noise, model=max(beyond / (2 * votes), 0.0))


def _attribute(values: int, rows: int, scale: Fraction) -> float:
    """By how many cases the values of an attribute are off, at 1/scale of noise for each case.

    A value's number is a sum over the rows: so is its noise, whose mean size is that of a normal
    distribution with the same variance.
    """
    each = 1.0 if rows <= 1 else 2 * sqrt(rows / pi)
    return values * each / (2 * float(scale))


def _activities_of_a_case(released: VariantCounts) -> float:
    """The part of all activities that a released case has, on average."""
    number = max(len(released.activities), 1)
    owners = np.repeat(np.arange(len(released)), released.lengths)
    different = np.unique(owners * number + released.activity_ids) // number
    return float(released.counts[different].sum()) / (max(released.cases, 1) * number)


def _verdict(settings: CertifiedSettings, errors: Errors, cases: int, moved: float) -> Verdict:
    """The verdict on these errors; votes for steps have `moved` times their usual share."""
    over = {name: error for name, error in errors.items() if sum(error) > getattr(RELIABLE, name)}
    rough = all(sum(error) <= ROUGH * getattr(RELIABLE, name) for name, error in over.items())
    by_model = {name for name, error in over.items() if error.model > error.noise}
    causes = [Cause.NOISE] if len(by_model) < len(over) else []
    causes += [Cause.MODEL] if by_model else []
    by_noise = [(name, error) for name, error in over.items() if name not in by_model]
    times = max((sum(error) / getattr(RELIABLE, name) for name, error in by_noise), default=1.0)
    times = max(times * max(moved, 1.0), 1.0) if by_noise else 1.0
    word = Sureness.ROUGH if rough else Sureness.UNRELIABLE
    return Verdict(
        sureness=word if over else Sureness.RELIABLE,
        errors=PredictedErrors(**{name: round(sum(error), 4) for name, error in errors.items()}),
        causes=tuple(causes),
        cases_needed=ceil(cases * times),
        # Rounded up to hundredths of ε.
        epsilon_needed=Fraction(settings.epsilon) * Fraction(ceil(times * 100), 100),
    )


def _scale(settings: CertifiedSettings, unit: Unit, share: Fraction) -> float:
    """1/scale of the noise that a share buys, in whole cases."""
    return float(settings.noise(unit, share).epsilon)
