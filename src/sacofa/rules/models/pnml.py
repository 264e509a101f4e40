"""PNML files as ProM, WoPeD and pm4py write them: place/transition nets.

The end is declared in the file (`finalmarkings`); otherwise, it is a token on the only place
without outgoing arcs, and likewise for the beginning. Reset and inhibitor arcs are supported;
coloured nets are not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from ...errors import Statement
from ..reading import RefusedError
from .net import MAX_TOKENS, Net, Part, numbers_of, tokens
from .xml import Element, flat

INVISIBLE = "$invisible$"
"""The activity that ProM and pm4py write for a silent transition."""
SILENT_NAMES = ("", "τ", "tau")
NODES = ("place", "transition", "referencePlace", "referenceTransition")
ARC_TABLES = {"reset": "clears", "inhibitor": "empty"}
"""Arcs from a place that do not take a token, and the attribute of the transition for each."""
Arcs = defaultdict[str, defaultdict[str, list[int]]]
"""The places of each transition, by attribute."""


def net_of_pnml(root: Element) -> Net:
    """Read the net of a file."""
    nets = root.children("net")
    if len(nets) != 1:
        raise RefusedError("model.pnml.nets", root.line, count=len(nets))
    return _Reader(nets[0]).read()


class _Reader:
    """Reads one net."""

    def __init__(self, element: Element) -> None:
        self.element, self.net = element, Net()
        self.parts = list(_on_pages(element))
        self.nodes: dict[str, Element] = {}
        self.places: dict[str, int] = {}

    def read(self) -> Net:
        for element in filter(lambda part: part.kind in NODES, self.parts):
            key = element.get("id")
            if not key or key in self.nodes:
                raise RefusedError("model.pnml.own_id", element.line, kind=element.kind, id=key)
            self.nodes[key] = element
        for key, element in self.nodes.items():
            if element.kind == "place":
                self.places[key] = self.net.place(_part("model.place", key, element))
        arcs = self._arcs()
        for key, element in self.nodes.items():
            if element.kind == "transition":
                part = _part("model.transition", key, element)
                label = _label(element)
                takes, gives = (tokens(arcs[key][way], part.line) for way in ("takes", "gives"))
                clears, empty = (sum(set(arcs[key][way])) for way in ("clears", "empty"))
                self.net.add(part, takes, gives, label, clears=clears, empty=empty)
        self.net.start, self.net.ends = self._start(), self._ends()
        return self.net

    def _arcs(self) -> Arcs:
        found: Arcs = defaultdict(lambda: defaultdict(list))
        for arc in self.parts:
            if arc.kind != "arc":
                continue
            source, target = self._resolve(arc, "source"), self._resolve(arc, "target")
            sort = _text(arc, "arctype", "type").lower()
            if (source in self.places) == (target in self.places):
                raise RefusedError("model.pnml.arc", arc.line)
            weight = max(_number(arc, _text(arc, "inscription") or "1"), 1)
            if source in self.places:
                table = ARC_TABLES.get(sort, "takes")
                found[target][table] += [self.places[source]] * weight
            elif sort in ARC_TABLES:
                raise RefusedError("model.pnml.arc_from_place", arc.line, kind=sort)
            else:
                found[source]["gives"] += [self.places[target]] * weight
        return found

    def _start(self) -> int:
        start = 0
        for key, place in self.places.items():
            element = self.nodes[key]
            start += place * _number(element, _text(element, "initialMarking") or "0")
        return start or self._only_without(
            (step.gives for step in self.net.transitions), "model.pnml.no_start"
        )

    def _ends(self) -> list[int]:
        found = []
        for markings in self.element.below("finalmarkings"):
            for marking in markings.children("marking"):
                places: list[int] = []
                for each in marking.children("place"):
                    key = each.get("idref")
                    if key not in self.places:
                        unknown = RefusedError("model.pnml.no_place", each.line, id=key)
                        raise unknown.advise(key, self.places)
                    places += [self.places[key]] * _number(each, _text(each, "text") or "1")
                found.append(tokens(places, marking.line))
        return found or [
            self._only_without((step.takes for step in self.net.transitions), "model.pnml.no_end")
        ]

    def _only_without(self, used: Iterable[int], code: str) -> int:
        """Return the only place without such arcs, if the file declares no marking."""
        numbers = {number for marking in used for number in numbers_of(marking)}
        left = [place for number, place in enumerate(self.places.values()) if number not in numbers]
        if len(left) != 1:
            raise RefusedError(code, self.element.line, places=len(left))
        return left[0]

    def _resolve(self, arc: Element, end: str) -> str:
        """Resolve the node at one end of an arc, through references."""
        node, seen = arc.refer(end, self.nodes), set[str]()
        while node.kind.startswith("reference"):
            if node.get("id") in seen:
                raise RefusedError("model.pnml.circle", arc.line, attribute=end)
            seen.add(node.get("id"))
            node = node.refer("ref", self.nodes)
        return node.get("id")


def _on_pages(element: Element) -> Iterator[Element]:
    """Yield the elements of the net and its pages, without sections of tools."""
    for child in element.inside:
        yield child
        if child.kind == "page":
            yield from _on_pages(child)


def _part(code: str, key: str, element: Element) -> Part:
    return Part(what=Statement(code, name=_text(element, "name") or key), line=element.line)


def _label(element: Element) -> str | None:
    """Return the activity of a transition, if it is not silent."""
    tools = [tool.get("activity") for tool in element.children("toolspecific")]
    name = _text(element, "name")
    return None if INVISIBLE in tools or name.lower() in SILENT_NAMES else name


def _number(element: Element, text: str) -> int:
    # WoPeD and PIPE write "Default,1".
    text = text.rpartition(",")[2].strip()
    if not (text.isascii() and text.isdigit() and len(text) < 4 and int(text) <= MAX_TOKENS):
        raise RefusedError("model.pnml.tokens", element.line, given=text, limit=MAX_TOKENS)
    return int(text)


def _text(element: Element, *kinds: str) -> str:
    """Return the text of a child: <name><text>A</text></name>, or <name>A</name>."""
    for child in element.children(*kinds):
        return flat([*child.children("text"), *child.children("value"), child][0].text)
    return ""
