"""`sacofa sign`: vouch for a release with a key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..release.keys import read_private_key
from ..release.sign import sign as sign_release
from .key import ask_passphrase, say_signed
from .options import Force

SigningKey = Annotated[Path, typer.Option("--key", help="The private key to sign with (.key).")]
ReleasedFile = Annotated[Path, typer.Argument(help="The released file.", metavar="FILE")]
CertificateFile = Annotated[
    Path | None,
    typer.Option(help="Its certificate. Default: FILE.certificate.json."),
]


def sign(
    released: ReleasedFile,
    key: SigningKey,
    certificate: CertificateFile = None,
    force: Force = False,
) -> None:
    """Sign a release: the file and its certificate, as they are, in FILE.signature.json."""
    signer = read_private_key(key, ask_passphrase)
    say_signed(sign_release(released, signer, certificate=certificate, force=force), signer)
