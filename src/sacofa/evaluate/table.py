"""The table of runs: a CSV file that grows by whole rows, so that work goes on where it stopped."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

from ..errors import OutputError
from .runs import FAILED, HEADER, Row


class RunTable:
    """The rows of an experiment, kept in a file."""

    def __init__(self, path: Path) -> None:
        """Open the file, or begin it."""
        self.path = path
        self._rows: dict[tuple[str, ...], Row] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._read() if path.exists() else self._write(_line(HEADER))
        except OSError as error:
            raise OutputError(path, f"cannot be written: {error.strerror or error}") from error

    def rows(self) -> list[Row]:
        """Every run once, as it came out last."""
        return list(self._rows.values())

    def __contains__(self, key: tuple[str, ...]) -> bool:
        """Whether a run need not be made again; one that failed gets another chance."""
        return key in self._rows and self._rows[key].status != FAILED

    def append(self, row: Row) -> None:
        """Add a row, for good."""
        try:
            self._write(_line(row.to_cells()))
        except OSError as error:
            raise OutputError(self.path, f"cannot be written: {error.strerror}") from error
        self._rows[row.key] = row

    def _write(self, line: bytes) -> None:
        # One write at the end of the file: a row is there as a whole, or (power cut) its torn
        # beginning is dropped by the next reader.
        target = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(target, line)
            os.fsync(target)
        finally:
            os.close(target)

    def _read(self) -> None:
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            os.truncate(self.path, len(whole))
        if not whole:
            self._write(_line(HEADER))
            return
        try:
            header, *lines = csv.reader(io.StringIO(whole.decode(), newline=""))
            if header != HEADER:
                raise ValueError
            rows = [Row.from_cells(line) for line in lines]
        except (ValueError, csv.Error):
            raise OutputError(
                self.path, "holds something else than runs of this version: choose another folder"
            ) from None
        self._rows = {row.key: row for row in rows}


def _line(cells: list[str]) -> bytes:
    line = io.StringIO(newline="")
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue().encode()
