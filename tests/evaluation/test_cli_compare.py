"""`sacofa compare` from outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from sacofa.cli import main
from sacofa.logs import write_variants
from sacofa.variants import VariantCounts


def run(*arguments: object) -> int:
    """Run the program and give its exit status."""
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return int(end.value.code or 0)


def test_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One command leaves a folder with everything in it, and says that it is secret."""
    log = tmp_path / "hospital.csv"
    write_variants(VariantCounts.of({("a", "b", "c"): 60, ("a", "c", "b"): 40}), log)
    folder = tmp_path / "comparison"
    status = run("compare", log, "--epsilon", "1", "--mechanism", "laplace",
                 "--mechanism", "sacofa", "--repeat", 1, "--cores", 1, "-o", folder)  # fmt: skip
    assert status == 0
    out = capsys.readouterr().out
    assert "3 runs measured" in out
    assert "Secret" in out
    assert "Mechanisms compared on hospital" in (folder / "README.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--mechanism", "sacoffa"], 'Did you mean "sacofa"?'),
        (["--mechanism", "sacofa", "--epsilon", "-1"], "epsilon (-1) must be"),
        (["--mechanism", "sacofa", "--repeat", "0"], "repeat (0) must be"),
        (["--mechanism", "sacofa", "--cores", "0"], "cores (0) must be"),
        (["--mechanism", "sacofa", "--time-limit", "0"], "time_limit (0.0) must be"),
    ],
)
def test_bad_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    """One line, before anything is run."""
    log = tmp_path / "log.json"
    write_variants(VariantCounts.of({("a",): 3}), log)
    if "--epsilon" not in arguments:
        arguments = [*arguments, "--epsilon", "1"]
    assert run("compare", log, *arguments, "-o", tmp_path / "out") == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1


def test_bad_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A log without cases, and a target that is a file."""
    log = tmp_path / "log.json"
    settings = ("--mechanism", "laplace", "--epsilon", 1, "--repeat", 1)
    write_variants(VariantCounts.of({}, activities=["a"]), log)
    assert run("compare", log, *settings, "-o", tmp_path / "out") == 1
    assert "has no cases" in capsys.readouterr().err
    write_variants(VariantCounts.of({("a",): 3}), log, force=True)
    assert run("compare", log, *settings, "-o", log) == 2
    assert "cannot be written" in capsys.readouterr().err
