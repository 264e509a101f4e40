"""Running the program as a person does, and logs to run it on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from sacofa.cli import main
from sacofa.examples import running_example
from tests.written import write_variants


@dataclass(frozen=True)
class Ran:
    """What a person sees after a command."""

    status: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the program with arguments."""

    def run(*arguments: object) -> Ran:
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        seen = capsys.readouterr()
        return Ran(int(stopped.value.code or 0), seen.out, seen.err)

    return run


@pytest.fixture
def hospital(tmp_path: Path) -> Path:
    """The running example as a CSV file."""
    path = tmp_path / "hospital.csv"
    write_variants(running_example(), path)
    return path
