"""Times for a release of the flow: asked for under their share of ε, then fitted all at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernel.session import Session
from ...kernel.variants import VariantCounts
from ...synthesis.times.ask import TimeSettings, time_queries
from ...synthesis.times.courses import TimeAnswer, TimeAnswers
from ...synthesis.times.fit import fit_times
from .settings import CertifiedSettings

MICROSECONDS = 1_000_000
Seconds = NDArray[np.int64]


def ask_times(
    settings: CertifiedSettings, session: Session, released: VariantCounts
) -> tuple[Seconds, Seconds | None]:
    """Ask the log for times, and give every released event one, in seconds since 1970.

    The second list says when work began, where the log was declared to tell that.

    Which steps and bins are asked for follows from the released variants, which are public by now.
    """
    time = TimeSettings(granularity=settings.granularity, calendar=settings.calendar)
    # Bins follow from the noise, which has to hide all cases of a unit.
    scale = session.cell_epsilon(1, settings.time_price)
    answers: dict[str, Any] = {}
    for name, (query, price) in time_queries(
        released, time, scale, service=session.has_starts
    ).items():
        table = session.ask(query, price * session.unit.max_cases, "time")
        answers[name] = TimeAnswer(query, table, price)
    if not released.events:
        none = np.zeros(0, dtype=np.int64)
        return none, none if session.has_starts else None
    fitted = fit_times(TimeAnswers(**answers), released, time, session.noise)
    starts = None if fitted.starts is None else fitted.starts // MICROSECONDS
    return fitted.times // MICROSECONDS, starts
