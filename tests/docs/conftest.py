"""A shell is started once for all tests of documents."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .shell import Shell, started_shell


@pytest.fixture(scope="session")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """What all pages and examples share."""
    with started_shell(tmp_path_factory.mktemp("shell")) as started:
        yield started
