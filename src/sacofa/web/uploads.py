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
from ..events.bounded_file import ENDINGS
from ..events.find_source import format_of
from ..events.formats import SUFFIXES
from .requests import ColumnChoice
from .schemas import LogAnswer
from .settings import ServeSettings

MAX_LOGS = 20
"""How many logs one person may have uploaded at a time."""
BLOCK = 1 << 20
SUFFIX = re.compile(
    f"({'|'.join(map(re.escape, SUFFIXES))})({'|'.join(map(re.escape, ENDINGS))})?$", re.ASCII
)
"""How a name ends that tells a format: one of a fixed list, whatever the name is."""


class StatusError(SacofaError):
    """A request that the app itself refuses, with a status of HTTP."""

    def __init__(self, status: int, what: Statement) -> None:
        super().__init__(what)
        self.status = status


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

    def get(self, owner: str, id: str) -> Upload:
        """One of a person's uploads; those of others do not exist."""
        for upload in self.of(owner):
            if upload.id == id:
                return upload
        raise StatusError(404, Statement("web.no_log"))

    async def receive(self, owner: str, name: str, blocks: AsyncIterator[bytes]) -> Upload:
        """Write a log to disk as it comes in; nothing is left of one that does not come whole."""
        name = plain_name(name)
        suffix = _known_suffix(name)
        # Those that are still coming count, or many at once would pass any limit.
        if len(self.of(owner)) + self._coming[owner] >= MAX_LOGS:
            raise StatusError(429, Statement("web.too_many_logs", logs=MAX_LOGS))
        id, size, digest = secrets.token_urlsafe(16), 0, hashlib.sha256()
        path = self._settings.folder / "logs" / id / f"log{suffix}"
        path.parent.mkdir(parents=True, mode=0o700)
        self._coming[owner] += 1
        try:
            with path.open("xb", buffering=BLOCK) as file:
                async for block in blocks:
                    size += len(block)
                    digest.update(block)
                    await run_in_threadpool(file.write, block)
            if not size:
                raise ReadError(name, Statement("file.empty"))
        except BaseException:
            shutil.rmtree(path.parent, ignore_errors=True)
            raise
        finally:
            self._coming[owner] -= 1
        until, sha256 = self._settings.clock() + self._settings.keep, digest.hexdigest()
        upload = self._uploads[id] = Upload(
            id=id, owner=owner, name=name, path=path, bytes=size, sha256=sha256, until=until
        )
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
    format_of(Path(name))
    if found := SUFFIX.search(name.lower()):
        return found[0]
    raise ReadError(name, Statement("file.unknown_suffix"))
