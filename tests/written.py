"""Logs that tests write as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sacofa.base.files import write_whole
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms.released import ReleasedLog
from sacofa.release.formats import store_log


def write_variants(
    variants: VariantCounts, path: str | Path, *, force: bool = False, **parts: Any
) -> None:
    """Write variants, with what else a released log has, in the format of a file's suffix."""
    with write_whole(path, force) as part:
        store_log(ReleasedLog(variants=variants, **parts), part)
