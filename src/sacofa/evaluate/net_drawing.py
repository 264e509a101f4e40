"""Draws process models side by side, as SVG and PNG."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any

from ..base.files import write_whole
from .extras import optional_module
from .measures.model import Model


def draw_models(models: Mapping[str, Model], folder: Path, name: str) -> None:
    """Draw Petri nets one beside the other, each under its title, as NAME.svg and NAME.png."""
    graphs = optional_module("pygraphviz", extra="map")
    drawing = graphs.AGraph(directed=True, newrank=True, fontname="Helvetica", fontsize="20")
    drawing.node_attr.update(fontname="Helvetica", fontsize="11")
    for number, (title, model) in enumerate(models.items()):
        part = drawing.subgraph(name=f"cluster_{number}", label=title, color="grey80")
        _add_net(part, model, f"{number}:")
    for kind in ("svg", "png"):
        with write_whole(folder / f"{name}.{kind}", force=True) as path:
            # Graphviz lays out by itself: no program outside Python is called.
            path.write_bytes(drawing.draw(format=kind, prog="dot"))


def _add_net(part: Any, model: Model, prefix: str) -> None:
    for place in sorted(model.net.places, key=lambda p: str(p.name)):
        role = "filled" if place in model.initial or place in model.final else "solid"
        part.add_node(
            f"{prefix}{place.name}",
            shape="doublecircle" if place in model.final else "circle",
            style=role,
            fillcolor="grey85",
            label="",
            width=0.25,
            fixedsize=True,
        )
    for transition in sorted(model.net.transitions, key=lambda t: str(t.name)):
        node = f"{prefix}t:{transition.name}"
        if transition.label is None:
            part.add_node(node, shape="box", style="filled", fillcolor="black", label="",
                          width=0.1, height=0.3)  # fmt: skip
        else:
            part.add_node(node, shape="box", label="\n".join(wrap(transition.label, 22)))
        for arc in transition.in_arcs:
            part.add_edge(f"{prefix}{arc.source.name}", node)
        for arc in transition.out_arcs:
            part.add_edge(node, f"{prefix}{arc.target.name}")
