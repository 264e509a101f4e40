"""Protection against CSV injection: names that a spreadsheet would interpret as a formula.

A spreadsheet evaluates a cell of a CSV file that begins with `=`, `+`, `-` or `@`, and a formula
can fetch or send data. In CSV files, such names get an apostrophe as prefix, which makes them plain
text. It is removed when a file of this package is read back. Other formats keep names unchanged.
"""

from __future__ import annotations

import re

_COMPUTED = r"[=+\-@\t\r\n＝＋－＠]"
_DANGEROUS = re.compile(f"'*{_COMPUTED}")
_DEFUSED = re.compile(f"'+{_COMPUTED}")


def escape_formula(name: str) -> str:
    """Prefix a name with an apostrophe if it looks like a formula or has an apostrophe already."""
    return f"'{name}" if _DANGEROUS.match(name) else name


def unescape_formula(name: str) -> str:
    """Remove the apostrophe of `escape_formula`."""
    return name[1:] if _DEFUSED.match(name) else name
