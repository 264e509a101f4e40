"""The wording of everything that sacofa reports: one catalogue for each language.

Other packages hold facts as `Statement` values. Here they get their wording:

* catalogue: reads `en.toml`, `de.toml` and any other language file next to it, and puts a statement
  into the words of a language, and of an edge for its arguments, or into JSON;
* units: what a certificate states about a unit of privacy.

A new language is one file. A new statement is one entry in each file; a test compares them.
"""

from ..kernel.statements import use_wording
from .catalogue import (
    arguments_of,
    check_language,
    from_content,
    has_wording,
    languages,
    printable,
    render,
    to_content,
)

use_wording(render)

__all__ = [
    "arguments_of",
    "check_language",
    "from_content",
    "has_wording",
    "languages",
    "printable",
    "render",
    "to_content",
]
