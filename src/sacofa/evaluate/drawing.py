"""Figures of experiments: box plots in the form of the SaCoFa paper's, and process models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from ..base.files import write_whole
from .extras import optional_module
from .measures.model import Model
from .registry import BY_NAME
from .runs import ORIGINAL, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pygraphviz import AGraph

SERIES_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442")
"""Distinguishable with any colour vision (Okabe and Ito)."""
THIN = {"linewidth": 0.8}


def draw_boxes(
    summary: Summary, measure: str, path: Path, series: Sequence[str] | None = None
) -> None:
    """Draw one measure of all series, or of some, as PATH.svg and PATH.png."""
    figure_class = optional_module("matplotlib.figure").Figure
    matplotlib = optional_module("matplotlib")
    shown = summary.series if series is None else series
    logs = summary.logs
    with matplotlib.rc_context({"svg.hashsalt": "sacofa", "font.size": 9}):
        figure = figure_class(figsize=(1.2 + 3.2 * len(logs), 3.4), layout="constrained")
        panels = figure.subplots(1, len(logs), sharey=True, squeeze=False)[0]
        for panel, log in zip(panels, logs, strict=True):
            _draw_panel(panel, summary, measure, log, shown)
        panels[0].set_ylabel(BY_NAME[measure].title)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
        for kind, extra in (("svg", {"metadata": {"Date": None}}), ("png", {"dpi": 150})):
            with write_whole(f"{path}.{kind}", force=True) as part:
                figure.savefig(part, format=kind, **extra)


def _draw_panel(
    panel: Axes, summary: Summary, measure: str, log: str, shown: Sequence[str]
) -> None:
    """Draw one log: a group of boxes for each ε, the original as a line."""
    epsilons = summary.epsilons(log)
    width = 0.8 / max(1, len(shown))
    for i, series in enumerate(shown):
        colour = SERIES_COLOURS[i % len(SERIES_COLOURS)]
        panel.plot([], [], "s", color=colour, label=series)
        found = {
            place + (i - (len(shown) - 1) / 2) * width: values
            for place, epsilon in enumerate(epsilons)
            if (values := summary.values(measure, log, series, epsilon))
        }
        panel.boxplot(
            [*found.values()],
            positions=[*found],
            widths=0.8 * width,
            whis=(0, 100),
            patch_artist=True,
            boxprops={"facecolor": colour, "alpha": 0.6, **THIN},
            medianprops={"color": "black", "linewidth": 1.2},
            whiskerprops=THIN,
            capprops=THIN,
        )
    for value in summary.values(measure, log, ORIGINAL)[:1]:
        panel.axhline(value, color="black", linestyle="--", label="original log", **THIN)
    panel.set_title(log)
    panel.set_xticks(range(len(epsilons)), [f"ε = {epsilon}" for epsilon in epsilons])
    panel.set_xlim(-0.6, len(epsilons) - 0.4)
    panel.set_ylim(-0.02, 1.02)


def draw_models(models: Mapping[str, Model], folder: Path, name: str) -> None:
    """Draw Petri nets next to each other, each below its title, as NAME.svg and NAME.png."""
    graphs = optional_module("pygraphviz", extra="map")
    drawing = graphs.AGraph(directed=True, newrank=True, fontname="Helvetica", fontsize="20")
    drawing.node_attr.update(fontname="Helvetica", fontsize="11")
    for number, (title, model) in enumerate(models.items()):
        part = drawing.subgraph(name=f"cluster_{number}", label=title, color="grey80")
        _add_net(part, model, f"{number}:")
    for kind in ("svg", "png"):
        with write_whole(folder / f"{name}.{kind}", force=True) as path:
            # pygraphviz contains the layout: no program outside Python is called.
            path.write_bytes(drawing.draw(format=kind, prog="dot"))


def _add_net(part: AGraph, model: Model, prefix: str) -> None:
    small = {"label": "", "width": 0.25, "fixedsize": True, "fillcolor": "grey85"}
    for place in sorted(model.net.places, key=lambda p: str(p.name)):
        shape = "doublecircle" if place in model.final else "circle"
        style = "filled" if place in model.initial or place in model.final else "solid"
        part.add_node(f"{prefix}{place.name}", shape=shape, style=style, **small)
    silent = {"style": "filled", "fillcolor": "black", "label": "", "width": 0.1, "height": 0.3}
    for transition in sorted(model.net.transitions, key=lambda t: str(t.name)):
        node, label = f"{prefix}t:{transition.name}", transition.label
        options = silent if label is None else {"label": "\n".join(wrap(label, 22))}
        part.add_node(node, shape="box", **options)
        for arc in transition.in_arcs:
            part.add_edge(f"{prefix}{arc.source.name}", node)
        for arc in transition.out_arcs:
            part.add_edge(node, f"{prefix}{arc.target.name}")
