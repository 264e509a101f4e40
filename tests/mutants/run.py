"""Apply mutants one by one to a copy of the sources, and run the tests that have to fail.

A mutant is an entry of a TOML file in this folder:

* `file`: the file that it changes, below `src/sacofa`;
* `old`, `new`: the text that it replaces, which occurs exactly once, and what it puts there;
* `tests`: the tests that have to notice, as pytest takes them;
* `survives`: only where no test can notice, the reason why.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent
PACKAGE = "src/sacofa"
WORKERS = 2
"""How many mutants are tried at a time; each has a copy of the sources."""
SECONDS = 900
"""The longest that the tests of a mutant may take: one that runs for ever is noticed, too."""
SCORE = 0.97
"""The least part of all mutants that has to be noticed."""
NO_TESTS_RUN = (3, 4, 5)
"""The statuses of pytest that mean that it did not come to run the tests."""


class MutantError(Exception):
    """A mutant that cannot be tried."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One change of the sources, and the tests that have to notice it."""

    name: str
    """Where it is listed: the name of the file, and its number there."""
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    survives: str = ""

    @property
    def title(self) -> str:
        """A line that says what it changes."""
        lines = [line.strip() for line in self.new.splitlines() if line.strip()]
        kept = {line.strip() for line in self.old.splitlines()}
        changed = next((line for line in lines if line not in kept), "a line is missing")
        return f"{self.file}: {changed}"


@dataclass(frozen=True, kw_only=True)
class Result:
    """What became of a mutant."""

    mutant: Mutant
    killed: bool
    how: str
    """The first test that noticed, or why none is known."""


def read_mutants(folder: Path = DATA) -> list[Mutant]:
    """Read all mutants."""
    return [
        Mutant(
            name=f"{path.stem} {number}",
            file=entry["file"],
            old=entry["old"],
            new=entry["new"],
            tests=tuple(entry["tests"]),
            survives=entry.get("survives", ""),
        )
        for path in sorted(folder.glob("*.toml"))
        for number, entry in enumerate(tomllib.loads(path.read_text("utf-8"))["mutant"], start=1)
    ]


def changed_text(root: Path, mutant: Mutant) -> str:
    """The text of the file as the mutant has it; refused where it does not apply."""
    path = root / PACKAGE / mutant.file
    if not path.is_file():
        raise MutantError(f"{mutant.name}: there is no {PACKAGE}/{mutant.file}: correct its file")
    text = path.read_text("utf-8")
    found = text.count(mutant.old)
    if found != 1:
        raise MutantError(
            f"{mutant.name}: its old text occurs {found} times in {PACKAGE}/{mutant.file}, not "
            f"once: adapt it to the sources"
        )
    return text.replace(mutant.old, mutant.new)


@contextmanager
def applied(source: Path, root: Path, mutant: Mutant) -> Iterator[None]:
    """Change a copy of the sources for a while."""
    path = source / "sacofa" / mutant.file
    before = path.read_text("utf-8")
    try:
        _write(path, changed_text(root, mutant))
        yield
    finally:
        _write(path, before)


def _write(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
    # Python would take the compiled file for that of a text of the same second and size.
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def run_tests(root: Path, source: Path, tests: Sequence[str]) -> tuple[int | None, str]:
    """Run tests on a copy of the sources: the status, None after too long, and what was printed."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    paths = os.pathsep.join([str(source), str(root)])
    try:
        done = subprocess.run(
            command, cwd=root, env={**os.environ, "PYTHONPATH": paths}, capture_output=True,
            text=True, check=False, timeout=SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout


def try_mutant(root: Path, source: Path, mutant: Mutant) -> Result:
    """Run the tests of a mutant on a copy of the sources."""
    with applied(source, root, mutant):
        status, output = run_tests(root, source, mutant.tests)
    if status in NO_TESTS_RUN:
        raise MutantError(f"{mutant.name}: its tests do not run:\n{output}")
    if status is None:
        return Result(mutant=mutant, killed=True, how="too slow")
    if status:
        return Result(mutant=mutant, killed=True, how=_first_failure(output))
    return Result(mutant=mutant, killed=False, how=mutant.survives or "no reason is given")


def _first_failure(output: str) -> str:
    starts = ("FAILED ", "ERROR ")
    failed = (line for line in output.splitlines() if line.startswith(starts))
    return next(failed, "failed").partition(" ")[2].partition(" - ")[0] or "failed"


def try_all(root: Path, mutants: Sequence[Mutant]) -> Iterator[Result]:
    """Try mutants in their order, some at a time; their tests must pass without them."""
    for mutant in mutants:
        changed_text(root, mutant)
    with tempfile.TemporaryDirectory() as folder:
        sources: SimpleQueue[Path] = SimpleQueue()
        for worker in range(WORKERS):
            source = Path(folder) / str(worker) / "src"
            shutil.copytree(root / PACKAGE, source / "sacofa")
            sources.put(source)

        def work(mutant: Mutant) -> Result:
            source = sources.get()
            try:
                return try_mutant(root, source, mutant)
            finally:
                sources.put(source)

        _check_tests(root, sources, mutants)
        with ThreadPoolExecutor(WORKERS) as pool:
            yield from pool.map(work, mutants)


def _check_tests(root: Path, sources: SimpleQueue[Path], mutants: Iterable[Mutant]) -> None:
    """Refuse tests that fail without any mutant: they would notice nothing."""
    tests = list(dict.fromkeys(test for mutant in mutants for test in mutant.tests))
    source = sources.get()
    status, output = run_tests(root, source, tests)
    sources.put(source)
    if status != 0:
        raise MutantError(f"the tests do not pass without any mutant:\n{output}")


def score(results: Sequence[Result]) -> float:
    """The part that was noticed."""
    return sum(result.killed for result in results) / max(len(results), 1)
