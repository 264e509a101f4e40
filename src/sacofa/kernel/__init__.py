"""The trusted kernel: the only code that reads confidential cases and draws noise.

It imports NumPy and the standard library only. Read it in this order:

* unit, accounting: the unit of privacy, and the privacy budget that a run spends;
* variants, cases, attributes: the representations of cases;
* queries: the queries on cases, each a table with a declared sensitivity;
* session: spends the budget for a query, then answers it through noise;
* laws, noise, reals, bits: exact noise from the random bits of the operating system;
* language: sets of sequences that can be counted and sampled without listing them;
* statements: facts as values, and the refusals of the kernel.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .accounting import Access, Leak, Spend
    from .cases import CaseBatch, Cases
    from .noise import Noise
    from .queries.flow import ActivityVotes, CaseCount, CaseLengths, NearestCandidate, StepVotes
    from .queries.histogram import AllSequences, Histogram
    from .queries.protocol import Answer, Query, SparseQuery
    from .session import Session
    from .unit import ONE_CASE, Unit
    from .variants import VariantCounts

_HOMES = ("accounting", "unit", "variants", "cases", "noise", "session", "queries.protocol",
          "queries.flow", "queries.histogram")  # fmt: skip
"""Modules of the public names, imported on first use: errors must not import NumPy."""

__all__ = [
    "ONE_CASE", "Access", "ActivityVotes", "AllSequences", "Answer", "CaseBatch", "CaseCount",
    "CaseLengths", "Cases", "Histogram", "Leak", "NearestCandidate", "Noise",
    "Query", "Session", "SparseQuery", "Spend", "StepVotes", "Unit", "VariantCounts",
]  # fmt: skip


def __getattr__(name: str) -> object:
    for home in _HOMES if name in __all__ else ():
        if hasattr(module := import_module(f".{home}", __name__), name):
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
