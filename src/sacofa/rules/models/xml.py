"""XML of strangers as plain values: a document type is refused, and nothing is followed or filled.

Without a document type there are no entities but the five of XML itself, so that a file cannot make
the parser read another file or grow without bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from ..refusal import RefusedError

MAX_DEPTH = 250
"""Elements may be nested this deep; a reader calls itself for each level of subprocesses."""


@dataclass(eq=False)
class Element:
    """An element of a file, without the prefix of its name."""

    kind: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    """The text before the first child."""
    inside: list[Element] = field(default_factory=list)

    def get(self, name: str, default: str = "") -> str:
        """Return an attribute."""
        return self.attributes.get(name, default)

    def flag(self, name: str, default: bool = False) -> bool:
        """Return whether an attribute is true."""
        value = self.attributes.get(name)
        return default if value is None else value.strip().lower() in ("true", "1")

    @property
    def name(self) -> str:
        """The attribute `name` on one line."""
        return flat(self.get("name"))

    def children(self, *kinds: str) -> list[Element]:
        """Return the children of some kinds, in the order of the file."""
        return [child for child in self.inside if child.kind in kinds]

    def below(self, *kinds: str) -> Iterator[Element]:
        """Yield all elements of some kinds inside this one, however deep."""
        for child in self.inside:
            if child.kind in kinds:
                yield child
            yield from child.below(*kinds)


def parse(content: bytes) -> Element:
    """Parse XML to its root element."""
    builder = _Builder()
    try:
        builder.parser.Parse(content, True)
    except expat.ExpatError as error:
        raise RefusedError(
            "model.xml.broken", error.lineno, reason=expat.ErrorString(error.code)
        ) from None
    except (ValueError, LookupError):
        raise RefusedError("model.xml.encoding", None) from None
    return builder.document.inside[0]


def flat(text: str) -> str:
    """Return a name on one line, without the line breaks and indentation of an editor."""
    return " ".join(text.split())


class _Builder:
    """Collects what the parser reports."""

    def __init__(self) -> None:
        self.document = Element("", {}, 1)
        self.open = [self.document]
        self.parser = expat.ParserCreate()
        self.parser.buffer_text, self.parser.buffer_size = True, 1 << 20
        self.parser.StartDoctypeDeclHandler = self.refuse_doctype
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.add_text

    def refuse_doctype(self, *declared: object) -> None:
        raise RefusedError("model.xml.doctype", self.parser.CurrentLineNumber)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        if len(self.open) > MAX_DEPTH:
            raise RefusedError("model.xml.depth", line, limit=MAX_DEPTH)
        element = Element(name.rpartition(":")[2], attributes, line)
        self.open[-1].inside.append(element)
        self.open.append(element)

    def end(self, name: str) -> None:
        self.open.pop()

    def add_text(self, text: str) -> None:
        if not self.open[-1].inside:
            self.open[-1].text += text
