"""The session: charges for a query first, then answers it with noise.

A mechanism declares its spends in advance, line by line. A query is charged to its line before the
log is accessed; more than was declared is refused, and at the end every line must be spent. The
next query may depend on all earlier answers and on nothing else. So the amounts add up,
post-processing of answers is free, and the certificate states the charges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from .accounting import ZCDP, Access, Budget, Leak, PureDP, Spend, check_noise_fits
from .cases import CaseBatch, Cases
from .language import Word
from .laws import Law
from .noise import Noise
from .queries.protocol import Answer, Ints, Part, Query, Question, SparseQuery
from .statements import PromiseError, Statement
from .unit import Unit
from .variants import DistributedVariants, VariantCounts

PIECE = 200_000
"""Approximate number of events per batch of a table; at least its number of cells."""
# Number of cells per batch of noise: bounds memory, not the result.
TOGETHER = 1 << 20
MAX_SENSITIVITY = 1_000
"""A table of which one case can change more is refused: its noise might not fit a machine word."""


@dataclass(frozen=True, kw_only=True)
class Opened:
    """Counts that were charged for, to be reported with noise on every cell."""

    variants: VariantCounts | DistributedVariants
    """The counts. Confidential."""
    noise: Noise
    """The source of noise."""
    law: Law
    """The noise on every cell: it hides all cases of a unit."""
    threshold: int | None = None
    """The lowest count that may be shown if empty cells get no noise; None: all cells get some."""


class Session:
    """Queries the confidential log for a mechanism, and records every charge and answer."""

    def __init__(
        self, cases: Cases, promised: Sequence[Access], noise: Noise, budget: Budget | None = None
    ) -> None:
        """Open cases, with declared spends, a budget (by default their sum in ε), and the noise."""
        total = sum((a.amount for a in promised if isinstance(a, Spend)), Fraction(0))
        self.budget: Budget = budget or PureDP(total)
        """The maximum sum of all amounts, in ε or ρ."""
        if total > self.budget.amount:
            values = {"total": total, "budget": self.budget.amount}
            raise PromiseError(Statement("promise.over_budget", **values))
        check_noise_fits(promised, cases.unit.max_cases, self.budget)
        self._selection = self.budget.selection
        self._variants = cases.variants
        self._by_case = cases.by_case
        self._whole = cases
        self._left: dict[str, Fraction] = {}
        for access in promised:
            if isinstance(access, Spend):
                # Lines of one name are one line: their amounts add up.
                self._left[access.line] = self._left.get(access.line, Fraction(0)) + access.amount
        self._leaks = {leak.line: leak for leak in promised if isinstance(leak, Leak)}
        self._max_length: int | None = None
        self.noise = noise
        """Source of random bits for post-processing, which never involves counts."""
        self.activities: tuple[str, ...] = cases.variants.activities
        """The names of the activities: public."""
        self.unit: Unit = cases.variants.unit
        """The unit of privacy, to which the cases were bounded when they were read."""
        self.has_starts = cases.has_starts
        """Whether queries may use the start of work: public, because it was declared."""
        self.attributes = cases.attributes
        """The attributes that queries may use, with public domains."""
        self.pairs = cases.pairs
        """Pairs of attributes for joint queries, by index."""
        self.spent: list[Access] = []
        """Every access so far, with its charge."""
        self.answers: list[Answer] = []
        """Every answer so far, with the query."""
        self.transcript: dict[str, object] = {}
        """Every answer so far, by the name of its query."""

    def truncate(self, max_length: int) -> None:
        """Truncate variants from now on, those of just that length too; `by_case` stays whole."""
        self._max_length = max_length
        self._variants = self._variants.truncate(max_length, by_length=True)

    def project_onto(self, activities: Sequence[str]) -> None:
        """Drop the events of all other activities, except for queries about whole cases."""
        self.activities = tuple(activities)
        self._variants = self._variants.project_onto(activities)
        if self._by_case is not None:
            self._by_case = self._by_case.project_onto(activities)

    def ask(self, query: Query, epsilon: Fraction, line: str) -> Ints:
        """Charge for a query, and answer it with noise on every cell."""
        source = self._by_case if query.by_case else self._variants
        names = self.activities
        if getattr(query, "whole", False):
            source, names = self._whole.by_case, self._whole.activities
        if source is None:
            raise PromiseError(Statement("promise.needs_cases", query=query.name))
        self._check(query)
        self.charge(query.what, epsilon, line)
        law = self.law(query, epsilon)
        parts = source.map_parts(partial(_table, query=query))
        noisy = sum(parts, np.zeros(len(query.cells), dtype=np.int64))
        for start in range(0, len(noisy), TOGETHER):
            part = noisy[start : start + TOGETHER]
            part += self.noise.draw(law, len(part))
        keyed = not isinstance(query.cells, range)
        shown = dict(zip(query.cells, noisy.tolist(), strict=True)) if keyed else noisy
        self._record(Answer(query=query, values=noisy, noise=law, activities=names), shown)
        return noisy

    def open(self, query: SparseQuery, epsilon: Fraction, line: str) -> Opened:
        """Charge for counts that are too many to list; the caller adds the noise."""
        self._check(query)
        self.charge(query.what, epsilon, line)
        law, threshold = self.law(query, epsilon), None
        if isinstance(self.budget, ZCDP):
            if not self._selection:
                raise PromiseError(Statement("promise.selection_spent", query=query.name))
            threshold = self.budget.shown_from(law, self.unit.max_cases)
            self._selection = Fraction(0)
        return Opened(variants=self._variants, noise=self.noise, law=law, threshold=threshold)

    def show(self, query: SparseQuery, shown: Mapping[Word, int], law: Law) -> None:
        """Record the reported cells of opened counts."""
        names = self.activities
        self._record(Answer(query=query, values=shown, noise=law, activities=names), shown)

    def read_unpaid(self, line: str) -> VariantCounts | DistributedVariants:
        """Return the log itself, without noise, only if the promise names it as a leak."""
        if line not in self._leaks:
            raise PromiseError(Statement("promise.unnamed_leak", line=line))
        self.spent.append(self._leaks.pop(line))
        return self._variants

    def charge(self, what: Statement, epsilon: Fraction, line: str) -> None:
        """Charge a line of the promise; more than its remaining amount is refused."""
        # Rounding of a float could exceed the promise, so only fractions are accepted.
        if type(epsilon) is not Fraction:
            raise PromiseError(Statement("promise.no_fraction", what=what, value=repr(epsilon)))
        left = self._left.get(line, Fraction(0))
        if epsilon <= 0 or epsilon > left:
            values = {"what": what, "epsilon": epsilon, "line": line, "left": left}
            raise PromiseError(Statement("promise.overspent", **values))
        self._left[line] = left - epsilon
        self.spent.append(Spend(what=what, amount=epsilon, line=line))

    def law(self, query: Question, epsilon: Fraction) -> Law:
        """The noise on each cell of a query."""
        return self.noise_on(self._sensitivity(query), epsilon)

    def noise_on(self, sensitivity: int, epsilon: Fraction) -> Law:
        """The noise on each cell of a table of some sensitivity: it hides all cases of a unit."""
        return self.budget.law(sensitivity * self.unit.max_cases, epsilon)

    def close(self) -> tuple[Access, ...]:
        """Check that exactly the declared amounts were spent, and return them."""
        left = {line: epsilon for line, epsilon in self._left.items() if epsilon}
        if left or self._leaks:
            raise PromiseError(Statement("promise.unspent", lines=[*left, *self._leaks]))
        return tuple(self.spent)

    def _check(self, query: Question) -> None:
        """Refuse an invalid query before it is charged, independently of the log."""
        if query.name in self.transcript:
            raise PromiseError(Statement("promise.asked_before", query=query.name))
        if not 1 <= self._sensitivity(query) <= MAX_SENSITIVITY:
            most = MAX_SENSITIVITY
            raise PromiseError(Statement("promise.sensitivity", query=query.name, most=most))

    def _sensitivity(self, query: Question) -> int:
        return query.l2_sensitivity if self.budget.delta else query.sensitivity

    def _record(self, answer: Answer, shown: object) -> None:
        self.answers.append(replace(answer, max_length=self._max_length))
        self.transcript[answer.query.name] = shown


# A function of the module, because it is sent to other machines by name.
def _table(number: int, part: Part, *, query: Query) -> Ints:
    size = len(query.cells)
    total = np.zeros(size, dtype=np.int64)
    for piece in part.pieces(max(PIECE, size)) if isinstance(part, CaseBatch) else (part,):
        table = query.table(piece)
        # Noise protects whole numbers, one per cell: gaps between floats reveal counts, and a table
        # of another shape would be broadcast.
        if table.shape != (size,) or table.dtype.kind not in "iu":
            raise PromiseError(Statement("promise.table", query=query.name))
        total += table
    return total
