"""How long it takes to reserve from a ledger, beside what the disk itself takes to confirm a write.

    python benchmarks/ledger.py [--rows 100 100000] [--folder FOLDER]

In turns with each reservation, a small file in the same folder is written and confirmed (`fsync`):
no program is faster than that. The same is done in memory, where confirming costs nothing, so that
what remains is our own work.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from statistics import median

from sacofa.ledger import Ledger, rows
from sacofa.ledger.records import Account, Entry

MEMORY = "/dev/shm"
PRICE = Fraction(1, 10**6)
CERTIFICATE = "x" * 3_000
"""As long as most are."""
TIMES = 40


def fill(ledger: Ledger, number: int) -> None:
    """Give a ledger so many releases, all at once."""
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as database:
        database.execute("PRAGMA synchronous = OFF")
        database.execute("BEGIN")
        head, chain = rows.read_head(database), ""
        for place in range(1, number + 1):
            entry = Entry(
                id=place, token=f"{place:032x}", dataset="visits", at="2026-01-01T00:00:00+00:00",
                mechanism="certified", settings=f'{{"seed": {place}}}', price=PRICE, chain="",
                certificate=CERTIFICATE, state="released",
            )  # fmt: skip
            chain = rows.chain_of(chain, entry)
            rows.write(database, replace(entry, chain=chain))
        account = rows.find(database, Account, "visits")
        rows.write(database, replace(account, finite=PRICE * number))
        rows.write(database, replace(head, entries=number, chain=chain))
        database.execute("COMMIT")


def measure(folder: Path, number: int) -> tuple[float, float]:
    """Milliseconds of a reservation, and of one small write that is confirmed: medians."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        ledger = Ledger.create(Path(name) / "a.ledger")
        ledger.set_budget("visits", Fraction(1000))
        fill(ledger, number)
        spent, confirmed = [], []
        for turn in range(TIMES):
            begin = time.perf_counter()
            ledger.reserve(
                "visits", mechanism="certified", settings=f'{{"turn": {turn}}}', price=PRICE,
                certificate=CERTIFICATE,
            )  # fmt: skip
            middle = time.perf_counter()
            with (Path(name) / "small").open("ab") as file:
                file.write(b"x")
                file.flush()
                os.fsync(file.fileno())
            spent.append(middle - begin)
            confirmed.append(time.perf_counter() - middle)
    return 1e3 * median(spent), 1e3 * median(confirmed)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[100, 100_000])
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    given = parser.parse_args()
    sys.stdout.write(
        "| rows | reserving | one fsync | ratio | in memory |\n|---|---|---|---|---|\n"
    )
    for number in given.rows:
        disk, one = measure(given.folder, number)
        ours = f"{measure(Path(MEMORY), number)[0]:.1f} ms" if os.access(MEMORY, os.W_OK) else "–"
        sys.stdout.write(
            f"| {number:,} | {disk:.1f} ms | {one:.1f} ms | {disk / one:.1f} | {ours} |\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
