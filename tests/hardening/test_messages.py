"""Messages: one line, in letters that every terminal takes, about the file that the user named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import sacofa
from sacofa.errors import plain
from sacofa.kernel.variants import VariantCounts
from tests.cli.conftest import Run
from tests.written import write_variants

ESCAPES = ["\x1b[2Jgone", "a\x9b31m", "bell\x07", "\u202eright to left", "a\rb", "\udcff"]


def ran(folder: Path, *arguments: object, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run the program in a process of its own."""
    source = str(Path(sacofa.__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-m", "sacofa", *map(str, arguments)], cwd=folder, check=False,
        capture_output=True, env={**os.environ, "PYTHONPATH": source, **environment},
    )  # fmt: skip


@pytest.mark.parametrize("name", ESCAPES)
def test_nothing_moves_the_cursor(name: str) -> None:
    """Control characters of every kind are spelt out."""
    assert plain(name).isprintable()
    assert plain("ordinary: ε = 1, größer, 漢字") == "ordinary: ε = 1, größer, 漢字"


@pytest.mark.parametrize("name", ESCAPES[:5])
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_names_of_a_log_reach_the_terminal_spelt_out(
    run: Run, tmp_path: Path, name: str, options: list[str]
) -> None:
    """In an inspection, and in an error."""
    write_variants(VariantCounts.of({(name,): 2}), tmp_path / "log.json")
    seen = run("inspect", tmp_path / "log.json", *options)
    assert seen.status == 0
    for text in (seen.out, seen.err):
        assert all(c.isprintable() or c == "\n" for c in text)
    if options:
        assert json.loads(seen.out)["frequent"][0]["activities"] == [name]
    seen = run("inspect", tmp_path / name.replace("/", ""))
    assert seen.status == 1
    assert all(c.isprintable() for c in seen.err.rstrip("\n"))


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_terminals_of_few_letters_get_a_release(tmp_path: Path, encoding: str) -> None:
    """ε is spelt out there, and nothing fails after the release was made."""
    write_variants(VariantCounts.of({("größe 漢",): 50}), tmp_path / "log.csv")
    done = ran(
        tmp_path, "anonymize", "log.csv", "-o", "out.csv", "--epsilon", "1", "--seed", "1",
        PYTHONIOENCODING=encoding, PYTHONUTF8="0",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert b"epsilon = 1" in done.stdout
    assert (tmp_path / "out.csv").exists()


def test_a_name_that_is_too_long_is_no_mistake_of_ours(run: Run, tmp_path: Path) -> None:
    """As a log, as an output, and where only the certificate's would be."""
    write_variants(VariantCounts.of({("a",): 5}), tmp_path / "log.csv")
    for command in (
        ["inspect", tmp_path / f"{'x' * 300}.csv"],
        ["anonymize", tmp_path / "log.csv", "-o", tmp_path / f"{'x' * 300}.csv", "--epsilon", "1"],
        ["anonymize", tmp_path / "log.csv", "-o", tmp_path / f"{'x' * 245}.csv", "--epsilon", "1"],
        ["ledger", "show", tmp_path / ("x" * 300)],
    ):
        seen = run(*command)
        assert seen.status in (1, 2)
        assert "too long" in seen.err.lower(), seen.err
        assert "internal error" not in seen.err
    assert {p.name for p in tmp_path.iterdir()} == {"log.csv"}


def test_a_place_for_temporary_files_that_fails_is_named(tmp_path: Path) -> None:
    """And it is no mistake of ours."""
    write_variants(VariantCounts.of({("a",): 5}), tmp_path / "log.csv")
    for place in ("missing", "log.csv"):
        done = ran(tmp_path, "inspect", "log.csv", TMPDIR=str(tmp_path / place))
        assert done.returncode == 2
        assert b"TMPDIR" in done.stderr
        assert b"internal error" not in done.stderr


@pytest.mark.parametrize("suffix", ["csv", "parquet", "xes", "xes.gz", "json"])
def test_a_full_disk_is_one_line_about_the_output(tmp_path: Path, suffix: str) -> None:
    """A file that may not grow stands for it; nothing is left."""
    counts = {(f"activity number {i}",): 60 for i in range(400)}
    write_variants(VariantCounts.of(counts), tmp_path / "log.json")
    (tmp_path / "tmp").mkdir()
    program = (
        "import resource, signal, sys\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "from sacofa.cli import main\nmain(sys.argv[1:])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "anonymize", "log.json", "-o", f"out.{suffix}",
         "--mechanism", "laplace", "--epsilon", "10", "--max-length", "2", "--prune", "20",
         "--seed", "1"],
        cwd=tmp_path, check=False, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(Path(sacofa.__file__).parents[1]),
             "TMPDIR": str(tmp_path / "tmp")},
    )  # fmt: skip
    assert done.returncode in (1, 2)
    assert "internal error" not in done.stderr
    said = done.stderr.splitlines()[-1]
    assert said == f"sacofa: out.{suffix}: cannot be written: File too large"
    assert {p.name for p in tmp_path.iterdir()} == {"log.json", "tmp"}
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
@pytest.mark.parametrize(
    ("output", "said", "left"),
    [
        (["out.csv"], "the release was written before: out.csv", {"out.csv"}),
        (["-", "--certificate", "c.json"], "standard output: cannot be written", set()),
    ],
)
def test_a_standard_output_that_is_full_is_told(
    tmp_path: Path, output: list[str], said: str, left: set[str]
) -> None:
    """With what was written all the same; no certificate stays of a log that did not get out."""
    write_variants(VariantCounts.of({("a",): 50}), tmp_path / "log.csv")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "sacofa", "anonymize", "log.csv", "--epsilon", "1",
             "--max-length", "2", "-o", *output],
            cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
            env={**os.environ, "PYTHONPATH": str(Path(sacofa.__file__).parents[1])},
        )  # fmt: skip
    assert done.returncode == 2
    assert said in done.stderr.splitlines()[-1]
    found = {path.name for path in tmp_path.iterdir()} - {"log.csv"}
    assert found == left | {f"{name}.certificate.json" for name in left}
