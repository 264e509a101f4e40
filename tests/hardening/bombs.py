"""Read hostile files in little memory.

    python -m tests.hardening.bombs NAME ...

Makes hostile files, and reads each in a process of its own with an address space of a few
gigabytes. Prints the name, the error and, where the system tells, how many megabytes reading took.
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import duckdb  # noqa: F401

import sacofa.events.xes  # noqa: F401
from sacofa.errors import SacofaError
from sacofa.events import count_variants, open_log
from sacofa.rules import read_rules

MEMORY = 5 << 29
"""Two and a half gigabytes: libraries and threads reserve a good part of it."""


def packed(path: Path, head: bytes, filler: bytes, gigabytes: int) -> Path:
    """Write gzip that unpacks to many gigabytes: the same packed block again and again."""
    block = filler * ((1 << 22) // len(filler))
    with path.open("wb") as file:
        file.write(gzip.compress(head))
        again = gzip.compress(block)
        for _ in range(gigabytes << 8):
            file.write(again)
    return path


def entities(outside: str) -> bytes:
    """An XES file with entities in entities, or with one from outside."""
    nested = "".join(
        f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12)
    )  # fmt: skip
    return (
        f'<?xml version="1.0"?><!DOCTYPE log [<!ENTITY e0 {outside}>{nested}]><log><trace><event>'
        '<string key="concept:name" value="a"/></event><x>&e11;</x></trace></log>'
    ).encode()


MANY = json.dumps([str(i) for i in range(100_000)]).encode()
XES = b'<log><trace><event><string key="concept:name" value="a"/></event>'
EVENT = b'<event><string key="concept:name" value="a"/></event>'


def saved(path: Path, content: bytes) -> Path:
    """Write a file."""
    path.write_bytes(content)
    return path


def packed_values(path: Path) -> Path:
    """About 100 KB that stand for 40 million empty lists."""
    many = gzip.compress(b"[]," * 400_000)
    return saved(path, gzip.compress(b"[") + 100 * many + gzip.compress(b"[]]"))


def wide_parquet(path: Path) -> Path:
    """A footer that begins as those of a million columns do; the rest would be as long."""
    footer = b"\x15\x02\x19\xfc" + bytes([0xC1, 0x84, 0x3D]) + b"\x00" * 100
    return saved(path, b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")


def columns(names: int) -> str:
    """Names of many columns."""
    return ",".join(map(str, range(names)))


HOSTILE: dict[str, Callable[[Path], Path]] = {
    "gzip.csv": lambda folder: packed(folder / "a.csv", b"case,activity\n", b"1,a\n", 2),
    "gzip.tsv.gz": lambda folder: packed(folder / "a.tsv.gz", b"case\tactivity\n", b"1\ta\n", 2),
    "gzip.json": lambda folder: packed(folder / "a.json", b"[", b"0,", 2),
    "gzip.xes": lambda folder: packed(folder / "a.xes", b"<log>", b" ", 2),
    "gzip case.xes.gz": lambda folder: packed(folder / "a.xes.gz", XES, EVENT, 2),
    "gzip name.xes": lambda folder: packed(folder / "a.xes", b'<log><trace a="', b"x", 2),
    "entities.xes": lambda folder: saved(folder / "a.xes", entities('"ha"')),
    "outside.xes": lambda folder: saved(folder / "a.xes", entities('SYSTEM "file:///etc/passwd"')),
    "deep.xes": lambda folder: saved(folder / "a.xes", b"<log>" + b"<trace>" * 1_000_000),
    "deep.json": lambda folder: saved(folder / "a.json", b"[" * 1_000_000),
    "row.csv": lambda folder: saved(folder / "a.csv", b"case,activity\n" + b"x" * (1 << 28)),
    "header.csv": lambda folder: saved(folder / "a.csv", b"x," * (1 << 27)),
    "values.json.gz": lambda folder: packed_values(folder / "a.json.gz"),
    "wide.csv": lambda folder: saved(
        folder / "a.csv", f"case,activity,{columns(2_000_000)}\n1,a\n".encode()
    ),
    "wide.jsonl": lambda folder: saved(
        folder / "a.jsonl",
        json.dumps(
            {"case": "1", "activity": "a", **dict.fromkeys(columns(10_001).split(","))}
        ).encode(),
    ),
    "wide.parquet": lambda folder: wide_parquet(folder / "a.parquet"),
    "long case.xes": lambda folder: saved(
        folder / "a.xes", b"<log><trace>" + EVENT * 1_100_000 + b"</trace></log>"
    ),
    "many.toml": lambda folder: saved(folder / "a.toml", b"activities = " + MANY),
    "deep.toml": lambda folder: saved(folder / "a.toml", b"activities = " + b"[" * 1_000_000),
}
"""How each hostile file is made, in a folder."""


def memory(what: str) -> int | None:
    """How many megabytes this process takes (VmRSS), or took at most (VmHWM), on Linux."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return None
    found = next(line for line in status.splitlines() if line.startswith(what))
    return int(found.split()[1]) >> 10


def read(name: str) -> None:
    """Make one, read it, and say what came of it."""
    sys.stdout.write(f"{name}\n")
    with tempfile.TemporaryDirectory() as folder:
        path = HOSTILE[name](Path(folder))
        with suppress(OSError):
            # From here on the most that was taken is counted anew.
            Path("/proc/self/clear_refs").write_text("5")
        before = memory("VmRSS")
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        try:
            if path.suffix == ".toml":
                read_rules(path)
            else:
                count_variants(open_log(path))
        except SacofaError as error:
            sys.stdout.write(f"refused: {str(error).replace(folder, '')}\n")
        most = memory("VmHWM")
        if before is not None and most is not None:
            sys.stdout.write(f"{most - before}\n")
        sys.stdout.flush()


def main() -> None:
    """Fork a process for each: all that they load is loaded here, once."""
    for name in sys.argv[1:]:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                read(name)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        if status:
            sys.exit(f"{name}: status {status}")


if __name__ == "__main__":
    main()
