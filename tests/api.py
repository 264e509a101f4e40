"""The public interface as text: every public name with its signature.

`python -m tests.api` writes it to `tests/api.txt`, which `test_api.py` compares with the code.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

SNAPSHOT = Path(__file__).with_name("api.txt")
PACKAGES = (
    "sacofa", "sacofa.audit", "sacofa.errors", "sacofa.evaluate", "sacofa.events",
    "sacofa.examples", "sacofa.kernel", "sacofa.mechanisms", "sacofa.release", "sacofa.report",
    "sacofa.rules",
)  # fmt: skip


def describe_package(name: str) -> Iterator[str]:
    """List the public names of a package; a name of the top level is described there only."""
    yield name
    known = set(importlib.import_module("sacofa").__all__) if name != "sacofa" else set()
    for public in sorted(set(importlib.import_module(name).__all__) - known):
        value = getattr(importlib.import_module(name), public)
        if inspect.isclass(value):
            yield from describe_class(public, value)
        elif callable(value):
            yield f"    {public}{_signature(value)}"
        else:
            yield f"    {public}: {type(value).__name__}"
    yield ""


def describe_class(name: str, kind: type) -> Iterator[str]:
    """Describe how a class is constructed, and its public members; inherited ones at their home."""
    bases = ", ".join(each.__name__ for each in kind.__bases__ if each is not object)
    yield f"    class {name}({bases}){_signature(kind)}"
    for member, value in sorted(vars(kind).items()):
        if member.startswith("_"):
            continue
        if isinstance(value, property):
            yield f"        {member}: {inspect.signature(value.fget).return_annotation}"
        elif isinstance(value, classmethod | staticmethod):
            yield f"        {member}{_signature(value.__func__)}"
        elif inspect.isfunction(value):
            yield f"        {member}{_signature(value)}"


def _signature(value: object) -> str:
    try:
        text = str(inspect.signature(value))
    except (TypeError, ValueError):
        return ""
    # Annotations are texts, and a function that is a default has an address.
    return re.sub(" at 0x[0-9a-f]+", "", text.replace("'", ""))


def describe() -> str:
    """Describe the whole public interface."""
    return "\n".join(line for name in PACKAGES for line in describe_package(name))


if __name__ == "__main__":
    SNAPSHOT.write_text(describe(), encoding="utf-8")
