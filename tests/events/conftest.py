"""Servers are started once for all tests of readers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sacofa.events import count_variants
from sacofa.kernel.variants import VariantCounts

from .servers import postgresql_server, small_spark


@pytest.fixture(scope="session")
def from_xes(logs: Path) -> Callable[[str], VariantCounts]:
    """Counts one of the paper's logs from its XES file, once: the largest takes seconds."""
    return cache(lambda name: count_variants(logs / f"{name}.xes.gz"))


# One process has one Spark at a time: what else needs another is not in its way.
@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    """A small Spark with several partitions."""
    with small_spark() as spark:
        yield spark


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The address of a fresh PostgreSQL server."""
    with postgresql_server() as there:
        yield there
