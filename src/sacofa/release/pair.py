"""A released file and its certificate, given their names as one step as far as that can be.

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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..base.files import explained, give_name, hash_file, locked, refuse, staged, sync_folder
from ..base.temporary import remove_abandoned
from ..errors import ReadError

PREFIX = ".sacofa-pair-"
"""How the names of folders begin in which pairs are made ready."""

OLD = "old"
"""Where what had a name before is kept, in a folder of its own, until all is done."""

LARGEST = 1 << 24
"""A certificate is never larger than this; what is was not written here."""


def certificate_path(path: str | Path) -> Path:
    """Where the certificate of a released file lies."""
    return Path(f"{path}.certificate.json")


@contextmanager
def write_pair(path: str | Path, force: bool = False) -> Iterator[tuple[Path, Path]]:
    """Give places to write a file and its certificate to; both get their names when all went well.

    What is written must have reached the disk. Of several that write to one name without force,
    one wins; with force, the last.
    """
    certificate = certificate_path(path)
    mend(path)
    with (
        staged(path, force, PREFIX) as file_part,
        staged(certificate, force, PREFIX) as certificate_part,
    ):
        yield file_part, certificate_part
        with explained(path):
            _give_names(path, file_part, certificate_part, force)


def _give_names(path: str | Path, file_part: Path, certificate_part: Path, force: bool) -> None:
    beside = certificate_path(path)
    file = _Name(path, file_part)
    certificate = _Name(beside, certificate_part)
    with locked(file.target.parent, certificate.target.parent):
        try:
            file.prepare(force)
            certificate.prepare(force)
            if certificate.old.exists():
                certificate.target.unlink()
            file.give(force)
            certificate.give(force)
        except BaseException:
            file.undo()
            certificate.undo()
            raise
    for folder in {file.target.parent, certificate.target.parent}:
        sync_folder(folder)


class _Name:
    """A name that a finished file is about to get, and what had it before."""

    def __init__(self, path: str | Path, part: Path) -> None:
        self.path, self.part = path, part
        self.target = Path(os.path.realpath(path))
        self.old = part.parent / OLD / self.target.name

    def prepare(self, force: bool) -> None:
        """Keep what has the name, by one more name or, where there are no links, as a copy."""
        refuse(self.path, self.target, force)
        if self.target.exists():
            self.old.parent.mkdir()
            try:
                os.link(self.target, self.old)
            except OSError:
                shutil.copyfile(self.target, self.old)
            sync_folder(self.old.parent)

    def give(self, force: bool) -> None:
        """Let the new file have the name."""
        give_name(self.part, self.target, self.path, force)

    def undo(self) -> None:
        """Put back what had the name; somebody else's file that has it by now stays."""
        with suppress(OSError):
            ours = not self.part.exists() or _same(self.part, self.target)
            if self.old.exists() and (ours or not self.target.exists()):
                os.replace(self.old, self.target)
            elif ours:
                self.target.unlink(missing_ok=True)


def _same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def mend(path: str | Path) -> None:
    """Give files without a certificate, beside this one, what a kill kept from them."""
    folder = Path(os.path.realpath(certificate_path(path))).parent
    with suppress(OSError, ValueError):
        if os.access(folder, os.W_OK):
            with locked(folder):
                remove_abandoned(folder, PREFIX, _rescue)


def _rescue(folder: Path) -> None:
    for kept in (*folder.glob("*.certificate.json"), *(folder / OLD).glob("*.certificate.json")):
        certificate = folder.parent / kept.name
        file = folder.parent / kept.name.removesuffix(".certificate.json")
        if not certificate.exists() and _fits(kept, file):
            os.replace(kept, certificate)


def _fits(certificate: Path, path: Path) -> bool:
    """Tell whether a certificate carries the hash of a file."""
    try:
        if certificate.stat().st_size > LARGEST or not path.is_file():
            return False
        content = json.loads(certificate.read_text(encoding="utf-8"))
        return bool(hash_file(path) == content["sha256"])
    except (OSError, ReadError, ValueError, KeyError, TypeError, RecursionError):
        return False
