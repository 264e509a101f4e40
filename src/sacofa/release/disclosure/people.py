"""What only people know about a release: who publishes it, what for, and where."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from ...errors import SettingError, Statement, advised

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
            _check_text(name, getattr(self, name))
        try:
            if date.fromisoformat(self.published).isoformat() != self.published:
                raise ValueError(self.published)
        except ValueError:
            raise SettingError("published", self.published, Statement("must.be.day")) from None
        if self.sector is not None and self.sector not in SECTORS:
            must = Statement("must.one_of", choices=SECTORS)
            raise SettingError("sector", self.sector, advised(must, self.sector, SECTORS))


def _check_text(name: str, value: str) -> None:
    if not value.strip() or len(value) > LONGEST:
        raise SettingError(name, repr(value[:50]), Statement("must.be.text_up_to", most=LONGEST))
    if not all(letter.isprintable() or letter == "\n" for letter in value):
        raise SettingError(name, repr(value[:50]), Statement("must.be.printable"))
