"""PNML files as ProM, WoPeD and pm4py write them: place/transition nets.

The end is what the file says (`finalmarkings`), else a token on the only place that nothing leaves;
likewise the beginning. Arcs that reset or inhibit are understood; coloured nets are not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ...errors import Statement
from ..refusal import RefusedError
from .net import MAX_PARTS, Net, NetBuilder, Part
from .xml import Element, flat

INVISIBLE = "$invisible$"
"""What ProM and pm4py write for a silent transition."""
SILENT_NAMES = ("", "τ", "tau")
PLACES = ("place", "referencePlace")
TRANSITIONS = ("transition", "referenceTransition")
ARC_TABLES = {"reset": "clears", "inhibitor": "empty"}
"""Arcs from a place that do not take a token, and what of the transition they are."""
MAX_TOKENS = 15


def net_of_pnml(root: Element) -> Net:
    """Read the net of a file."""
    nets = root.children("net")
    if len(nets) != 1:
        raise RefusedError("model.pnml.nets", root.line, count=len(nets))
    return _Reader(nets[0]).net()


class _Reader:
    """Reads one net."""

    def __init__(self, net: Element) -> None:
        self.element = net
        self.builder = NetBuilder()
        self.parts = list(_on_pages(net))
        self.nodes: dict[str, Element] = {}
        for element in self.parts:
            if element.kind in PLACES + TRANSITIONS:
                self._keep(element)
        self.places = {
            key: self.builder.place(_named("model.place", key, element), element.line)
            for key, element in self.nodes.items()
            if element.kind == "place"
        }

    def _keep(self, element: Element) -> None:
        key = element.get("id")
        if not key or key in self.nodes:
            raise RefusedError("model.pnml.own_id", element.line, kind=element.kind, id=key)
        if len(self.nodes) >= 2 * MAX_PARTS:
            raise RefusedError("model.too_many_parts", element.line, limit=2 * MAX_PARTS)
        self.nodes[key] = element

    def net(self) -> Net:
        """Put the net together."""
        arcs = self._arcs()
        for key, element in self.nodes.items():
            if element.kind == "transition":
                part = Part(what=_named("model.transition", key, element), line=element.line)
                tables = arcs[key]
                self.builder.add(
                    part,
                    tables["takes"],
                    tables["gives"],
                    _label(element),
                    tables["clears"],
                    tables["empty"],
                )
        return self.builder.net(self._start(), self._ends())

    def _arcs(self) -> defaultdict[str, defaultdict[str, list[int]]]:
        """Find the places of each transition, by what it does with them."""
        found: defaultdict[str, defaultdict[str, list[int]]] = defaultdict(
            lambda: defaultdict(list)
        )
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

    def _start(self) -> list[int]:
        """Return where tokens lie at the beginning."""
        marked = []
        for key, place in self.places.items():
            element = self.nodes[key]
            marked += [place] * _number(element, _text(element, "initialMarking") or "0")
        if marked:
            return marked
        given = {place for step in self.builder.transitions for place in step.gives}
        return [self._only_without(given, "model.pnml.no_start")]

    def _ends(self) -> list[tuple[int, ...]]:
        """Return where tokens lie at the end."""
        found = [
            tuple(token for place in marking.children("place") for token in self._tokens(place))
            for markings in self.element.below("finalmarkings")
            for marking in markings.children("marking")
        ]
        if found:
            return found
        taken = {place for step in self.builder.transitions for place in step.takes}
        return [(self._only_without(taken, "model.pnml.no_end"),)]

    def _tokens(self, element: Element) -> list[int]:
        """Return the tokens on a place of a final marking."""
        key = element.get("idref")
        if key not in self.places:
            raise RefusedError("model.pnml.no_place", element.line, id=key).advise(key, self.places)
        return [self.places[key]] * _number(element, _text(element, "text") or "1")

    def _only_without(self, used: set[int], code: str) -> int:
        """Return the one place that can be meant where the file has no marking."""
        left = set(self.places.values()) - used
        if len(left) != 1:
            raise RefusedError(code, self.element.line, places=len(left))
        return left.pop()

    def _resolve(self, arc: Element, end: str) -> str:
        """Find what an arc connects, through references."""
        key, seen = arc.get(end), set[str]()
        while True:
            if key not in self.nodes:
                raise RefusedError("model.no_node", arc.line, id=key, attribute=end).advise(
                    key, self.nodes
                )
            if not self.nodes[key].kind.startswith("reference"):
                return key
            if key in seen:
                raise RefusedError("model.pnml.circle", arc.line, attribute=end)
            seen.add(key)
            key = self.nodes[key].get("ref")


def _on_pages(element: Element) -> Iterator[Element]:
    """Yield what belongs to the net itself or to its pages, not to a tool's own section."""
    for child in element.inside:
        yield child
        if child.kind == "page":
            yield from _on_pages(child)


def _named(code: str, key: str, element: Element) -> Statement:
    return Statement(code, name=_text(element, "name") or key)


def _label(element: Element) -> str | None:
    """Return the activity of a transition, if it is not silent."""
    if any(tool.get("activity") == INVISIBLE for tool in element.children("toolspecific")):
        return None
    name = _text(element, "name")
    return None if name.lower() in SILENT_NAMES else name


def _number(element: Element, text: str) -> int:
    """Read a small whole number."""
    # WoPeD and PIPE write "Default,1".
    text = text.rpartition(",")[2].strip()
    if not (text.isascii() and text.isdigit() and len(text) < 4 and int(text) <= MAX_TOKENS):
        raise RefusedError("model.pnml.tokens", element.line, given=text, limit=MAX_TOKENS)
    return int(text)


def _text(element: Element, *kinds: str) -> str:
    """Return the text of a child: <name><text>A</text></name>, or <name>A</name>."""
    for child in element.children(*kinds):
        inner = [*child.children("text"), *child.children("value"), child]
        return flat(inner[0].text)
    return ""
