"""Attributes for a release of the flow: asked for under their share of ε, then drawn."""

from __future__ import annotations

from ...kernel.session import Session
from ...kernel.variants import VariantCounts
from ...synthesis.attributes.ask import attribute_queries, laid_out
from ...synthesis.attributes.release import release_attributes
from ...synthesis.released import ReleasedColumn
from .settings import CertifiedSettings

FINE = 53
"""Bits of a number from 0 to 1."""


def ask_attributes(
    settings: CertifiedSettings, session: Session, released: VariantCounts
) -> tuple[ReleasedColumn, ...]:
    """Ask the log for attributes, and give released cases and events values.

    How fine tables are follows from the released variants, which are public by now.
    """
    scale = session.cell_epsilon(1, settings.attribute_price)
    asked = attribute_queries(released, session.attributes, session.pairs, scale)
    tables = [
        session.ask(query, price * session.unit.max_cases, "attributes")
        for query, price in zip((*asked.tables, *asked.pairs), asked.prices, strict=True)
    ]
    return release_attributes(
        asked,
        tables,
        session.attributes,
        session.pairs,
        laid_out(released),
        lambda size: session.noise.below(1 << FINE, size) / float(1 << FINE),
    )
