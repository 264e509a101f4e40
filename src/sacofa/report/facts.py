"""Facts for a report that no certificate has: when, of what and by whom."""

from __future__ import annotations

import datetime
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Facts:
    """When a release was made, of which dataset and by whom.

    Attributes:
        date: Day of the release.
        dataset: Dataset that was released.
        released_by: Person, department or organisation that released it.
    """

    date: datetime.date | None = None
    dataset: str | None = None
    released_by: str | None = None
