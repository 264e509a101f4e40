"""The errors of sacofa.

    SacofaError
    ├── SettingError         an invalid setting (exit status 2)
    ├── OutputError          a target that cannot be written (exit status 2)
    ├── RequestError         several of these together (exit status 2)
    ├── MissingExtraError    an extra that is not installed (exit status 2)
    ├── ReadError            a log or file that cannot be read (exit status 1)
    │   ├── ColumnsError     columns that were not found
    │   └── RulesError       a rules file or model that cannot be used
    ├── PromiseError         a mechanism that deviates from its declared queries (exit status 1)
    ├── TooLargeError        a run that would exceed its limit (exit status 1)
    └── LedgerError          a ledger that refuses or cannot be used (exit status 1)
        ├── BudgetError      a release that would overspend the budget
        └── PolicyError      a release that the policy forbids

An error holds a statement: a code of the message catalogue with values, which are attributes too.
Settings in the message are `Argument` values. `str(error)` is English with the names of Python; the
command line and the web app render the same statement with their own names (`messages.render`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from difflib import get_close_matches
from fractions import Fraction
from typing import TYPE_CHECKING

from .kernel.statements import (
    Argument,
    Part,
    PromiseError,
    SacofaError,
    SettingError,
    Statement,
    is_whole,
    stated,
)
from .messages import arguments_of
from .messages import printable as plain

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

MAX_LISTED_COLUMNS = 30
"""Maximum number of columns in a message; a file may have any number."""
MAX_WORD_LENGTH = 100
MAX_CHOICES = 1_000
"""Upper bounds: comparison is linear in the number of words, and quadratic in their length."""


def nearest(word: str, choices: Iterable[str]) -> str:
    """Return the end of a message with the closest valid choice; empty if there is none."""
    return f" {advise_nearest(word, choices)}".rstrip()


def advise_nearest(word: str, choices: Iterable[str]) -> Statement:
    """Return a suggestion of the closest valid choice; an empty statement if there is none."""
    found = _closest(word, choices)
    return Statement.plain("") if found is None else Statement("advice.nearest", name=found)


def advised(what: Statement, word: str, choices: Iterable[str]) -> Statement:
    """Add a suggestion of the closest valid choice to a statement, if there is one."""
    if _closest(word, choices := tuple(choices)) is None:
        return what
    return Statement("advice.added", what=what, advice=advise_nearest(word, choices))


def advises(error: SacofaError, name: str) -> bool:
    """Whether the message of an error names an argument."""
    return any(argument.name == name for argument in arguments_of(error.statement))


def _closest(word: str, choices: Iterable[str]) -> str | None:
    if len(word) > MAX_WORD_LENGTH:
        return None

    def letters(word: str) -> str:
        # Ignores the most common mistakes: capitals, blanks and separators.
        return word.casefold().translate(str.maketrans("", "", " _-"))

    short = [choice for choice in choices if len(choice) <= MAX_WORD_LENGTH][:MAX_CHOICES]
    same = [choice for choice in short if letters(choice) == letters(word)]
    return next(iter(same or get_close_matches(word, short, n=1, cutoff=0.6)), None)


def check_whole(name: str, value: object, least: int) -> None:
    """Refuse a setting that is not a whole number, or too small."""
    if not (is_whole(value) and value >= least):  # type: ignore[operator]
        raise SettingError(name, value, Statement("must.be.whole_at_least", least=least))


def refuse_given(value: DataclassInstance, must: Part) -> None:
    """Refuse every value given for a dataclass that does not apply."""
    for entry in fields(value):
        given = getattr(value, entry.name)
        if given != entry.default:
            raise SettingError(entry.name, given, must)


class OutputError(SacofaError):
    """A target that cannot be written."""

    exit_status = 2

    def __init__(self, path: object, *what: Part) -> None:
        self.path, self.what = str(path), stated(*what)
        super().__init__(Statement("error.file", path=self.path, what=self.what))


class RequestError(SacofaError):
    """Several errors in one request."""

    exit_status = 2

    def __init__(self, errors: Sequence[SacofaError]) -> None:
        super().__init__(Statement("error.several", errors=[e.statement for e in errors]))
        self.errors = tuple(errors)


class Problems:
    """Collects the errors of a request, to report all of them together."""

    def __init__(self) -> None:
        self._found: list[SacofaError] = []

    def check(self, check: Callable[..., object], *values: object) -> None:
        """Call a check, and collect its error."""
        try:
            check(*values)
        except RequestError as several:
            self._found += several.errors
        except (SettingError, OutputError) as error:
            self._found.append(error)

    def refuse(self) -> None:
        """Raise the collected error, or several as one."""
        if len(self._found) > 1:
            raise RequestError(self._found)
        for error in self._found:
            raise error


class MissingExtraError(SacofaError):
    """An optional library that is not installed."""

    exit_status = 2

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(Statement("error.missing_extra", what=what, extra=extra))
        self.extra = extra


class ReadError(SacofaError):
    """A log or file that cannot be read."""

    def __init__(self, path: object, *what: Part) -> None:
        self.path, self.what = str(path), stated(*what)
        super().__init__(Statement("error.file", path=self.path, what=self.what))


class ColumnsError(ReadError):
    """Columns that were not found."""

    def __init__(
        self, path: object, missing: Sequence[str], present: Sequence[str], named: str | None = None
    ) -> None:
        shown, more = tuple(present[:MAX_LISTED_COLUMNS]), len(present) - MAX_LISTED_COLUMNS
        listed = Statement("columns.listed", names=shown) if shown else Statement("columns.none")
        if more > 0:
            listed = Statement("columns.listed_and_more", names=shown, more=more)
        what = Statement("columns.no_role", roles=tuple(missing), present=listed)
        advice = Statement("columns.advice", arguments=tuple(map(Argument, missing)))
        if named is not None:
            what = Statement("columns.not_there", name=named, present=listed)
            advice = advise_nearest(named, present) if _closest(named, present) else advice
        super().__init__(path, Statement("columns.missing", what=what, advice=advice))
        self.missing = tuple(missing)
        self.present = tuple(present)


class RulesError(ReadError):
    """A rules file with an invalid entry, or a model that cannot be converted to rules."""

    def __init__(self, path: object, line: int | None, what: Part) -> None:
        where = stated(what)
        where = where if line is None else Statement("error.line", line=line, what=where)
        super().__init__(path, where)
        self.line = line


class TooLargeError(SacofaError):
    """A run that is refused because it would exceed its limit."""

    def __init__(self, level: int, expected: int, limit: int, advice: Part) -> None:
        values = {"level": level, "expected": expected, "limit": limit, "advice": stated(advice)}
        super().__init__(Statement("error.too_large", **values))
        self.level, self.expected, self.limit = level, expected, limit


class LedgerError(SacofaError):
    """A ledger that refuses or cannot be used."""


class BudgetError(LedgerError):
    """A release that would overspend the budget of its dataset."""

    def __init__(
        self,
        dataset: str,
        price: Fraction | None,
        left: Fraction,
        budget: Fraction | None,
        period: str | None = None,
        said: Statement | None = None,
    ) -> None:
        release, limit = Statement("budget.infinite"), Statement("budget.none")
        if price is not None:
            release = Statement("budget.finite", epsilon=price)
        if budget is not None:
            limit = Statement("budget.limit", epsilon=budget)
        values = {"release": release, "dataset": dataset, "left": left, "limit": limit}
        if period is not None:
            said = said or Statement("error.budget_of_period", **values, period=period)
        super().__init__(said or Statement("error.budget", **values))
        self.dataset, self.price, self.left = dataset, price, left
        self.budget, self.period = budget, period


class PolicyError(LedgerError):
    """A release that the policy of a ledger forbids."""

    def __init__(self, what: Part) -> None:
        self.what = stated(what)
        super().__init__(Statement("error.policy", what=self.what))


__all__ = [
    "Argument", "BudgetError", "ColumnsError", "LedgerError", "MissingExtraError", "OutputError",
    "Part", "PolicyError", "Problems", "PromiseError", "ReadError", "RequestError", "RulesError",
    "SacofaError", "SettingError", "Statement", "TooLargeError", "advise_nearest", "advised",
    "advises", "check_whole", "is_whole", "nearest", "plain", "stated",
]  # fmt: skip
