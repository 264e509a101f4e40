"""What jobs need is loaded once for all tests of the app."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..forked import WORKER, forked_program


@pytest.fixture(scope="session")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A Python that is quick to start workers: for tests of jobs, not of their processes."""
    with forked_program(tmp_path_factory.mktemp("forked"), os.environ, WORKER) as script:
        yield script
