"""Write a release: a file and its certificate, named as one step as far as that can be.

Two names cannot change at once. So first the old certificate loses its name, then the new file gets
its own, then the new certificate. At no moment does a certificate lie beside a file that it does
not fit. An error in between undoes what was done. A kill can leave a file without a certificate;
then both certificates, old and new, still lie in the folder where they were made ready, and the one
with the hash of the file gets its name when the file is verified or the next one is written.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..base.files import explained, give_name, hash_file, locked, refuse, staged, sync, sync_folder
from ..base.temporary import remove_abandoned
from ..errors import ReadError
from .anonymize import Release
from .certificate import Certificate
from .formats import store_log

PREFIX = ".sacofa-pair-"
"""How the names of folders begin in which pairs are made ready."""
OLD = "old"
"""Private folder for replaced files until both names are set."""
SUFFIX = ".certificate.json"
MAX_CERTIFICATE_BYTES = 1 << 24
"""Upper bound on the size of a certificate; larger files are not certificates."""

Before = Callable[[Certificate, int], None]
"""Receives the certificate and the bytes of the file before either has its final name."""


def certificate_path(path: str | Path) -> Path:
    """Where the certificate of a released file lies."""
    return Path(f"{path}{SUFFIX}")


def write_release(
    release: Release, path: str | Path, *, force: bool = False, before: Before | None = None
) -> Certificate:
    """Write a release as a log, in the format of its suffix, and its certificate beside it.

    Both appear whole or not at all, and at no moment is there a certificate beside a file that it
    does not fit. It carries the hash of the log. Of several that write to one name without force,
    one wins; with force, the last.
    """
    mend(path)
    beside = certificate_path(path)
    with staged(path, force, PREFIX) as log_part, staged(beside, force, PREFIX) as certificate_part:
        with explained(path, log_part):
            store_log(release.log, log_part)
            sync(log_part)
        certificate = release.certificate.of_file(hash_file(log_part))
        certificate_part.write_text(certificate.to_json(), encoding="utf-8")
        sync(certificate_part)
        if before is not None:
            before(certificate, log_part.stat().st_size)
        with explained(path):
            _give_names(_Name(path, log_part), _Name(beside, certificate_part), force)
    return certificate


class _Name:
    """A name that a finished file is about to get, and the file that had it before."""

    def __init__(self, path: str | Path, part: Path) -> None:
        self.path, self.part = path, part
        self.target = Path(os.path.realpath(path))
        self.old = part.parent / OLD / self.target.name

    def prepare(self, force: bool) -> None:
        """Keep the file that has the name, by a second hard link or else as a copy."""
        refuse(self.path, self.target, force)
        if self.target.exists():
            self.old.parent.mkdir()
            try:
                os.link(self.target, self.old)
            except OSError:
                shutil.copyfile(self.target, self.old)
            sync_folder(self.old.parent)

    def undo(self) -> None:
        """Restore the file that had the name, unless another program has taken the name."""
        with suppress(OSError):
            there = self.target.exists()
            ours = not self.part.exists() or (there and self.part.samefile(self.target))
            if self.old.exists() and (ours or not there):
                os.replace(self.old, self.target)
            elif ours:
                self.target.unlink(missing_ok=True)


def _give_names(file: _Name, certificate: _Name, force: bool) -> None:
    both = (file, certificate)
    with locked(*(name.target.parent for name in both)):
        try:
            for name in both:
                name.prepare(force)
            if certificate.old.exists():
                certificate.target.unlink()
            for name in both:
                give_name(name.part, name.target, name.path, force)
        except BaseException:
            for name in both:
                name.undo()
            raise
    for folder in {name.target.parent for name in both}:
        sync_folder(folder)


def mend(path: str | Path) -> None:
    """Restore certificates next to this file that an interrupted run did not name."""
    folder = Path(os.path.realpath(certificate_path(path))).parent
    with suppress(OSError, ValueError):
        if os.access(folder, os.W_OK):
            with locked(folder):
                remove_abandoned(folder, PREFIX, _rescue)


def _rescue(folder: Path) -> None:
    """Give each kept certificate that carries the hash of its file its name."""
    for kept in (*folder.glob(f"*{SUFFIX}"), *(folder / OLD).glob(f"*{SUFFIX}")):
        certificate = folder.parent / kept.name
        file = folder.parent / kept.name.removesuffix(SUFFIX)
        with suppress(OSError, ReadError, ValueError, KeyError, TypeError, RecursionError):
            if (
                kept.stat().st_size > MAX_CERTIFICATE_BYTES
                or not file.is_file()
                or certificate.exists()
            ):
                continue
            if hash_file(file) == json.loads(kept.read_text(encoding="utf-8"))["sha256"]:
                os.replace(kept, certificate)
