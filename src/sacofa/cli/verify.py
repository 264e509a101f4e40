"""`sacofa verify`: check a released file against its certificate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import typer

from ..errors import Statement
from ..release.envelope import signature_path
from ..release.sign import verify_signed
from ..release.verify import Verification
from ..release.verify import verify as verify_file
from .key import TrustedFolder, TrustedKey, trusted_keys
from .options import Json
from .show import format_epsilon, say, to_json
from .sign import CertificateFile, ReleasedFile


def verify(
    released: ReleasedFile,
    certificate: CertificateFile = None,
    key: TrustedKey = None,
    trusted: TrustedFolder = None,
    as_json: Json = False,
) -> None:
    """Check that a file is the certified one, that its certificate adds up, and who signed them."""
    keys = trusted_keys(key, trusted)
    checked = (
        verify_signed(released, keys, certificate=certificate)
        if keys
        else verify_file(released, certificate)
    )
    if as_json:
        typer.echo(to_json(_content(released, checked), indent=2))
    else:
        if checked.holds:
            for line in _describe(released, checked):
                say(line)
        for finding in checked.findings:
            say(Statement("cli.verify.finding", path=str(released), finding=finding))
    if not checked.holds:
        raise typer.Exit(1)


def _content(released: Path, checked: Verification) -> dict[str, object]:
    certificate = checked.certificate
    return {
        "file": str(released),
        "holds": checked.holds,
        "findings": list(map(str, checked.findings)),
        "signer": checked.signer,
        "epsilon": None if certificate.epsilon is None else str(certificate.epsilon),
        "publishable": certificate.publishable,
    }


def _describe(released: Path, checked: Verification) -> Iterator[Statement]:
    """What was found out about a file that is the certified one."""
    certificate = checked.certificate
    yield Statement("cli.verify.certified", path=str(released))
    epsilon = format_epsilon(certificate.epsilon)
    yield Statement("cli.verify.adds_up", queries=len(certificate.spent), epsilon=epsilon)
    if checked.signer is not None:
        yield Statement("cli.verify.signed", signer=checked.signer)
    elif signature_path(released).exists():
        yield Statement("cli.verify.unchecked")
    if not certificate.publishable:
        yield Statement("cli.verify.seeded")
