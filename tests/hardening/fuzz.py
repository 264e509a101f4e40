"""Feed damaged files to every reader: each is read, or refused by one of our errors.

    python -m tests.hardening.fuzz COUNT [SEED]

Files of every format are made, damaged in ways that a seed decides, and read. Any other exception,
an input that takes longer than a minute, and one that needs more memory than the limit, is reported
with the number that makes it again.
"""

from __future__ import annotations

import gzip
import io
import random
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from sacofa.errors import SacofaError
from sacofa.events import count_variants, open_log
from sacofa.kernel.unit import ONE_CASE
from sacofa.kernel.variants import VariantCounts
from sacofa.ledger import Ledger
from sacofa.mechanisms.paper import Laplace
from sacofa.release.anonymize import certify_request
from sacofa.release.certificate import Certificate
from sacofa.rules import learn_rules
from sacofa.rules.file import read_rules, write_rules
from tests.written import write_variants

MEMORY = 4 << 30
"""The address space of the process; what asks for more fails."""
PATIENCE = 60
"""Seconds for one input: a bound against endless loops, far above what any takes."""

EXAMPLE = VariantCounts.of(
    {
        ("Register", "Triage", "Surgery", "Release"): 3,
        ("Register", "Triage", 'say "A&B"', "é\tb", "Release"): 2,
        ("=1+1", "Release"): 1,
        (): 1,
    },
    truncated={("Register",): 1},
)

WORDS = [
    b"", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"-1", b"1e999999999", b"9" * 5000,
    b"NaN", b"Infinity", b"null", b"true", b"1/0", b"18446744073709551616", b"{", b"[" * 3000, b"}",
    b"]", b'"', b"'", b"\\", b"\\ud800", b"\n", b"\r", b",", b";", b"\t", b"<", b">", b"&", b"&x;",
    b"&#0;", b"&#x110000;", b"</log>", b"<log>", b"<trace>", b"</trace>", b"<event/>", b"<![CDATA[",
    b"<!--", b"<?xml version='1.0' encoding='utf-16'?>", b"<!DOCTYPE x [<!ENTITY x 'y'>]>",
    b"xmlns='u'",
    b"key='concept:name'", b"0001-01-01T00:00:00+23:59", b"9999-12-31T23:59:59-23:59", b"../../x",
    b"../*.csv", b"[[rules]]", b"activities = 3", b"= [", b"sacofa-variants-1", b"PAR1",
    b"\x1f\x8b",
]  # fmt: skip


@dataclass(frozen=True)
class Target:
    """A reader with a file that it reads."""

    name: str
    """What the file is called."""
    content: bytes
    """A file as it should be."""
    read: Callable[[Path, random.Random], object]
    """The reader."""


def targets(folder: Path) -> list[Target]:
    """Make one valid file for every reader."""
    files: list[tuple[str, Callable[[Path, random.Random], object]]] = []
    for suffix in ("xes", "xes.gz", "csv", "parquet", "json"):
        write_variants(EXAMPLE, folder / f"log.{suffix}")
        files.append((f"log.{suffix}", _read_log))
    (folder / "log.csv.gz").write_bytes(gzip.compress((folder / "log.csv").read_bytes(), mtime=0))
    tsv = (folder / "log.csv").read_bytes().replace(b",", b"\t")
    (folder / "log.tsv").write_bytes(tsv)
    write_rules(learn_rules(EXAMPLE), folder / "rules.toml")
    mechanism = Laplace(level_epsilon=Fraction(1, 3), max_length=3, prune=2)
    certificate = certify_request(mechanism, ONE_CASE)
    text = replace(certificate, sha256="0" * 64).to_json()
    (folder / "certificate.json").write_text(text, encoding="utf-8")
    ledger = Ledger.create(folder / "a.ledger")
    ledger.set_budget("visits", Fraction(1))
    ledger.reserve(
        "visits", mechanism="m", settings="{}", price=Fraction(1, 3), certificate="{}"
    )  # fmt: skip
    files += [
        ("log.csv.gz", _read_log),
        ("log.tsv", _read_log),
        ("rules.toml", lambda path, _: read_rules(path)),
        ("certificate.json", _read_certificate),
        ("a.ledger", _read_ledger),
    ]
    return [Target(name, (folder / name).read_bytes(), read) for name, read in files]


def _read_log(path: Path, chance: random.Random) -> object:
    options: dict[str, Any] = {"order": chance.choice(["file", "time"])}
    if chance.random() < 0.2:
        options |= {"person": "concept:name", "max_cases": chance.choice([1, 2])}
    if chance.random() < 0.2:
        options["activity"] = ["concept:name", "time:timestamp"]
    return count_variants(open_log(path, **options))


def _read_certificate(path: Path, chance: random.Random) -> object:
    return Certificate.from_json(path.read_bytes().decode("utf-8", "replace"), path)


def _read_ledger(path: Path, chance: random.Random) -> object:
    ledger = Ledger.open(path)
    return ledger.accounts(), ledger.entries(), ledger.budgets()


def damage(content: bytes, chance: random.Random) -> bytes:
    """Change a file in one to a few places; packed ones now and then before they are packed."""
    if content[:2] == b"\x1f\x8b" and chance.random() < 0.7:
        return gzip.compress(damage(gzip.decompress(content), chance), mtime=0)
    data = bytearray(content)
    for _ in range(chance.choice([1, 1, 2, 4, 16])):
        place, other = chance.randrange(len(data) + 1), chance.randrange(len(data) + 1)
        low, high = min(place, other), max(place, other)
        match chance.randrange(7):
            case 0 if place < len(data):
                data[place] ^= 1 << chance.randrange(8)
            case 1 if place < len(data):
                data[place] = chance.randrange(256)
            case 2:
                data[place:place] = chance.choice(WORDS)
            case 3:
                del data[low : low + chance.randrange(1, 40)]
            case 4:
                data[low:high] = data[low:high] * 2
            case 5:
                word = chance.choice(WORDS)
                data[place : place + len(word)] = word
            case 6 if chance.random() < 0.3:
                del data[place:]
    return bytes(data[: 1 << 20])


def run(count: int, seed: int = 0) -> list[str]:
    """Read many damaged files; give what went wrong, by input."""
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = targets(folder)
        inside = folder / "inputs"
        inside.mkdir()
        for number in range(count):
            target = made[number % len(made)]
            chance = random.Random(f"{seed}/{number}")
            path = inside / target.name
            path.write_bytes(damage(target.content, chance))
            signal.alarm(PATIENCE)
            try:
                target.read(path, chance)
            except SacofaError as error:
                if "\n" in str(error):
                    wrong.append(f"input {number} ({target.name}): more than a line: {error!r}")
            except BaseException:
                if isinstance(sys.exc_info()[1], KeyboardInterrupt):
                    raise
                text = io.StringIO()
                traceback.print_exc(limit=-4, file=text)
                wrong.append(f"input {number} ({target.name}):\n{text.getvalue()}")
            finally:
                signal.alarm(0)
            extra = {path.name for path in inside.iterdir()} - {target.name}
            if extra:
                wrong.append(f"input {number} ({target.name}): left {sorted(extra)} behind")
            path.unlink()
    return wrong


def _too_long(signal: int, frame: object) -> None:
    raise TimeoutError("took too long")


def main() -> None:
    """Run from the command line."""
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    signal.signal(signal.SIGALRM, _too_long)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    wrong = run(count, seed)
    sys.stdout.write("\n".join([*wrong, f"{count} inputs, {len(wrong)} went wrong\n"]))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
