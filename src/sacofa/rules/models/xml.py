"""Safe parsing of untrusted XML: document types are refused, and no references are followed.

Without a document type, only the five predefined entities exist, so that a file cannot make the
parser read another file or use unbounded memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar
from xml.parsers import expat

from ..reading import RefusedError

MAX_DEPTH = 250
"""Maximum nesting of elements; readers recurse for each level of subprocesses."""


T = TypeVar("T")


@dataclass(eq=False)
class Element:
    """An element of a file, without the prefix of its name."""

    kind: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    """The text before the first child."""
    inside: list[Element] = field(default_factory=list)

    def get(self, name: str) -> str:
        """Return an attribute; an empty text if it is not there."""
        return self.attributes.get(name, "")

    def flag(self, name: str, default: bool = False) -> bool:
        """Return whether an attribute is true."""
        value = self.attributes.get(name)
        return default if value is None else value.strip().lower() in ("true", "1")

    def children(self, *kinds: str) -> list[Element]:
        """Return the children of some kinds, in the order of the file."""
        return [child for child in self.inside if child.kind in kinds]

    def refer(self, attribute: str, known: Mapping[str, T]) -> T:
        """Return the element that an attribute refers to."""
        key = self.get(attribute)
        if key not in known:
            unknown = RefusedError("model.no_node", self.line, id=key, attribute=attribute)
            raise unknown.advise(key, known)
        return known[key]

    def below(self, kind: str) -> Iterator[Element]:
        """Yield all elements of a kind inside this one, however deep."""
        for child in self.inside:
            if child.kind == kind:
                yield child
            yield from child.below(kind)


def parse(content: bytes) -> Element:
    """Parse XML to its root element."""
    parser = expat.ParserCreate()
    parser.buffer_text, parser.buffer_size = True, 1 << 20
    document = Element("", {}, 1)
    path = [document]

    def start(name: str, attributes: dict[str, str]) -> None:
        line = parser.CurrentLineNumber
        if len(path) > MAX_DEPTH:
            raise RefusedError("model.xml.depth", line, limit=MAX_DEPTH)
        element = Element(name.rpartition(":")[2], attributes, line)
        path[-1].inside.append(element)
        path.append(element)

    def add_text(text: str) -> None:
        if not path[-1].inside:
            path[-1].text += text

    def refuse_doctype(*declared: object) -> None:
        raise RefusedError("model.xml.doctype", parser.CurrentLineNumber)

    parser.StartDoctypeDeclHandler = refuse_doctype
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: path.pop()
    parser.CharacterDataHandler = add_text
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise RefusedError("model.xml.broken", error.lineno, reason=reason) from None
    except (ValueError, LookupError):
        raise RefusedError("model.xml.encoding", None) from None
    return document.inside[0]


def flat(text: str) -> str:
    """Return a name on one line, without the line breaks and indentation of an editor."""
    return " ".join(text.split())
