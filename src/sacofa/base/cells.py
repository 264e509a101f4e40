"""The cells of a domain: its values in a public order, `other`, and one for missing values.

The cell of a text follows from that text alone, and every text has one: no value of a log can cause
an error.
"""

from __future__ import annotations

from ..kernel.attributes import Domain

OTHER = "other"
"""Label of the cell for values outside the domain."""
BLANK = " \t\n\r\f\v"


def cells_of(domain: Domain) -> int:
    """Return the number of cells of a domain."""
    return domain.values + 2


def cell_of(domain: Domain, text: str | None) -> int:
    """Return the cell of a text; blank texts count as missing."""
    if text is None or not text.strip(BLANK):
        return domain.values + 1
    return domain.cell(text)
