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
    """Facts about a publication that the certificate cannot know.

    Attributes:
        name: Name of the published data.
        curator: Publisher.
        purpose: Intended use.
        region: Region that the data describes, or whose law applies.
        description: Description in one or two sentences.
        published: Date of publication, such as 2026-10-31.
        author: Author of this record.
        sector: Sector: Technology, Healthcare, Education, Government, Energy or Finance.
    """

    name: str
    curator: str
    purpose: str
    region: str
    description: str
    published: str
    author: str
    sector: str | None = None

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
