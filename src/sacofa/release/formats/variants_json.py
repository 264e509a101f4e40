"""Released variants with their counts as JSON, which the reader of logs takes as well."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ...events import variants_json
from ...kernel.attributes import Kind
from ...mechanisms.released import ReleasedLog
from .format import Format


def write(log: ReleasedLog, path: Path) -> None:
    """Write the variants of a log, one in each line."""
    variants = log.variants
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f'{{"format": "{variants_json.FORMAT}",\n')
        file.write(f' "activities": {json.dumps(variants.activities, ensure_ascii=False)},\n')
        file.write(' "variants": [')
        comma = "\n"
        for (names, count), finished in zip(variants, variants.complete.tolist(), strict=True):
            entry = {"activities": names, "count": count, "finished": finished}
            file.write(f"{comma}  {json.dumps(entry, ensure_ascii=False)}")
            comma = ",\n"
        file.write("\n ]}\n")


def read(path: Path, kinds: Mapping[str, Kind]) -> ReleasedLog:
    """Read variants back; they have no attributes."""
    return ReleasedLog(variants=variants_json.read_variants(path))


JSON = Format(
    name="JSON: variants and counts", suffix=".json", write=write, read=read, holds_events=False
)
