"""The walk of one release: which functions of the package are called, and how deep.

`python -m tests.walk` prints it for `sacofa anonymize log.csv -o out.xes`.
"""

from __future__ import annotations

import inspect
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType

import sacofa

SOURCE = str(Path(sacofa.__file__).parent) + "/"
INNER = ("<lambda>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>")
"""Code that is part of the function around it."""


class Walk:
    """Counts the calls of functions of the package."""

    def __init__(self) -> None:
        self.calls: Counter[CodeType] = Counter()
        self.depth = 0
        self._now = 0

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Receive an event of the profiler."""
        code = frame.f_code
        # Functions that dataclasses generate have no file; modules and classes are not optimized.
        function = code.co_flags & inspect.CO_OPTIMIZED and code.co_name not in INNER
        if not (function and code.co_filename.startswith(SOURCE)):
            return
        if event == "call":
            self._now += 1
            self.depth = max(self.depth, self._now)
            self.calls[code] += 1
        elif event == "return":
            self._now -= 1

    def summary(self) -> dict[str, int]:
        """Count distinct functions and their modules."""
        return {
            "functions": len(self.calls),
            "modules": len({code.co_filename for code in self.calls}),
            "depth": self.depth,
        }


def walk(folder: Path) -> Walk:
    """Anonymize a small log from the command line, watched."""
    rows = [f"{i},{'abc'[i % 3]},2020-01-{1 + i % 28:02}" for i in range(600)]
    log = folder / "log.csv"
    log.write_text("case,activity,time\n" + "\n".join(rows), encoding="utf-8")
    from sacofa.cli import main

    watched = Walk()
    sys.setprofile(watched)
    try:
        # A seed, so that every walk is the same.
        main(
            ["anonymize", str(log), "-o", str(folder / "out.xes"), "--epsilon", "1", "--seed", "1"]
        )
    except SystemExit as end:
        assert not end.code, end.code
    finally:
        sys.setprofile(None)
    return watched


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        watched = walk(Path(name))
    if "--list" in sys.argv:
        for code, calls in sorted(watched.calls.items(), key=lambda item: item[0].co_filename):
            where = code.co_filename.removeprefix(SOURCE)
            sys.stderr.write(f"{calls:6} {where}:{code.co_qualname}\n")
    sys.stdout.write(f"{json.dumps(watched.summary())}\n")
