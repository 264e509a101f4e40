"""The public interface is the one that was agreed on."""

from __future__ import annotations

from .api import SNAPSHOT, describe


def test_the_public_interface_is_that_of_the_snapshot() -> None:
    """A change of a public name or signature is made on purpose, and shows in the review."""
    assert describe() == SNAPSHOT.read_text(encoding="utf-8"), "run: python -m tests.api"
