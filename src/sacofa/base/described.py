"""Help texts of fields: the `Attributes` section in the docstring of their class."""

from __future__ import annotations

import inspect
import re
from functools import lru_cache

SECTION = re.compile(r"^Attributes:\n((?:    .*\n?|\n)+)", re.MULTILINE)
ENTRY = re.compile(r"^    (\w+): ((?:.*\n?)(?:     +.*\n?)*)", re.MULTILINE)


@lru_cache
def field_docs(cls: type) -> dict[str, str]:
    """Read the descriptions of the fields of a class; those of its bases come first."""
    docs: dict[str, str] = {}
    for part in reversed(cls.__mro__[:-1]):
        section = SECTION.search(inspect.cleandoc(part.__doc__ or ""))
        if section:
            docs |= {name: " ".join(text.split()) for name, text in ENTRY.findall(section[1])}
    return docs
