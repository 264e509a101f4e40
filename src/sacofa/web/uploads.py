"""Uploaded logs: streamed to the app's own folder, and deleted when they are not needed."""

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
"""Maximum number of uploaded logs per session."""
BLOCK = 1 << 20
SUFFIX = re.compile(
    f"({'|'.join(map(re.escape, SUFFIXES))})({'|'.join(map(re.escape, ENDINGS))})?$", re.ASCII
)
"""Suffixes of formats; other parts of names are not used."""


class StatusError(SacofaError):
    """An error response of the app with its HTTP status."""

    def __init__(self, status: int, what: Statement) -> None:
        super().__init__(what)
        self.status = status


class Upload(LogAnswer):
    """An uploaded log; answers contain the fields of its base alone."""

    owner: str
    path: Path
    sha256: str
    until: float
    """Time of automatic deletion."""
    seconds_left: int = 0
    reading: ColumnChoice = ColumnChoice()
    draft: dict[str, str] = Field(default_factory=dict)
    using: int = 0
    """Number of jobs that read it now."""


class Uploads:
    """All uploaded logs."""

    def __init__(self, settings: ServeSettings) -> None:
        self._settings = settings
        self._uploads: dict[str, Upload] = {}
        self._coming: Counter[str] = Counter()
        """Number of unfinished uploads of each session."""

    def of(self, owner: str) -> list[Upload]:
        """Return the uploads of a session, the latest first."""
        found = [upload for upload in reversed(self._uploads.values()) if upload.owner == owner]
        for upload in found:
            upload.seconds_left = max(0, round(upload.until - self._settings.clock()))
        return found

    def get(self, owner: str, id: str) -> Upload:
        """Return an upload of a session; those of others do not exist."""
        for upload in self.of(owner):
            if upload.id == id:
                return upload
        raise StatusError(404, Statement("web.no_log"))

    async def receive(self, owner: str, name: str, blocks: AsyncIterator[bytes]) -> Upload:
        """Write a log to disk as it is received; an incomplete one is deleted."""
        name = plain_name(name)
        suffix = _known_suffix(name)
        # Unfinished uploads count, or many at once would exceed any limit.
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
        """Discard the inspection of a log."""
        for upload in self._uploads.values():
            if upload.inspection is not None and upload.inspection.id == id:
                upload.inspection = None

    def delete(self, upload: Upload) -> None:
        """Delete a log."""
        self._uploads.pop(upload.id, None)
        shutil.rmtree(upload.path.parent, ignore_errors=True)

    def expired(self) -> list[Upload]:
        """Return the expired logs that no job reads."""
        now = self._settings.clock()
        return [u for u in self._uploads.values() if u.until <= now and not u.using]


def plain_name(name: str) -> str:
    """Return the last part of a name, without characters that cannot be displayed."""
    last = PureWindowsPath(PurePosixPath(name).name).name
    shown = "".join(letter for letter in last if letter.isprintable()).strip()
    return shown[-200:] or "log"


def download_stem(name: str) -> str:
    """Return the stem of download names: the user's own, without characters that systems refuse."""
    stem = name[: -len(_known_suffix(name))]
    stem = re.sub(r'[<>:"/\\|?*\x00-\x1f\x7f]+', "_", stem).strip("._ ")
    return f"{stem or 'log'}.anonymized"


def _known_suffix(name: str) -> str:
    format_of(Path(name))
    if found := SUFFIX.search(name.lower()):
        return found[0]
    raise ReadError(name, Statement("file.unknown_suffix"))
