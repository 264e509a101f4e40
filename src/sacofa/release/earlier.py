"""What earlier releases show, for a mechanism that can start from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import is_dataclass, replace
from pathlib import Path

from ..base.batches import join_variants
from ..errors import ReadError, SettingError, Statement
from ..kernel.variants import VariantCounts
from ..mechanisms.protocol import Mechanism
from .read import read_release


def start_from(mechanism: Mechanism, earlier: Sequence[str | Path]) -> Mechanism:
    """The same mechanism, with candidates from earlier releases; they must be publishable."""
    if not earlier:
        return mechanism
    if not (mechanism.capabilities.earlier and is_dataclass(mechanism)):
        raise SettingError(
            "earlier", len(earlier), Statement("must.be.left_out_for", mechanism=mechanism.name)
        )
    return replace(mechanism, earlier=read_earlier(earlier))


def read_earlier(paths: Sequence[str | Path]) -> VariantCounts:
    """The variants of earlier releases, together."""
    found = []
    for path in paths:
        release = read_release(path)
        if not release.certificate.publishable or release.certificate.epsilon is None:
            raise ReadError(path, Statement("earlier.not_public"))
        found.append(release.variants)
    return join_variants(found)
