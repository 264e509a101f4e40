"""Word lists for recognizing columns by their names and values: `words.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path

WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
"""All lists of the file, by name."""
