"""The only door out: a secret log goes in, a release with its certificate comes out."""

from .anonymize import Release, anonymize
from .certificate import Certificate
from .publish import publish
from .verify import Verification, verify
from .write import certificate_path, write_log

__all__ = [
    "Certificate",
    "Release",
    "Verification",
    "anonymize",
    "certificate_path",
    "publish",
    "verify",
    "write_log",
]
