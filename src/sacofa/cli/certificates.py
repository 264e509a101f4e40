"""`sacofa certificate`, `verify`, `sign` and `key`: what a release promises, and who vouches."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ..base.described import field_docs
from ..base.files import check_apart, check_target, read_small
from ..errors import Argument, ReadError, SettingError, Statement
from ..messages import check_language, languages
from ..release import certificate_path, disclosure, keys
from ..release.disclosure import Deployment
from ..release.read import Verification
from ..release.read import verify as verify_file
from ..release.sign import sign as sign_release
from ..release.sign import signature_path, verify_signed
from .options import Fields, Force, Json, ReleasedFile, make_group
from .show import format_epsilon, say, say_written, show_certificate, to_json

LARGEST_AUDIT = 1 << 24
"""The largest result of an audit that is read, in bytes."""
PASSPHRASE = "SACOFA_PASSPHRASE"
"""The environment variable with the passphrase. If it is not set, the user is prompted."""

CertificateFile = Annotated[
    Path | None, typer.Option(help="Its certificate. Default: FILE.certificate.json.")
]
SigningKey = Annotated[Path, typer.Option("--key", help="The private key to sign with (.key).")]
TrustedKey = Annotated[
    Path | None, typer.Option("--key", help="Public key (.pub) that must have signed.")
]
TrustedFolder = Annotated[
    Path | None,
    typer.Option("--trusted", help="Folder of public keys, one of which must have signed."),
]

key = make_group("Make keys to sign with, and show them.")


@dataclass(frozen=True, kw_only=True)
class Written:
    """What is written.

    Attributes:
        registry: Write a record for the OpenDP deployments registry (.yaml).
        markdown: Write the privacy statement as Markdown.
        html: Write the privacy statement as an HTML page.
        language: Language of the privacy statement.
        audit: Output of `sacofa audit --json` for the mechanism.
        force: Overwrite files that exist.
    """

    registry: Path | None = None
    markdown: Path | None = None
    html: Path | None = None
    language: str = languages()[0]
    audit: Path | None = None
    force: bool = False

    def files(self, released: Path) -> dict[str, Path]:
        """The files to be written, by form; those that cannot be written are refused."""
        given = {form: getattr(self, form) for form in ("registry", "markdown", "html")}
        files = {form: path for form, path in given.items() if path is not None}
        check_language(self.language)
        if self.registry is not None:
            disclosure.check_record_name(self.registry)
        for target in files.values():
            check_target(target, self.force)
        read = {"the release": released, "its certificate": certificate_path(released)}
        check_apart({f"the output --{form}": path for form, path in files.items()}, read)
        return files


def certificate(
    released: ReleasedFile,
    written: Annotated[Written, Fields()],
    facts: Annotated[partial[Deployment], Fields()],
) -> None:
    """Show a certificate, or write it for an impact assessment or a public registry.

    A registry needs facts that only people know. On a terminal, the program asks for those that
    were not given.
    """
    files = written.files(released)
    checked = verify_file(released)
    if not checked.holds:
        raise ReadError(released, checked.findings[0])
    if not files:
        show_certificate(checked.certificate)
        return
    people = _deployment(facts) if facts.keywords or "registry" in files else None
    audit = None if written.audit is None else _read_audit(written.audit)
    if (record := files.pop("registry", None)) is not None and people is not None:
        made = disclosure.make_record(checked.certificate, people, audit)
        disclosure.write_record(made, record, force=written.force)
        say_written({"registry": record})
    sections = disclosure.disclose(checked.certificate, deployment=people, audit=audit)
    for form, path in files.items():
        disclosure.write_annex(
            sections, path, language=written.language, form=form, force=written.force
        )
    say_written(files)


def _deployment(facts: partial[Deployment]) -> Deployment:
    """Return the entries that only people know: given as options, or prompted for."""
    required = [entry.name for entry in fields(Deployment) if entry.default is MISSING]
    missing = [name for name in required if name not in facts.keywords]
    if missing and not sys.stdin.isatty():
        known = Statement("must.known_by_people", missing=tuple(map(Argument, missing)))
        raise SettingError(missing[0], None, known)
    docs, today = field_docs(Deployment), datetime.now(UTC).date().isoformat()
    for name in missing:
        default = today if name == "published" else None
        answer = typer.prompt(docs[name].rstrip("."), default=default, err=True)
        facts = partial(facts, **{name: str(answer)})
    return facts()


def _read_audit(path: Path) -> dict[str, object]:
    content: object = None
    with suppress(ValueError, RecursionError):
        content = json.loads(read_small(path, LARGEST_AUDIT, Statement("file.missing")))
    if not isinstance(content, dict):
        raise ReadError(path, Statement("audit.unreadable"))
    return content


def verify(
    released: ReleasedFile,
    certificate: CertificateFile = None,
    key: TrustedKey = None,
    trusted: TrustedFolder = None,
    as_json: Json = False,
) -> None:
    """Check that a file is the certified one, that its certificate adds up, and who signed them."""
    if known := trusted_keys(key, trusted):
        checked = verify_signed(released, known, certificate=certificate)
    else:
        checked = verify_file(released, certificate)
    if as_json:
        epsilon = checked.certificate.epsilon
        content = {
            "file": str(released),
            "holds": checked.holds,
            "findings": list(map(str, checked.findings)),
            "signer": checked.signer,
            "epsilon": None if epsilon is None else str(epsilon),
            "delta": str(checked.certificate.delta),
            "publishable": checked.certificate.publishable,
        }
        typer.echo(to_json(content, indent=2))
    else:
        for line in _describe(released, checked):
            say(line)
    if not checked.holds:
        raise typer.Exit(1)


def _describe(released: Path, checked: Verification) -> Iterator[Statement]:
    """Describe the result of verifying a file."""
    certificate = checked.certificate
    if checked.holds:
        yield Statement("cli.verify.certified", path=str(released))
        claim = format_epsilon(certificate.epsilon, certificate.delta)
        yield Statement("cli.verify.adds_up", queries=len(certificate.spent), epsilon=claim)
        if checked.signer is not None:
            yield Statement("cli.verify.signed", signer=checked.signer)
        elif signature_path(released).exists():
            yield Statement("cli.verify.unchecked")
        if not certificate.publishable:
            yield Statement("cli.verify.seeded")
    for finding in checked.findings:
        yield Statement("cli.verify.finding", path=str(released), finding=finding)


def sign(
    released: ReleasedFile,
    key: SigningKey,
    certificate: CertificateFile = None,
    force: Force = False,
) -> None:
    """Sign a release: the file and its certificate, as they are, in FILE.signature.json."""
    signer = keys.read_private_key(key, ask_passphrase)
    written = sign_release(released, signer, certificate=certificate, force=force)
    say(Statement("cli.key.signed", path=str(written), signer=signer.public.name))


@key.command()
def new(
    name: Annotated[
        Path, typer.Argument(help="NAME.key and NAME.pub are written.", metavar="NAME")
    ],
    passphrase: Annotated[
        bool,
        typer.Option(
            "--passphrase",
            help=f"Protect the private key with a passphrase. You are asked for it, unless "
            f"{PASSPHRASE} is set.",
        ),
    ] = False,
    force: Force = False,
) -> None:
    """Make a key (Ed25519): a private one to sign with, and a public one to hand out."""
    keys.check_names(name)
    secret = ask_passphrase(twice=True) if passphrase else None
    private, public = keys.make_key(name, passphrase=secret, force=force)
    say(Statement("cli.key.private", path=str(private)))
    say(Statement("cli.key.public", path=str(public), id=keys.read_public_key(public).id))


@key.command()
def show(
    files: Annotated[list[Path], typer.Argument(help="Public keys.", metavar="KEY …")],
) -> None:
    """Show the ids of public keys, to compare them through another channel."""
    for path in files:
        say(f"{path}: {keys.read_public_key(path).id}")


def ask_passphrase(*, twice: bool = False) -> str:
    """Ask for a passphrase, unless the environment has it."""
    if (given := os.environ.get(PASSPHRASE)) is not None:
        return given
    if not sys.stdin.isatty():
        must = Statement("must.in_environment", variable=PASSPHRASE)
        raise SettingError("passphrase", None, must)
    return str(typer.prompt("Passphrase", hide_input=True, confirmation_prompt=twice, err=True))


def trusted_keys(key: Path | None, folder: Path | None) -> list[keys.PublicKey]:
    """Read the keys that are trusted; none if none were named."""
    found = [] if key is None else [keys.read_public_key(key)]
    return found + ([] if folder is None else keys.read_trusted_keys(folder))
