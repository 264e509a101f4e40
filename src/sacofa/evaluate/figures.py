"""Figures in the form of the paper's: box plots per log and ε, the original log as a line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..base.files import write_whole
from .extras import optional_module
from .registry import BY_NAME
from .runs import ORIGINAL
from .summary import Summary

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442")
"""Told apart by people who see colours differently (Okabe and Ito)."""


def draw_boxes(
    summary: Summary, measure: str, folder: Path, name: str, series: Sequence[str] | None = None
) -> None:
    """Draw one measure for all logs, one panel each, as NAME.svg and NAME.png."""
    figure_class = optional_module("matplotlib.figure").Figure
    matplotlib = optional_module("matplotlib")
    shown = list(series if series is not None else summary.series())
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
            with write_whole(folder / f"{name}.{kind}", force=True) as part:
                figure.savefig(part, format=kind, **extra)


def _draw_panel(panel: Any, summary: Summary, measure: str, log: str, shown: list[str]) -> None:
    epsilons = summary.epsilons(log)
    width = 0.8 / max(1, len(shown))
    for i, series in enumerate(shown):
        colour = COLOURS[i % len(COLOURS)]
        panel.plot([], [], "s", color=colour, label=series)
        for place, epsilon in enumerate(epsilons):
            values = summary.values(measure, log, series, epsilon)
            if values:
                panel.boxplot(
                    [values],
                    positions=[place + (i - (len(shown) - 1) / 2) * width],
                    widths=0.8 * width,
                    whis=(0, 100),
                    patch_artist=True,
                    boxprops={"facecolor": colour, "alpha": 0.6, "linewidth": 0.8},
                    medianprops={"color": "black", "linewidth": 1.2},
                    whiskerprops={"linewidth": 0.8},
                    capprops={"linewidth": 0.8},
                )
    original = summary.values(measure, log, ORIGINAL)
    if original:
        panel.axhline(
            original[0], color="black", linestyle="--", linewidth=0.8, label="original log"
        )
    panel.set_title(log)
    panel.set_xticks(range(len(epsilons)), [f"ε = {epsilon}" for epsilon in epsilons])
    panel.set_xlim(-0.6, len(epsilons) - 0.4)
    panel.set_ylim(-0.02, 1.02)
