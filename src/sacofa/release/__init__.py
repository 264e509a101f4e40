"""The only way out: a confidential log goes in, a release with its certificate comes out."""

from .anonymize import Release
from .certificate import Certificate
from .keys import PrivateKey, PublicKey, make_key, read_private_key, read_public_key
from .publish import Listener, Request, anonymize, publish
from .read import Verification, read_release, verify
from .sign import sign, verify_signed
from .write import certificate_path, write_release

__all__ = [
    "Certificate",
    "Listener",
    "PrivateKey",
    "PublicKey",
    "Release",
    "Request",
    "Verification",
    "anonymize",
    "certificate_path",
    "make_key",
    "publish",
    "read_private_key",
    "read_public_key",
    "read_release",
    "sign",
    "verify",
    "verify_signed",
    "write_release",
]
