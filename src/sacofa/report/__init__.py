"""Pages and tables that people read: what a release holds, promises, and compares to (secret)."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .build import make_internal_report, make_report
    from .comparison import ComparisonTable, read_comparison
    from .facts import Facts
    from .figures import ReleasedFigure, list_figures
    from .figures_file import write_figures

_HOMES = {
    "ComparisonTable": ".comparison",
    "Facts": ".facts",
    "ReleasedFigure": ".figures",
    "list_figures": ".figures",
    "make_internal_report": ".build",
    "make_report": ".build",
    "read_comparison": ".comparison",
    "write_figures": ".figures_file",
}
"""Where the names are at home. They are loaded when they are first used: most of those who take one
part of this package, such as the words for a price, make no page and need no templates."""


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = getattr(import_module(_HOMES[name], __name__), name)
    return found


__all__ = [
    "ComparisonTable", "Facts", "ReleasedFigure", "list_figures", "make_internal_report",
    "make_report", "read_comparison", "write_figures",
]  # fmt: skip
