"""Keys to sign with (Ed25519), as files that other programs read too.

A private key is a PEM file (PKCS #8) that its owner alone may read, sealed with a passphrase if one
is given; a public key is a PEM file (SubjectPublicKeyInfo) for everyone. A key is known by its id:
the SHA-256 of the public key.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..base.files import check_target, write_whole
from ..errors import MissingExtraError, OutputError, ReadError, SettingError

PRIVATE, PUBLIC = ".key", ".pub"
"""How the names of key files end."""
LARGEST = 1 << 16
"""No file of a key is larger."""

AskPassphrase = Callable[[], str]
"""Asks a person for the passphrase of a key; called only where the key has one."""


@dataclass(frozen=True, kw_only=True)
class PublicKey:
    """A key that signatures are checked with."""

    name: str
    """Whose it is: the name of its file."""
    id: str
    """The SHA-256 of the key."""
    key: Any = field(repr=False, compare=False)
    """The key itself."""

    def confirms(self, signature: bytes, message: bytes) -> bool:
        """Tell whether a signature over a message was made with the private half."""
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
    key: Any = field(repr=False, compare=False)
    """The key itself."""

    def sign(self, message: bytes) -> bytes:
        """Sign the bytes of a message."""
        signature: bytes = self.key.sign(message)
        return signature


def make_key(
    name: str | Path, *, passphrase: str | None = None, force: bool = False
) -> tuple[Path, Path]:
    """Make a key: NAME.key, for its owner's eyes only, and NAME.pub, for everyone."""
    serialization = _cryptography("hazmat.primitives.serialization")
    ed25519 = _cryptography("hazmat.primitives.asymmetric.ed25519")
    if passphrase == "":
        raise SettingError("passphrase", "empty", "one letter or more, or left out")
    private, public = Path(f"{name}{PRIVATE}"), Path(f"{name}{PUBLIC}")
    for target in (private, public):
        check_target(target, force)
    key = ed25519.Ed25519PrivateKey.generate()
    sealed = (
        serialization.NoEncryption()
        if passphrase is None
        else serialization.BestAvailableEncryption(passphrase.encode())
    )
    content = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, sealed
    )
    with write_whole(private, force) as part:
        # It has these rights before it holds a letter.
        place = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(place, "wb") as file:
            file.write(content)
    with write_whole(public, force) as part:
        part.write_bytes(_pem(key.public_key()))
    return private, public


def read_private_key(path: str | Path, ask: AskPassphrase | None = None) -> PrivateKey:
    """Read a key to sign with; one that others may read is refused."""
    serialization = _cryptography("hazmat.primitives.serialization")
    content = _read(path)
    if b"PUBLIC KEY" in content:
        raise ReadError(path, f"is a public key: sign with the private one (…{PRIVATE})")
    if os.name == "posix" and stat.S_IMODE(os.stat(path).st_mode) & 0o077:
        raise ReadError(path, f"can be read by others than its owner: chmod 600 {path}")
    passphrase = None
    if b"ENCRYPTED" in content:
        if ask is None:
            raise ReadError(path, "has a passphrase: give it")
        passphrase = ask().encode()
    try:
        key = serialization.load_pem_private_key(content, passphrase)
    except ValueError:
        what = "damaged, or the passphrase is wrong" if passphrase else "no key, or damaged"
        raise ReadError(path, what) from None
    except Exception:
        raise ReadError(path, "no key of a kind that is known here") from None
    _check_kind(path, key)
    return PrivateKey(public=_public(Path(path), key.public_key()), key=key)


def read_public_key(path: str | Path) -> PublicKey:
    """Read a key to check signatures with."""
    serialization = _cryptography("hazmat.primitives.serialization")
    content = _read(path)
    if b"PRIVATE KEY" in content:
        raise ReadError(path, f"is a private key: check with the public one (…{PUBLIC})")
    try:
        key = serialization.load_pem_public_key(content)
    except Exception:
        raise ReadError(path, "no public key, or damaged") from None
    _check_kind(path, key)
    return _public(Path(path), key)


def read_trusted_keys(folder: str | Path) -> list[PublicKey]:
    """Read all public keys of a folder: those whose signatures are trusted."""
    try:
        files = sorted(path for path in Path(folder).iterdir() if path.name.endswith(PUBLIC))
    except OSError as error:
        raise ReadError(folder, f"cannot be read: {error.strerror}") from None
    if not files:
        raise ReadError(folder, f"no public key (…{PUBLIC}) lies in this folder")
    return [read_public_key(path) for path in files]


def named(keys: Iterable[PublicKey]) -> str:
    """Name some keys in a message."""
    return ", ".join(f"{key.name} ({key.id[:16]}…)" for key in keys)


def _public(path: Path, key: Any) -> PublicKey:
    serialization = _cryptography("hazmat.primitives.serialization")
    der = key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    name = path.name.removesuffix(PUBLIC).removesuffix(PRIVATE)
    return PublicKey(name=name, id=hashlib.sha256(der).hexdigest(), key=key)


def _pem(key: Any) -> bytes:
    serialization = _cryptography("hazmat.primitives.serialization")
    content: bytes = key.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return content


def _check_kind(path: str | Path, key: Any) -> None:
    ed25519 = _cryptography("hazmat.primitives.asymmetric.ed25519")
    if not isinstance(key, (ed25519.Ed25519PrivateKey, ed25519.Ed25519PublicKey)):
        raise ReadError(path, "a key of another kind: make an Ed25519 key with sacofa key new")


def _read(path: str | Path) -> bytes:
    try:
        if not Path(path).is_file():
            raise ReadError(path, "there is no such key: make one with sacofa key new NAME")
        with open(path, "rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise ReadError(path, f"cannot be read: {error.strerror}") from None
    if len(content) > LARGEST:
        raise ReadError(path, "is too large for a key")
    return content


def _cryptography(module: str) -> Any:
    """Load a part of the library that signs; it explains itself where that is not there."""
    from importlib import import_module

    try:
        return import_module(f"cryptography.{module}")
    except ImportError:
        raise MissingExtraError("cryptography", "sign") from None


def check_names(name: str | Path) -> None:
    """Refuse a name for a key that already ends as one of its files will."""
    if str(name).endswith((PRIVATE, PUBLIC)):
        raise OutputError(name, f"leave out {PRIVATE} and {PUBLIC}: both files are made")
