"""Everything that can go wrong, as one tree.

    SacofaError
    ├── SettingError         a setting that cannot be (exit status 2)
    ├── OutputError          a target that cannot be written (exit status 2)
    ├── RequestError         several of these together (exit status 2)
    ├── MissingExtraError    an optional part that is not installed (exit status 2)
    ├── ReadError            a log or file that cannot be read (exit status 1)
    │   ├── ColumnsError     columns that were not found
    │   └── RulesError       a rules file with a wrong entry, or a model that cannot be
    ├── PromiseError         a mechanism that asks for other than it promised (exit status 1)
    ├── TooLargeError        a run that would grow past its limit (exit status 1)
    └── LedgerError          a ledger that refuses or cannot be used (exit status 1)
        ├── BudgetError      a release that would overspend the budget
        └── PolicyError      a release that the policy forbids

A message reads *what happened: what to do*. The values are attributes too. Settings that a message
advises are `Argument` values in it. `str(error)` names them as Python does; the command line and
the web app name them in their own words (`in_words`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction

from .kernel.errors import (
    Argument,
    Part,
    PromiseError,
    SacofaError,
    SettingError,
    all_in_words,
    is_whole,
    nearest,
    plain,
)

MOST_COLUMNS = 30
"""A message names this many columns; a file may have any number."""


class OutputError(SacofaError):
    """A target that cannot be written."""

    exit_status = 2

    def __init__(self, path: object, *what: Part) -> None:
        super().__init__(f"{path}: ", *what)
        self.path = str(path)
        self.what = all_in_words(what)


class RequestError(SacofaError):
    """Several things that are wrong with one request."""

    exit_status = 2

    def __init__(self, errors: Sequence[SacofaError]) -> None:
        parts: list[Part] = []
        for error in errors:
            parts += [*(["; "] if parts else []), *error.parts]
        super().__init__(*parts)
        self.errors = tuple(errors)


class Problems:
    """Collects what is wrong with a request, so that it can be reported at once."""

    def __init__(self) -> None:
        self._found: list[SacofaError] = []

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Keep a refusal that is raised inside for later."""
        try:
            yield
        except RequestError as several:
            self._found += several.errors
        except (SettingError, OutputError) as error:
            self._found.append(error)

    def refuse(self) -> None:
        """Raise what was collected: one refusal as it is, several together."""
        if len(self._found) > 1:
            raise RequestError(self._found)
        for error in self._found:
            raise error


class MissingExtraError(SacofaError):
    """An optional part of the package that is not installed."""

    exit_status = 2

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} is not installed: pip install 'sacofa[{extra}]'")
        self.extra = extra


class ReadError(SacofaError):
    """A log or file that cannot be read."""

    def __init__(self, path: object, *what: Part) -> None:
        # Names of columns and files may hold line breaks; a message is one line.
        what = tuple(" ".join(p.splitlines()) if isinstance(p, str) else p for p in what)
        super().__init__(f"{path}: ", *what)
        self.path = str(path)
        self.what = all_in_words(what)


class ColumnsError(ReadError):
    """Columns that were not found."""

    def __init__(
        self,
        path: object,
        missing: Sequence[str],
        present: Sequence[str],
        named: str | None = None,
    ) -> None:
        there = ", ".join(present[:MOST_COLUMNS]) or "none"
        if len(present) > MOST_COLUMNS:
            there += f" and {len(present) - MOST_COLUMNS:,} more"
        what = f"no column for {' and '.join(missing)}" if named is None else f'no column "{named}"'
        advice = nearest(named, present) if named is not None else ""
        parts: list[Part] = [f"{what}; columns there: {there}.{advice}"]
        if not advice:
            parts.append(" Name one of them with ")
            for place, role in enumerate(missing):
                parts += [" and "] * (place > 0) + [Argument(role)]
        super().__init__(path, *parts)
        self.missing = tuple(missing)
        self.present = tuple(present)


class RulesError(ReadError):
    """A rules file with an entry that cannot be, or a model that makes no rules."""

    def __init__(self, path: object, line: int | None, what: str) -> None:
        where = f"line {line}: " if line is not None else ""
        super().__init__(path, f"{where}{what}")
        self.line = line


class TooLargeError(SacofaError):
    """A run that would grow past its limit, refused before it does."""

    def __init__(self, level: int, expected: int, limit: int, advice: str) -> None:
        super().__init__(
            f"level {level} would hold about {expected:,} prefixes, more than the limit "
            f"of {limit:,}: {advice}"
        )
        self.level = level
        self.expected = expected
        self.limit = limit


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
    ) -> None:
        what = "has no finite ε" if price is None else f"costs ε = {price}"
        when = "" if period is None else f" in period {period}"
        super().__init__(
            f'the release {what}, and dataset "{dataset}" has ε = {left} left of {budget}{when}: '
            "nothing was read or released"
        )
        self.dataset = dataset
        self.price = price
        self.left = left
        self.budget = budget
        self.period = period


class PolicyError(LedgerError):
    """A release that the policy of a ledger forbids."""

    def __init__(self, what: str) -> None:
        super().__init__(f"the policy forbids it: {what}. Nothing was read or released")
        self.what = what


__all__ = [
    "Argument",
    "BudgetError",
    "ColumnsError",
    "LedgerError",
    "MissingExtraError",
    "OutputError",
    "Part",
    "PolicyError",
    "Problems",
    "PromiseError",
    "ReadError",
    "RequestError",
    "RulesError",
    "SacofaError",
    "SettingError",
    "TooLargeError",
    "all_in_words",
    "is_whole",
    "nearest",
    "plain",
]
