"""What a report says of itself that no certificate holds: when, of what and by whom."""

from __future__ import annotations

import datetime
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Facts:
    """When a release was made, of which dataset and by whom; what nobody says is left out."""

    date: datetime.date | None = None
    """The day of the release."""
    dataset: str | None = None
    """The dataset whose budget paid."""
    released_by: str | None = None
    """Who released it: a person, a department, an organisation."""
