"""A released log as one value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernel.attributes import Kind

NO_VALUE = -1
"""The code of a value that is missing."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasedColumn:
    """An attribute of released cases or events, in the order of the variants."""

    name: str
    """What it is called, without `case:`."""
    of_case: bool
    """Whether cases have it; else events do."""
    kind: Kind
    """The type of its values."""
    texts: tuple[str, ...]
    """Its different values, as text."""
    codes: NDArray[np.int32]
    """For each case or event the place of its value; NO_VALUE where it has none."""

    @property
    def key(self) -> str:
        """What it is called where cases and events lie in one table."""
        return f"case:{self.name}" if self.of_case else self.name


Columns = tuple[ReleasedColumn, ...]
"""All attributes of a release."""
