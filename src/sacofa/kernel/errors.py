"""Errors of the kernel, and the root of all errors of the package (see `sacofa.errors`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from numbers import Integral

LONGEST_WORD = 100
MOST_CHOICES = 1_000
"""Comparing words takes time that grows with their number and with the square of their length."""


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


@dataclass(frozen=True)
class Argument:
    """A setting that a message advises."""

    name: str
    """Its name in Python."""
    value: str | bool | None = None
    """The value that it should have; None: whichever fits."""

    def __str__(self) -> str:
        """The argument as Python calls it."""
        return self.name if self.value is None else f"{self.name}={self.value!r}"


Part = str | Argument
"""A part of a message."""


def all_in_words(parts: Iterable[Part], wording: Callable[[Argument], str] = str) -> str:
    """Put a message together, with its arguments in some wording."""
    return "".join(wording(part) if isinstance(part, Argument) else part for part in parts)


class SacofaError(Exception):
    """The root of all errors that this package raises on purpose."""

    exit_status = 1

    def __init__(self, *parts: Part) -> None:
        super().__init__(all_in_words(parts))
        self.parts = parts

    def in_words(self, wording: Callable[[Argument], str]) -> str:
        """The message with the arguments that it advises in some wording."""
        return all_in_words(self.parts, wording)

    def advises(self, name: str) -> bool:
        """Whether the message advises an argument."""
        return any(isinstance(part, Argument) and part.name == name for part in self.parts)


class SettingError(SacofaError):
    """A setting that cannot be, refused before any log is read."""

    exit_status = 2

    def __init__(self, name: str, value: object, *must: Part) -> None:
        super().__init__(f"{name} ({value}) must be ", *must)
        self.name = name
        self.value = value
        self.must = all_in_words(must)

    def must_in_words(self, wording: Callable[[Argument], str]) -> str:
        """What the setting must be, with the arguments that it advises in some wording."""
        return all_in_words(self.parts[1:], wording)


class PromiseError(SacofaError):
    """A mechanism that asks for more than it promised, or less: a mistake in the mechanism."""
