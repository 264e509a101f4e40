"""Standard input as a file: a log is read more than once, and a pipe can be read only once."""

from __future__ import annotations

import shutil
import sys
from contextlib import ExitStack
from pathlib import Path
from weakref import finalize

from ..base.temporary import secret_folder
from ..errors import OutputError, Statement

NAME = "-"
"""What stands for standard input in place of a path."""


class StandardInput:
    """What came from standard input, in a file that goes when nobody holds this any more."""

    def __init__(self) -> None:
        stack = ExitStack()
        folder = stack.enter_context(secret_folder())
        finalize(self, stack.close)
        self.path: Path = folder / "standard input"
        try:
            with self.path.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
        except OSError as error:
            what = Statement("read.file.input_not_kept", why=error.strerror or str(error))
            raise OutputError(folder.parent, what) from None
