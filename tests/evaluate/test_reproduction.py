"""The paper's main claims hold in a quick reproduction."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from sacofa.cli import main
from sacofa.evaluate.drawing import draw_models
from sacofa.evaluate.measures.model import discover_model
from sacofa.evaluate.reproduction import (
    BASELINE,
    CERTIFIED,
    CLAIMS,
    SACOFA,
    SETTINGS,
    Reproduction,
    find_logs,
)
from sacofa.evaluate.runs import RunTable, Summary
from sacofa.kernel.variants import VariantCounts


@pytest.mark.slow
def test_the_paper_s_main_claims(logs: Path, tmp_path: Path) -> None:
    """`sacofa reproduce --quick`: SaCoFa beats the baseline in F-score and in normal cases.

    Every run has a seed of its own, so one of each kind finds the same every time.
    """
    quick = ["--quick", "--repeat", "1", "--workers", "1"]
    with pytest.raises(SystemExit) as end:
        main(["reproduce", *quick, "--logs", str(logs), "-o", str(tmp_path)])
    assert not end.value.code
    table = RunTable(tmp_path / "runs.csv")
    assert {row.status for row in table.rows()} == {"done"}
    summary = Summary(table.rows())
    assert sorted(summary.logs) == ["CoSeLoG", "Sepsis"]
    for log in summary.logs:
        for epsilon in ("0.1", "0.01"):
            for measure in ("f_score", "normal"):
                ours = summary.median(measure, log, SACOFA, epsilon)
                assert ours > summary.median(measure, log, BASELINE, epsilon)
            assert summary.spent(log, CERTIFIED, epsilon) == epsilon
            assert summary.spent(log, SACOFA, epsilon) == "∞"
    report = (tmp_path / "README.md").read_text()
    for claim in CLAIMS:
        assert claim.says in report
    for name in ("f_score", "generalization", "normal", "pruning", "similarity", "models"):
        assert (tmp_path / f"{name}.svg").stat().st_size > 1000
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    with (tmp_path / "runs.csv").open(newline="") as file:
        originals = [row for row in csv.DictReader(file) if row["series"] == "original"]
    found = {row["log"]: row["f_score"][:5] for row in originals}
    assert found == {"CoSeLoG": "0.412", "Sepsis": "0.619"}


def test_the_full_reproduction_has_every_run() -> None:
    """3 logs × 3 ε × mechanisms × 10, and each original once; every seed is its own."""
    runs = Reproduction().runs()
    for series in (BASELINE, SACOFA, CERTIFIED):
        assert sum(run.series == series for run in runs) == 3 * 3 * 10
    assert sum(run.series == "original" for run in runs) == 3
    assert len({run.seed for run in runs}) == len(runs)


def test_pruning_follows_the_program_or_the_text() -> None:
    """Finished prefixes are kept, unless the paper's text is followed."""
    for prune_finished in (False, True):
        runs = Reproduction(repeat=1, prune_finished=prune_finished).runs()
        papers = [run for run in runs if run.series in (BASELINE, SACOFA)]
        wanted = f'"prune_finished": {str(prune_finished).lower()}'
        assert all(wanted in run.settings for run in papers)


def test_missing_logs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line names the file that is not there; a table is taken before an XES file."""
    for name in ("receipt.xes.gz", "receipt.parquet"):
        (tmp_path / name).write_bytes(b"")
    assert find_logs(tmp_path) == {"CoSeLoG": tmp_path / "receipt.parquet"}
    with pytest.raises(SystemExit) as end:
        main(["reproduce", "--logs", str(tmp_path), "-o", str(tmp_path / "out")])
    assert end.value.code == 1
    error = capsys.readouterr().err
    assert SETTINGS[1].file in error
    assert len(error.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_models_are_drawn(tmp_path: Path, random_log: Callable[..., VariantCounts]) -> None:
    """Two models under their titles, with the names of the activities."""
    models = {f"model {seed}": discover_model(random_log(seed)) for seed in (1, 2)}
    draw_models(models, tmp_path, "models")
    text = (tmp_path / "models.svg").read_text()
    assert "model 1" in text
    assert "model 2" in text
    assert ">a</text>" in text
