"""What is asked of a Parquet file before a library opens it: that its columns are not millions.

A file of a few megabytes can hold the names of a million columns, and libraries take minutes and
gigabytes for them. How many there are stands at the beginning of the footer.
"""

from __future__ import annotations

import re
from pathlib import Path

from ...errors import ReadError
from .csv_files import MAX_COLUMNS, too_wide

LARGEST_FOOTER = 1 << 20
"""A footer that does not tell its columns first, as all known programs let it do, is no longer."""

# The footer is a FileMetaData in Thrift's compact protocol: field 1, the version as a number;
# field 2, the schema as a list, whose length stands in four bits or, from 15 on, as a number.
_NUMBER = rb"[\x80-\xff]{0,4}[\x00-\x7f]"
_FOOTER = re.compile(rb"\x15" + _NUMBER + rb"\x19(?:\xfc(" + _NUMBER + rb")|[\x0c-\xec])")


def refuse_wide(path: Path) -> None:
    """Refuse a Parquet file with more columns than a table may have."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(size - 8, 0))
            tail = file.read(8)
            length = int.from_bytes(tail[:4], "little")
            if tail[4:] != b"PAR1" or length > size - 8:
                # Not Parquet, or cut short: whoever reads it says so.
                return
            file.seek(size - 8 - length)
            found = _FOOTER.match(file.read(16))
    except OSError as error:
        raise ReadError(path, f"cannot be read: {error.strerror}") from None
    if found is None and length > LARGEST_FOOTER:
        raise ReadError(path, "its footer does not tell its columns: write it anew, or as CSV")
    # The first element of a schema is its root.
    if found is not None and found[1] is not None and _number(found[1]) - 1 > MAX_COLUMNS:
        raise too_wide(path)


def _number(varint: bytes) -> int:
    """Read a number of seven bits a byte, the lowest first."""
    return sum((byte & 0x7F) << 7 * place for place, byte in enumerate(varint))
