"""Pages and tables that people read: what a release holds, promises, and compares to (secret)."""

from .build import make_internal_report, make_report
from .comparison import ComparisonTable, read_comparison
from .facts import Facts
from .figures import ReleasedFigure, list_figures
from .figures_file import write_figures

__all__ = [
    "ComparisonTable",
    "Facts",
    "ReleasedFigure",
    "list_figures",
    "make_internal_report",
    "make_report",
    "read_comparison",
    "write_figures",
]
