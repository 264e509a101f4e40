"""Where the header of a table is, if titles stand above it.

Titles and the header are about no case. The header is recognised by the names of its columns, or by
its width: titles fill one or two cells. Rows below a first row of three or more cells are looked at
only for names that are wider still than all above them, which no row of a case is.
"""

from __future__ import annotations

from collections.abc import Sequence

from .columns import COMMON, plain_name

MAX_TITLE_ROWS = 30
"""A header is looked for in no more rows than this and the next."""

TITLE_CELLS = 2
"""A row that fills no more cells than this may be a title, such as `Created | 2024-01-31`."""


def find_header(rows: Sequence[Sequence[str | None]]) -> int:
    """Give the place of the header among the first rows of a table."""
    widths = list(map(_width, rows))
    widest = 0
    for place, (row, width) in enumerate(zip(rows, widths, strict=True)):
        if 2 * widest <= width and _has_names(row):
            return place
        widest = max(widest, width)
    if not widths or widths[0] > TITLE_CELLS:
        return 0
    return next((place for place, width in enumerate(widths) if width > TITLE_CELLS), 0)


def _width(row: Sequence[str | None]) -> int:
    """How many cells of a row are filled."""
    return sum(bool(cell and cell.strip()) for cell in row)


def _has_names(row: Sequence[str | None]) -> bool:
    """Whether a row names a case and an activity, in two cells."""
    names = [plain_name(cell) for cell in row if cell]
    cases, activities = (
        {place for place, name in enumerate(names) if name in COMMON[role]}
        for role in ("case", "activity")
    )
    return bool(cases and activities) and len(cases | activities) > 1
