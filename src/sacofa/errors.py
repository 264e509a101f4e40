"""Everything that can go wrong, as one tree.

    SacofaError
    ├── SettingError         a setting that cannot be (exit status 2)
    ├── OutputError          a target that cannot be written (exit status 2)
    ├── MissingExtraError    an optional part that is not installed (exit status 2)
    ├── ReadError            a log or file that cannot be read (exit status 1)
    │   ├── ColumnsError     columns that were not found
    │   └── RulesError       a rules file with a wrong entry, or a model that cannot be
    ├── PromiseError         a mechanism that asks for other than it promised (exit status 1)
    ├── TooLargeError        a run that would grow past its limit (exit status 1)
    └── LedgerError          a ledger that refuses or cannot be used (exit status 1)
        ├── BudgetError      a release that would overspend the budget
        └── PolicyError      a release that the policy forbids

A message reads *what happened: what to do*. The values are attributes too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fractions import Fraction
from numbers import Integral

LONGEST_WORD = 100
MOST_CHOICES = 1_000
"""Comparing words takes time that grows with their number and with the square of their length."""
MOST_COLUMNS = 30
"""A message names this many columns; a file may have any number."""


def nearest(word: str, choices: Iterable[str]) -> str:
    """Name the closest valid choice, as the end of a message, or nothing."""
    if len(word) > LONGEST_WORD:
        return ""
    short = [choice for choice in choices if len(choice) <= LONGEST_WORD][:MOST_CHOICES]
    same = next((choice for choice in short if _letters(choice) == _letters(word)), None)
    if same is not None:
        return f' Did you mean "{same}"?'
    close = get_close_matches(word, short, n=1, cutoff=0.6)
    return f' Did you mean "{close[0]}"?' if close else ""


def _letters(word: str) -> str:
    """A word without what is mistyped most: capitals, blanks and marks between words."""
    return word.casefold().translate(str.maketrans("", "", " _-"))


def plain(text: str) -> str:
    """Text for one line of a terminal: what would move its cursor or worse is spelt out."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def is_whole(value: object) -> bool:
    """Whether a value is a whole number, of Python or of NumPy; yes and no are none."""
    return type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))


class SacofaError(Exception):
    """The root of all errors that this package raises on purpose."""

    exit_status = 1


class SettingError(SacofaError):
    """A setting that cannot be, refused before any log is read."""

    exit_status = 2

    def __init__(self, name: str, value: object, must: str) -> None:
        super().__init__(f"{name} ({value}) must be {must}")
        self.name = name
        self.value = value
        self.must = must


class OutputError(SacofaError):
    """A target that cannot be written."""

    exit_status = 2

    def __init__(self, path: object, what: str) -> None:
        super().__init__(f"{path}: {what}")
        self.path = str(path)
        self.what = what


class MissingExtraError(SacofaError):
    """An optional part of the package that is not installed."""

    exit_status = 2

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} is not installed: pip install 'sacofa[{extra}]'")
        self.extra = extra


class ReadError(SacofaError):
    """A log or file that cannot be read."""

    def __init__(self, path: object, what: str) -> None:
        # Names of columns and files may hold line breaks; a message is one line.
        what = " ".join(what.splitlines())
        super().__init__(f"{path}: {what}")
        self.path = str(path)
        self.what = what


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
        named_what = "it" if named is None else "one of them"
        super().__init__(
            path,
            f"{what}; columns there: {there}."
            + (advice or f" Name {named_what} with {' '.join('--' + m for m in missing)}"),
        )
        self.missing = tuple(missing)
        self.present = tuple(present)


class RulesError(ReadError):
    """A rules file with an entry that cannot be, or a model that makes no rules."""

    def __init__(self, path: object, line: int | None, what: str) -> None:
        where = f"line {line}: " if line is not None else ""
        super().__init__(path, f"{where}{what}")
        self.line = line


class PromiseError(SacofaError):
    """A mechanism that asks for more than it promised, or less: a mistake in the mechanism."""


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
