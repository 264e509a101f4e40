"""Read a release back: the released file with the certificate that lies beside it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ..errors import ReadError
from ..logs import count_variants, read_log
from ..release import Certificate, Release, certificate_path


def read_release(path: str | Path) -> Release:
    """Read a released log and its certificate; a file that is not the certified one is refused."""
    source = Path(path)
    log = read_log(source)
    beside = certificate_path(source)
    try:
        text = beside.read_text(encoding="utf-8")
        with source.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise ReadError(source, f"has no certificate beside it ({beside.name})") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ReadError(beside, f"cannot be read: {error}") from None
    certificate = Certificate.from_json(text, beside)
    if certificate.sha256 != sha256:
        raise ReadError(source, "is not the file that its certificate was made for")
    return Release(variants=count_variants(log), certificate=certificate)
