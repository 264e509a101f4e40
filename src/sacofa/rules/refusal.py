"""Refusals of rules files and models: what is wrong and in which line. The edge adds the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import ReadError, RulesError, Statement, advised


class RefusedError(Exception):
    """A file that cannot be used. Readers raise it without knowing which file they read."""

    def __init__(self, what: str | Statement, line: int | None, /, **values: object) -> None:
        super().__init__(what, line)
        self.line, self.what = line, Statement(what, **values) if isinstance(what, str) else what

    def advise(self, word: str, choices: Iterable[str]) -> RefusedError:
        """Add the closest valid choice to the message, if there is one."""
        self.what = advised(self.what, word, choices)
        return self


@contextmanager
def refusing(path: str | Path) -> Iterator[None]:
    """Turn a refusal inside into an error that names the file."""
    try:
        yield
    except RefusedError as refusal:
        raise RulesError(path, refusal.line, refusal.what) from None


def read_file(path: str | Path, max_bytes: int | None = None) -> bytes:
    """Read a whole file that is not larger than a bound."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(-1 if max_bytes is None else max_bytes + 1)
    except OSError as error:
        raise ReadError(path, Statement("file.unreadable", why=str(error.strerror))) from error
    if max_bytes is not None and len(content) > max_bytes:
        raise ReadError(path, Statement("rules.too_many_bytes", megabytes=max_bytes >> 20))
    return content


def decode(content: bytes) -> str:
    """Return the text of a file, which must be UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RefusedError("rules.not_utf8", None) from None
