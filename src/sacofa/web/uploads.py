"""Uploaded logs: streamed to the app's own folder, and deleted as soon as they are not needed."""

from __future__ import annotations

import hashlib
import re
import secrets
import shutil
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path, PurePosixPath, PureWindowsPath

from pydantic import Field
from starlette.concurrency import run_in_threadpool

from ..errors import ReadError, SacofaError, Statement
from ..events.find_source import format_of
from ..events.formats import SUFFIXES
from .requests import ColumnChoice
from .schemas import LogAnswer
from .settings import ServeSettings

MAX_LOGS = 20
"""How many logs one person may have uploaded at a time."""
BLOCK = 1 << 20


class TooManyError(SacofaError):
    """More uploads or jobs than one person may have."""


class Upload(LogAnswer):
    """A log that somebody uploaded; answers hold the fields of its base alone."""

    owner: str
    path: Path
    sha256: str
    until: float
    """When it is deleted at the latest."""
    seconds_left: int = 0
    reading: ColumnChoice = ColumnChoice()
    draft: dict[str, str] = Field(default_factory=dict)
    using: int = 0
    """How many jobs read it now."""


class Uploads:
    """All uploaded logs."""

    def __init__(self, settings: ServeSettings) -> None:
        self._settings = settings
        self._uploads: dict[str, Upload] = {}
        self._coming: Counter[str] = Counter()
        """How many uploads of each person have begun and not ended."""

    def of(self, owner: str) -> list[Upload]:
        """A person's uploads, the latest first."""
        found = [upload for upload in reversed(self._uploads.values()) if upload.owner == owner]
        for upload in found:
            upload.seconds_left = max(0, round(upload.until - self._settings.clock()))
        return found

    def get(self, owner: str, id: str) -> Upload | None:
        """One of a person's uploads; those of others do not exist."""
        return next((upload for upload in self.of(owner) if upload.id == id), None)

    async def receive(self, owner: str, name: str, blocks: AsyncIterator[bytes]) -> Upload:
        """Write a log to disk as it comes in; nothing is left of one that does not come whole."""
        name = plain_name(name)
        suffix = _known_suffix(name)
        # Those that are still coming count, or many at once would pass any limit.
        if len(self.of(owner)) + self._coming[owner] >= MAX_LOGS:
            raise TooManyError(Statement("web.too_many_logs", logs=MAX_LOGS))
        id = secrets.token_urlsafe(16)
        path = self._settings.folder / "logs" / id / f"log{suffix}"
        path.parent.mkdir(parents=True, mode=0o700)
        self._coming[owner] += 1
        try:
            size, sha256 = await _write(path, blocks)
            if not size:
                raise ReadError(name, Statement("file.empty"))
        except BaseException:
            shutil.rmtree(path.parent, ignore_errors=True)
            raise
        finally:
            self._coming[owner] -= 1
        until = self._settings.clock() + self._settings.keep
        upload = Upload(
            id=id, owner=owner, name=name, path=path, bytes=size, sha256=sha256, until=until
        )
        self._uploads[id] = upload
        return upload

    def forget_inspection(self, id: str) -> None:
        """Forget what a job said of a log."""
        for upload in self._uploads.values():
            if upload.inspection is not None and upload.inspection.id == id:
                upload.inspection = None

    def delete(self, upload: Upload) -> None:
        """Delete a log."""
        self._uploads.pop(upload.id, None)
        shutil.rmtree(upload.path.parent, ignore_errors=True)

    def expired(self) -> list[Upload]:
        """What has been here for long; a job that reads it may end first."""
        now = self._settings.clock()
        return [u for u in self._uploads.values() if u.until <= now and not u.using]


async def _write(path: Path, blocks: AsyncIterator[bytes]) -> tuple[int, str]:
    """Write blocks to a new file; return their size and hash."""
    size, digest = 0, hashlib.sha256()
    with path.open("xb", buffering=BLOCK) as file:
        async for block in blocks:
            size += len(block)
            digest.update(block)
            await run_in_threadpool(file.write, block)
    return size, digest.hexdigest()


def plain_name(name: str) -> str:
    """The last part of a name, without what could not be shown."""
    last = PureWindowsPath(PurePosixPath(name).name).name
    shown = "".join(letter for letter in last if letter.isprintable()).strip()
    return shown[-200:] or "log"


def download_stem(name: str) -> str:
    """The beginning of the names of downloads: the user's own, but for what some system refuses."""
    stem = name[: -len(_known_suffix(name))]
    stem = re.sub(r'[<>:"/\\|?*\x00-\x1f\x7f]+', "_", stem).strip("._ ")
    return f"{stem or 'log'}.anonymized"


def _known_suffix(name: str) -> str:
    """The end of a name that tells a format: one of a fixed list, whatever the name is."""
    format_of(Path(name))
    # A name that was let through ends with a format, or with one and how it is packed.
    for ending in ("$", r"\.[a-z0-9]{1,4}$"):
        for suffix in SUFFIXES:
            found = re.search(re.escape(suffix) + ending, name.lower(), re.ASCII)
            if found:
                return found[0]
    raise ReadError(name, Statement("file.unknown_suffix"))
