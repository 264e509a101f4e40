"""`sacofa compare` from outside."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sacofa.cli import main
from sacofa.kernel.variants import VariantCounts
from tests.written import write_variants


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
                 "--mechanism", "sacofa", "--repeat", 1, "--workers", 1, "-o", folder)  # fmt: skip
    assert status == 0
    out = capsys.readouterr().out
    assert "4 runs measured" in out
    assert "Confidential" in out
    assert "Mechanisms compared on hospital" in (folder / "README.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--mechanism", "sacoffa"], 'Did you mean "sacofa"?'),
        (["--mechanism", "sacofa", "--epsilon", "-1"], "epsilon (-1) must be"),
        (["--mechanism", "sacofa", "--repeat", "0"], "repeat (0) must be"),
        (["--mechanism", "sacofa", "--workers", "0"], "workers (0) must be"),
        (["--mechanism", "sacofa", "--time-limit", "0"], "--time-limit (0.0) must be"),
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


@pytest.mark.slow
def test_an_interrupt_keeps_what_was_done(tmp_path: Path) -> None:
    """Ctrl-C: one line, no traceback, rows kept, and the same command goes on from there."""
    log, folder = tmp_path / "log.json", tmp_path / "out"
    write_variants(VariantCounts.of({("a", "b"): 30, ("b", "a"): 20}), log)
    command = [sys.executable, "-m", "sacofa", "compare", str(log), "--epsilon", "1",
               "--mechanism", "laplace", "--repeat", "100000", "--workers", "1",
               "-o", str(folder)]  # fmt: skip
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, start_new_session=True,
        # What runs in the background of a shell ignores interrupts, and so would what it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    table = folder / "runs.csv"
    try:
        while process.poll() is None and (
            not table.exists() or table.read_bytes().count(b"\n") < 5
        ):
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it too
        _, error = process.communicate(timeout=60)
    finally:
        process.kill()
    assert error.splitlines() == [
        "sacofa: interrupted: completed runs are kept, repeat the command to continue"
    ]
    assert process.returncode == 130
    kept = table.read_bytes()
    assert kept.count(b"\n") >= 5
    assert run(*command[3:-5], "2", "--workers", "1", "-o", folder) == 0
    assert table.read_bytes() == kept


def test_a_missing_extra(tmp_path: Path) -> None:
    """Without pm4py: one line that says how to install it, before any work."""
    log = tmp_path / "log.json"
    write_variants(VariantCounts.of({("a",): 3}), log)
    missing = "pm4py is not installed: pip install 'sacofa[evaluate]'"
    commands = {
        # A single release is measured as far as can be; an experiment needs all measures.
        ("evaluate", str(log), str(log)): (0, "", f"Only a part could be measured: {missing}"),
        ("compare", str(log), "--epsilon", "1", "-o", str(tmp_path / "out")): (
            2, f"sacofa: {missing}\n", "",
        ),
    }  # fmt: skip
    for command, (status, error, said) in commands.items():
        program = (
            "import sys; sys.modules['pm4py'] = None; from sacofa.cli import main; "
            f"main({list(command)!r})"
        )
        result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert (result.returncode, result.stderr) == (status, error)
        assert said in " ".join(result.stdout.split())
    assert not (tmp_path / "out").exists()


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
