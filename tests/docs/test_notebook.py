"""The notebook for researchers runs from top to bottom, and shows what its text says."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from .pages import ROOT
from .shell import Shell

NOTEBOOK = ROOT / "examples" / "researchers.ipynb"


def cells() -> list[str]:
    """Its code, cell by cell."""
    content = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert content["nbformat"] == 4
    return ["".join(c["source"]) for c in content["cells"] if c["cell_type"] == "code"]


def test_the_notebook_runs(tmp_path: Path, shell: Shell) -> None:
    """In a process of its own: both mechanisms cost the same, and the audit refutes nothing."""
    pytest.importorskip("pm4py", reason="needs the extra evaluate")
    script = tmp_path / "notebook.py"
    script.write_text("\n".join(cells()), encoding="utf-8")
    done = subprocess.run(
        [str(shell.programs / "sacofa"), str(script)],
        cwd=tmp_path,
        env=shell.environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert set(re.findall(r"^(\w+): ε = 1,", done.stdout, re.M)) == {"certified", "laplace"}
    similar = dict(re.findall(r"^(\w+): similarity (0\.\d+)", done.stdout, re.M))
    assert float(similar["certified"]) > float(similar["laplace"])
    assert done.stdout.count(": not refuted") == 2


def test_the_notebook_is_kept_without_results() -> None:
    """What it prints is the reader's own; results of another version would be stale."""
    content = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert not any(c.get("outputs") for c in content["cells"])
