"""The only door out: a secret log goes in, a release with its certificate comes out."""

from .anonymize import Release, anonymize
from .certificate import Certificate
from .publish import publish
from .read import read_release
from .verify import Verification, verify
from .write import certificate_path, write_release

__all__ = [
    "Certificate",
    "Release",
    "Verification",
    "anonymize",
    "certificate_path",
    "publish",
    "read_release",
    "verify",
    "write_release",
]
