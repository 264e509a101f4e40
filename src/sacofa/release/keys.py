"""Keys to sign with (Ed25519), as files that other programs read too.

A private key is a PEM file (PKCS #8) that its owner alone may read, sealed with a passphrase if one
is given; a public key is a PEM file (SubjectPublicKeyInfo) for everyone. A key is known by its id:
the SHA-256 of the public key.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.files import check_target, read_small, unreadable, write_secret, write_text
from ..errors import MissingExtraError, OutputError, ReadError, SettingError, Statement

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )
    from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes

PRIVATE, PUBLIC = ".key", ".pub"
"""How the names of key files end."""
MAX_KEY_BYTES = 1 << 16
"""Upper bound on the bytes of a key file."""

AskPassphrase = Callable[[], str]
"""Asks a person for the passphrase of a key; called only if the key has one."""


@contextmanager
def _using_cryptography() -> Iterator[None]:
    """Explain how to install the library that signs, if it is not there."""
    try:
        yield
    except ImportError:
        raise MissingExtraError("cryptography", "sign") from None


@dataclass(frozen=True, kw_only=True)
class PublicKey:
    """A key that signatures are checked with."""

    name: str
    """Whose it is: the name of its file."""
    id: str
    """The SHA-256 of the key."""
    key: Ed25519PublicKey = field(repr=False, compare=False)
    """The key itself."""

    def confirms(self, signature: bytes, message: bytes) -> bool:
        """Whether a signature of a message was made with the private key of this public key."""
        from cryptography.exceptions import InvalidSignature

        try:
            self.key.verify(signature, message)
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True, kw_only=True)
class PrivateKey:
    """A key to sign with."""

    public: PublicKey
    """Its public half."""
    key: Ed25519PrivateKey = field(repr=False, compare=False)
    """The key itself."""

    def sign(self, message: bytes) -> bytes:
        """Sign the bytes of a message."""
        return self.key.sign(message)


@_using_cryptography()
def make_key(
    name: str | Path, *, passphrase: str | None = None, force: bool = False
) -> tuple[Path, Path]:
    """Create a key pair: NAME.key, readable by its owner alone, and NAME.pub."""
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if passphrase == "":
        raise SettingError("passphrase", "empty", Statement("must.be.passphrase"))
    private, public = Path(f"{name}{PRIVATE}"), Path(f"{name}{PUBLIC}")
    for target in (private, public):
        check_target(target, force)
    key = Ed25519PrivateKey.generate()
    sealed: form.KeySerializationEncryption = form.NoEncryption()
    if passphrase is not None:
        sealed = form.BestAvailableEncryption(passphrase.encode())
    content = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, sealed)
    write_secret(private, content, force)
    pem = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    write_text(public, pem.decode(), force)
    return private, public


@_using_cryptography()
def read_private_key(path: str | Path, ask: AskPassphrase | None = None) -> PrivateKey:
    """Read a key to sign with; one that others may read is refused."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    content = read_small(path, MAX_KEY_BYTES, Statement("key.missing"))
    if b"PUBLIC KEY" in content:
        raise ReadError(path, Statement("key.public", suffix=PRIVATE))
    if os.name == "posix" and stat.S_IMODE(os.stat(path).st_mode) & 0o077:
        raise ReadError(path, Statement("key.open_to_others", path=str(path)))
    passphrase = None
    if b"ENCRYPTED" in content:
        if ask is None:
            raise ReadError(path, Statement("key.sealed"))
        passphrase = ask().encode()
    try:
        key = load_pem_private_key(content, passphrase)
    except ValueError:
        damaged = Statement("key.damaged_or_wrong_passphrase" if passphrase else "key.damaged")
        raise ReadError(path, damaged) from None
    except Exception:
        raise ReadError(path, Statement("key.unknown")) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise ReadError(path, Statement("key.other_kind"))
    return PrivateKey(public=_public(Path(path), key.public_key()), key=key)


@_using_cryptography()
def read_public_key(path: str | Path) -> PublicKey:
    """Read a key to check signatures with."""
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    content = read_small(path, MAX_KEY_BYTES, Statement("key.missing"))
    if b"PRIVATE KEY" in content:
        raise ReadError(path, Statement("key.private", suffix=PUBLIC))
    try:
        key = load_pem_public_key(content)
    except Exception:
        raise ReadError(path, Statement("key.damaged_public")) from None
    return _public(Path(path), key)


def _public(path: Path, key: PublicKeyTypes) -> PublicKey:
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if not isinstance(key, Ed25519PublicKey):
        raise ReadError(path, Statement("key.other_kind"))
    der = key.public_bytes(form.Encoding.DER, form.PublicFormat.SubjectPublicKeyInfo)
    name = path.name.removesuffix(PUBLIC).removesuffix(PRIVATE)
    return PublicKey(name=name, id=hashlib.sha256(der).hexdigest(), key=key)


def read_trusted_keys(folder: str | Path) -> list[PublicKey]:
    """Read all public keys of a folder: those whose signatures are trusted."""
    try:
        files = sorted(path for path in Path(folder).iterdir() if path.name.endswith(PUBLIC))
    except OSError as error:
        raise unreadable(folder, error) from None
    if not files:
        raise ReadError(folder, Statement("key.none_in_folder", suffix=PUBLIC))
    return [read_public_key(path) for path in files]


def named(keys: Iterable[PublicKey]) -> list[str]:
    """Name some keys for a message."""
    return [f"{key.name} ({key.id[:16]}…)" for key in keys]


def check_names(name: str | Path) -> None:
    """Refuse a name for a key that already ends as one of its files will."""
    if str(name).endswith((PRIVATE, PUBLIC)):
        raise OutputError(name, Statement("key.suffix", suffixes=(PRIVATE, PUBLIC)))
