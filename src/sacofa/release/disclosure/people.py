"""What only people know about a release: who publishes it, what for, and where."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from ...errors import SettingError, nearest

SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
"""The closed list of the OpenDP deployments registry."""
LONGEST = 5_000


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """Who publishes a release, what for, and where; the certificate cannot know it."""

    name: str
    """What the published data is called."""
    curator: str
    """Who publishes it."""
    purpose: str
    """What it is meant to be used for."""
    region: str
    """Which region it describes, or whose law applies."""
    description: str
    """What it is, in a sentence or two."""
    published: str
    """When it was published: 2026-10-31."""
    author: str
    """Who fills in this record."""
    sector: str | None = None
    """Which field it is about: Technology, Healthcare, Education, Government, Energy or Finance."""

    def __post_init__(self) -> None:
        for name in ("name", "curator", "purpose", "region", "description", "author"):
            value = getattr(self, name)
            if not value.strip() or len(value) > LONGEST:
                raise SettingError(name, repr(value[:50]), f"a text of 1 to {LONGEST:,} letters")
            if not all(letter.isprintable() or letter == "\n" for letter in value):
                raise SettingError(name, repr(value[:50]), "printable text")
        try:
            if date.fromisoformat(self.published).isoformat() != self.published:
                raise ValueError(self.published)
        except ValueError:
            raise SettingError("published", self.published, "a day: 2026-10-31") from None
        if self.sector is not None and self.sector not in SECTORS:
            advice = nearest(self.sector, SECTORS)
            raise SettingError("sector", self.sector, f"one of {', '.join(SECTORS)}.{advice}")
