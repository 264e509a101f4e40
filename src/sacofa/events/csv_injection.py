"""Names that a spreadsheet would take for a formula.

A cell that begins with `=`, `+`, `-` or `@` is computed when a CSV file is opened in a spreadsheet,
and a formula can fetch or send data. So in CSV files such names are written with an apostrophe
first, which makes them plain text. A file that this package wrote is read back exactly: the
apostrophe is taken off again. Other formats keep names as they are.
"""

from __future__ import annotations

import re

_COMPUTED = r"[=+\-@\t\r\n＝＋－＠]"
_DANGEROUS = re.compile(f"'*{_COMPUTED}")
_DEFUSED = re.compile(f"'+{_COMPUTED}")


def escape_formula(name: str) -> str:
    """Put an apostrophe before a name that a spreadsheet would compute, or that has one already."""
    return f"'{name}" if _DANGEROUS.match(name) else name


def unescape_formula(name: str) -> str:
    """Take the apostrophe of `escape_formula` off again."""
    return name[1:] if _DEFUSED.match(name) else name
