"""The cells of a domain: its values in a public order, `other`, and one for missing values.

The cell of a text follows from that text alone, and every text has one: no value of a log can cause
an error.
"""

from __future__ import annotations

from ..kernel.attributes import Domain

OTHER = "other"
"""What a category is called that is none of the declared ones."""
BLANK = " \t\n\r\f\v"


def cells_of(domain: Domain) -> int:
    """How many cells a domain has."""
    return domain.values + 2


def cell_of(domain: Domain, text: str | None) -> int:
    """The cell that a text takes; blank ones are missing."""
    if text is None or not text.strip(BLANK):
        return domain.values + 1
    return domain.cell(text)
