"""What the app needs is loaded once for all tests of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..forked import APP, forked_program


@pytest.fixture(scope="session")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A program, and a Python, that starts the app and its workers quickly.

    For tests of what they do, not of their processes.
    """
    with forked_program(tmp_path_factory.mktemp("forked"), os.environ, APP) as script:
        yield script
