"""Releases with a seed are what they were."""

from __future__ import annotations

import json
import re
from importlib.metadata import version
from pathlib import Path

import pytest

from ..seeded import CHECKSUMS, checksums

PINS = (Path(__file__).parents[2] / "constraints.txt").read_text(encoding="utf-8")
PINNED = set(re.findall(r"^(numpy|scipy)==(\S+)", PINS, re.MULTILINE))


@pytest.mark.skipif(
    any((name, version(name)) not in PINNED for name in ("numpy", "scipy")),
    reason="other versions of NumPy and SciPy round differently; the pinned ones are in CI",
)
def test_releases_with_a_seed_are_what_they_were() -> None:
    """A change that is meant to change releases runs `python -m tests.seeded`."""
    assert checksums() == json.loads(CHECKSUMS.read_text(encoding="utf-8"))
