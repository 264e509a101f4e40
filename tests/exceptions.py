"""Write anew which files `ruff` spares: those that break a rule today, and no others.

`python -m tests.exceptions` changes the list in pyproject.toml. `test_habits.py` holds its length.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
RULES = ("C901", "PLR0913", "ANN401")
LIST = re.compile(r'^("src/.*" = \[.*\]\n)+', re.MULTILINE)


def broken_rules() -> dict[str, list[str]]:
    """The rules that each file of the package breaks."""
    ruff = [sys.executable, "-m", "ruff", "check", "src", "--isolated", "--output-format", "json"]
    limits = ["lint.mccabe.max-complexity = 10", "lint.pylint.max-args = 6"]
    settings = [word for limit in limits for word in ("--config", limit)]
    done = subprocess.run(
        [*ruff, "--select", ",".join(RULES), *settings],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    found: dict[str, set[str]] = {}
    for each in json.loads(done.stdout):
        found.setdefault(str(Path(each["filename"]).relative_to(ROOT)), set()).add(each["code"])
    return {name: sorted(rules) for name, rules in sorted(found.items())}


def write_exceptions() -> None:
    """Replace the list in pyproject.toml."""
    project = ROOT / "pyproject.toml"
    lines = [f'"{name}" = {json.dumps(rules)}\n' for name, rules in broken_rules().items()]
    text, count = LIST.subn("".join(lines), project.read_text(encoding="utf-8"))
    assert count == 1, "the list of files under src/ was not found"
    project.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_exceptions()
