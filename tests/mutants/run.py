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
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue

from ..forked import forked_program

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent
PACKAGE = "src/sacofa"
WORKERS = 2
"""How many mutants are tried at a time; each has a copy of the sources."""
SECONDS = 900
"""The longest that the tests of a mutant may take: one that runs for ever is noticed, too."""
SCORE = 0.97
"""The least part of all mutants that has to be noticed."""
LOADED = (
    "duckdb", "hypothesis", "lxml.etree", "numpy", "opendp.prelude", "pandas", "pytest",
    "rapidfuzz.process", "scipy.stats", "threadpoolctl", "typer", "rich.table",
)  # fmt: skip
"""What tests import: it is loaded once, not for every mutant."""
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


@dataclass(frozen=True)
class Runner:
    """Runs tests on a copy of the sources, each time in a process of its own."""

    root: Path
    python: Path
    """Starts Python with everything loaded that tests use, apart from the package itself."""
    passed: set[tuple[str, ...]] = field(default_factory=set)
    """The tests that are known to pass without any mutant."""

    def status(self, source: Path, tests: Sequence[str]) -> tuple[int | None, str]:
        """The status of pytest, None if it took too long, and what was printed."""
        paths = [str(source), str(self.root)]
        arguments = ["-x", "-q", "-p", "no:cacheprovider", *tests]
        code = f"import pytest, sys; sys.path[:0] = {paths}; sys.exit(pytest.main({arguments}))"
        try:
            done = subprocess.run(
                [self.python, "-c", code], cwd=self.root, capture_output=True, text=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}, check=False,
                timeout=SECONDS,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return None, ""
        return done.returncode, done.stdout

    def check(self, source: Path, tests: tuple[str, ...]) -> None:
        """Refuse tests that fail without any mutant: they would notice nothing."""
        if tests not in self.passed:
            status, output = self.status(source, tests)
            if status != 0:
                raise MutantError(f"tests do not pass without any mutant:\n{output}")
            self.passed.add(tests)


def try_mutant(runner: Runner, source: Path, mutant: Mutant) -> Result:
    """Run the tests of a mutant on a copy of the sources."""
    with applied(source, runner.root, mutant):
        status, output = runner.status(source, mutant.tests)
    if status in NO_TESTS_RUN:
        raise MutantError(f"{mutant.name}: its tests do not run:\n{output}")
    if status == 0:
        return Result(mutant=mutant, killed=False, how=mutant.survives or "no reason is given")
    failed = _first_failure(output)
    runner.check(source, (failed,) if failed else mutant.tests)
    return Result(mutant=mutant, killed=True, how=failed or "the tests do not end")


def _first_failure(output: str) -> str:
    starts = ("FAILED ", "ERROR ")
    failed = (line for line in output.splitlines() if line.startswith(starts))
    return next(failed, "").partition(" ")[2].partition(" - ")[0]


def try_all(root: Path, mutants: Sequence[Mutant]) -> Iterator[Result]:
    """Try mutants in their order, some at a time; what notices them must pass without them."""
    for mutant in mutants:
        changed_text(root, mutant)
    with (
        tempfile.TemporaryDirectory() as folder,
        forked_program(Path(folder), os.environ, LOADED) as python,
    ):
        runner, sources = Runner(root, python), SimpleQueue[Path]()
        for worker in range(WORKERS):
            source = Path(folder) / str(worker) / "src"
            shutil.copytree(root / PACKAGE, source / "sacofa")
            sources.put(source)

        def work(mutant: Mutant) -> Result:
            source = sources.get()
            try:
                return try_mutant(runner, source, mutant)
            finally:
                sources.put(source)

        with ThreadPoolExecutor(WORKERS) as pool:
            yield from pool.map(work, mutants)


def score(results: Sequence[Result]) -> float:
    """The part that was noticed."""
    return sum(result.killed for result in results) / max(len(results), 1)
