"""XML files of strangers, read without following anything that they point to."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

from ...errors import ReadError, RulesError

MAX_BYTES = 1 << 24
"""A model larger than that is refused: the models of editors take a few hundred kilobytes."""


def read_bytes(path: str | Path) -> bytes:
    """Read a whole model file, if it is not too large."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ReadError(path, f"cannot be read: {error.strerror}") from error
    if len(content) > MAX_BYTES:
        raise ReadError(path, f"larger than {MAX_BYTES >> 20} MB, which no model is")
    if not content.strip():
        raise ReadError(path, "the file is empty")
    return content


def parse(path: str | Path, content: bytes) -> Any:
    """Parse XML to its root element; a document type, and with it every entity, is refused."""
    from lxml import etree

    root = None
    try:
        events: Any = etree.iterparse(
            BytesIO(content),
            events=("start",),
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        )
        for _, element in events:
            if root is None:
                root = element
                if element.getroottree().docinfo.internalDTD is not None:
                    what = "has a document type (<!DOCTYPE), which is refused: remove it"
                    raise ReadError(path, what)
    except etree.XMLSyntaxError as error:
        # Further lines of such a message repeat what stands in the file.
        what = (error.msg or "not XML").partition("\n")[0].split(", line ")[0]
        raise RulesError(path, error.position[0] or None, f"broken XML: {what}") from None
    if root is None:
        raise ReadError(path, "not XML: it has no element")
    return root


def kind(element: Any) -> str:
    """The name of an element without its namespace."""
    name: str = element.tag.rpartition("}")[2]
    return name


def line(element: Any) -> int | None:
    """The line of an element, where the parser knows it."""
    number: int | None = element.sourceline
    return number


def children(element: Any, *kinds: str) -> list[Any]:
    """The children of some kinds, in the order of the file."""
    return [child for child in element if kind(child) in kinds]


def flat(text: str | None) -> str:
    """A name on one line, without the line breaks and indentation of an editor."""
    return " ".join((text or "").split())
