"""Reports, figures and notebook displays of releases; confidential comparisons."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .build import Facts, make_internal_report, make_report
    from .comparison import ComparisonTable, read_comparison
    from .figures import ReleasedFigure, list_figures, write_figures

_HOMES = ("build", "comparison", "figures")
"""Modules of the public names, imported on first use: few callers need pages or templates."""

__all__ = [
    "ComparisonTable", "Facts", "ReleasedFigure", "list_figures", "make_internal_report",
    "make_report", "read_comparison", "write_figures",
]  # fmt: skip


def __getattr__(name: str) -> object:
    for home in _HOMES if name in __all__ else ():
        if hasattr(module := import_module(f".{home}", __name__), name):
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
