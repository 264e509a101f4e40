"""PNML files as ProM, WoPeD and pm4py write them: place/transition nets.

The end is what the file says (`finalmarkings`), else a token on the only place that nothing leaves;
likewise the beginning. Arcs that reset or inhibit are understood; coloured nets are not.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, NoReturn

from ...errors import RulesError, nearest
from .net import MAX_PARTS, Net, NetBuilder, Part
from .xml import children, flat, kind, line

INVISIBLE = "$invisible$"
"""What ProM and pm4py write for a silent transition."""
SILENT_NAMES = ("", "τ", "tau")
PLACES = ("place", "referencePlace")
TRANSITIONS = ("transition", "referenceTransition")
MOST = 15


def net_of_pnml(path: str | Path, root: Any) -> Net:
    """Read the net of a file."""
    nets = children(root, "net")
    if len(nets) != 1:
        raise RulesError(path, line(root), f"{len(nets)} nets in the file, not one")
    return _Reader(path, nets[0]).net()


class _Reader:
    """One PNML net in the reading."""

    def __init__(self, path: str | Path, net: Any) -> None:
        self.path = path
        self.element = net
        self.made = NetBuilder(path)
        found = (e for e in net.iter() if isinstance(e.tag, str))
        self.parts = [e for e in found if _inside_pages(e, net)]
        self.ids: dict[str, Any] = {}
        for element in self.parts:
            if kind(element) in PLACES + TRANSITIONS:
                key = element.get("id") or ""
                if not key or key in self.ids:
                    self.refuse(element, f'<{kind(element)}> needs an id of its own, not "{key}"')
                self.ids[key] = element
                if len(self.ids) > 2 * MAX_PARTS:
                    self.refuse(element, f"more than {2 * MAX_PARTS:,} places and transitions")

    def net(self) -> Net:
        """Put the net together."""
        places, counts = {}, Counter[int]()
        for key, element in self.ids.items():
            if kind(element) == "place":
                places[key] = self.made.place(f'place "{_name(element) or key}"', line(element))
                counts[places[key]] = self.tokens(element, "initialMarking")
        takes: dict[str, list[int]] = {}
        gives: dict[str, list[int]] = {}
        clears: dict[str, list[int]] = {}
        empty: dict[str, list[int]] = {}
        for arc in (part for part in self.parts if kind(part) == "arc"):
            source, target = (self.resolve(arc, end) for end in ("source", "target"))
            sort = _text(arc, "arctype", "type").lower()
            if (source in places) == (target in places):
                self.refuse(arc, "an arc leads from a place to a transition, or back")
            if source in places:
                table = clears if sort == "reset" else empty if sort == "inhibitor" else takes
                table.setdefault(target, []).extend([places[source]] * self.weight(arc))
            elif sort in ("reset", "inhibitor"):
                self.refuse(arc, f"an arc that is called {sort} leads from a place")
            else:
                gives.setdefault(source, []).extend([places[target]] * self.weight(arc))
        names = Counter[str]()
        for key, element in self.ids.items():
            if kind(element) == "transition":
                label = self.label(element)
                names.update([label] if label else [])
                part = Part(what=f'transition "{_name(element) or key}"', line=line(element))
                tables = (clears.get(key, ()), empty.get(key, ()))
                self.made.add(part, takes.get(key, ()), gives.get(key, ()), label, *tables)
        self.made.note_merged("transitions", names)
        if not names:
            self.refuse(self.element, "no transition has a name")
        return self.made.net(self.start(counts), self.ends(places))

    def start(self, counts: Counter[int]) -> list[int]:
        """Where tokens lie at the beginning."""
        marked = [place for place, times in counts.items() for _ in range(times)]
        if marked:
            return marked
        given = {place for step in self.made.transitions for place in step.gives}
        return [self.only(set(range(len(self.made.places))) - given, "initialMarking", "leads to")]

    def ends(self, places: dict[str, int]) -> list[tuple[int, ...]]:
        """Where tokens lie at the end."""
        found = []
        for marking in self.element.iter("{*}finalmarkings"):
            for one in children(marking, "marking"):
                tokens: list[int] = []
                for element in children(one, "place"):
                    key = element.get("idref") or ""
                    if key not in places:
                        self.refuse(element, f'no place "{key}".{nearest(key, places)}')
                    tokens += [places[key]] * self.number(element, _text(element, "text") or "1")
                found.append(tuple(tokens))
        if found:
            return found
        taken = {place for step in self.made.transitions for place in step.takes}
        return [(self.only(set(range(len(self.made.places))) - taken, "finalmarkings", "leaves"),)]

    def only(self, places: set[int], missing: str, verb: str) -> int:
        """The one place that can be meant where a marking is not said."""
        if len(places) != 1:
            what = f"no {missing}, and {len(places)} places that nothing {verb}, not one"
            self.refuse(self.element, what)
        return places.pop()

    def resolve(self, arc: Any, end: str) -> str:
        """Find what an arc connects, through references."""
        key = arc.get(end) or ""
        seen: set[str] = set()
        while True:
            if key not in self.ids:
                self.refuse(arc, f'no node "{key}" ({end}).{nearest(key, self.ids)}')
            if not kind(self.ids[key]).startswith("reference"):
                return key
            if key in seen:
                self.refuse(arc, f"its {end} is a reference that leads in circles")
            seen.add(key)
            key = self.ids[key].get("ref") or ""

    def weight(self, arc: Any) -> int:
        """How many tokens an arc moves."""
        return max(self.number(arc, _text(arc, "inscription") or "1"), 1)

    def tokens(self, place: Any, kind_of_marking: str) -> int:
        """How many tokens a place has."""
        return self.number(place, _text(place, kind_of_marking) or "0")

    def number(self, element: Any, text: str) -> int:
        """A small whole number."""
        # WoPeD and PIPE write "Default,1".
        text = text.rpartition(",")[2].strip()
        if not (text.isascii() and text.isdigit() and len(text) < 4 and int(text) <= MOST):
            self.refuse(element, f'"{text}" tokens: a whole number up to {MOST} is understood')
        return int(text)

    def label(self, element: Any) -> str | None:
        """The activity of a transition, if it is not silent."""
        tools = children(element, "toolspecific")
        if any(tool.get("activity") == INVISIBLE for tool in tools):
            return None
        name = _name(element)
        return None if name.lower() in SILENT_NAMES else name

    def refuse(self, element: Any, what: str) -> NoReturn:
        """Say what is wrong and where."""
        raise RulesError(self.path, line(element), what)


def _inside_pages(element: Any, net: Any) -> bool:
    """Whether an element belongs to the net itself or to its pages, not to a tool's own section."""
    parent = element.getparent()
    while parent is not None and parent is not net:
        if kind(parent) != "page":
            return False
        parent = parent.getparent()
    return parent is net


def _name(element: Any) -> str:
    return _text(element, "name")


def _text(element: Any, *names: str) -> str:
    """The text inside one of some elements: <name><text>A</text></name>, or <name>A</name>."""
    for child in children(element, *names):
        inner = [*children(child, "text"), *children(child, "value"), child]
        return flat(inner[0].text)
    return ""
