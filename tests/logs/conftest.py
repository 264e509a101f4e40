"""Servers are started once for all tests of readers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from .servers import postgresql_server, small_spark


@pytest.fixture(scope="session")
def session() -> Iterator[Any]:
    """A small Spark with several partitions."""
    with small_spark() as spark:
        yield spark


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The address of a fresh PostgreSQL server."""
    with postgresql_server() as there:
        yield there
