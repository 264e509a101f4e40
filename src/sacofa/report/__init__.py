"""Pages that people read: what a release holds and promises, and how it compares (secret)."""

from .build import make_internal_report, make_report
from .comparison import ComparisonTable, read_comparison
from .facts import Facts

__all__ = [
    "ComparisonTable",
    "Facts",
    "make_internal_report",
    "make_report",
    "read_comparison",
]
