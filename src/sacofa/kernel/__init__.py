"""The trusted kernel: the only code that reads confidential cases and draws noise.

It imports NumPy and the standard library only. Read it in this order:

* unit, epsilon, accounting: what is protected, and the privacy budget that a run spends;
* variants, cases, attributes, released: cases as a mechanism is given them, and as it returns them;
* queries: what can be asked of cases, each a table with a declared sensitivity;
* session: spends the budget for a query, then answers it through noise;
* noise, reals, bits: exact noise from the random bits of the operating system;
* language, counting: sets of sequences that can be counted and sampled without listing them;
* errors: the refusals of the kernel.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .accounting import Access, Leak, Spend
    from .cases import CaseBatch, Cases
    from .epsilon import Epsilon, parse_epsilon
    from .noise import Noise
    from .queries.flow import ActivityVotes, CaseCount, CaseLengths, NearestCandidate, StepVotes
    from .queries.histogram import AllSequences, Histogram
    from .queries.protocol import Answer, Query, SparseQuery
    from .session import Session
    from .unit import ONE_CASE, Unit
    from .variants import VariantCounts

_HOMES = {
    ".accounting": "Access Leak Spend",
    ".cases": "CaseBatch Cases",
    ".epsilon": "Epsilon parse_epsilon",
    ".noise": "Noise",
    ".queries.flow": "ActivityVotes CaseCount CaseLengths NearestCandidate StepVotes",
    ".queries.histogram": "AllSequences Histogram",
    ".queries.protocol": "Answer Query SparseQuery",
    ".session": "Session",
    ".unit": "ONE_CASE Unit",
    ".variants": "VariantCounts",
}
"""The modules of the public names, which are loaded when a name is first used: errors, which every
command needs, must not load NumPy."""

__all__ = [
    "ONE_CASE", "Access", "ActivityVotes", "AllSequences", "Answer", "CaseBatch", "CaseCount",
    "CaseLengths", "Cases", "Epsilon", "Histogram", "Leak", "NearestCandidate", "Noise",
    "Query", "Session", "SparseQuery", "Spend", "StepVotes", "Unit", "VariantCounts",
    "parse_epsilon",
]  # fmt: skip


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names.split():
            globals()[name] = found = getattr(import_module(home, __name__), name)
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
