"""Jobs: each in a process of its own, so that many run at once and any can be ended."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import secrets
import shutil
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..release import certificate_path
from .schemas import Kind, State
from .settings import ServeSettings
from .uploads import TooManyError, Upload, Uploads

MOST_JOBS = 100
"""How many jobs one person may have, ended ones included."""
GRACE = 5.0
"""Seconds between asking a worker to end and ending it."""
LONGEST_LINE = 1 << 24
"""What a worker may tell at a time, in bytes; it tells far less."""
log = logging.getLogger("sacofa.web")
ENDED = ("done", "refused", "crashed", "cancelled")


@dataclass(kw_only=True)
class Job:
    """One thing to be done for one person."""

    id: str
    owner: str
    kind: Kind
    log: str
    """The id of the upload."""
    name: str
    """What the log was called."""
    folder: Path
    state: State = "waiting"
    stage: str = "waiting"
    progress: float = 0.0
    problem: str | None = None
    columns: dict[str, Any] | None = None
    trustable: bool = False
    """Whether the log was refused by a check that can be switched off."""
    delete_log: bool = False
    """Whether the log goes when its release is made."""
    preview: dict[str, Any] | None = None
    """The first events of the log. Secret."""
    result: dict[str, Any] | None = None
    secret_notices: list[str] = field(default_factory=list)
    """What the holder of the log should know of it beside the release. Secret."""
    task: asyncio.Task[None] | None = field(default=None, repr=False)
    process: asyncio.subprocess.Process | None = field(default=None, repr=False)
    converting: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)
    conversions: set[asyncio.Task[str | None]] = field(default_factory=set, repr=False)


Packed = tuple[str, str]
"""The zip file to make, and what the log is called in it."""


class Jobs:
    """All jobs."""

    def __init__(self, settings: ServeSettings, uploads: Uploads) -> None:
        self._settings, self._uploads = settings, uploads
        self._jobs: dict[str, Job] = {}
        self._slots = asyncio.Semaphore(settings.workers)
        self._conversion_slot = asyncio.Semaphore(1)
        self.python = sys.executable
        """What runs workers."""

    def of(self, owner: str, kind: Kind) -> list[Job]:
        """A person's jobs, the latest first."""
        return [j for j in reversed(self._jobs.values()) if (j.owner, j.kind) == (owner, kind)]

    def get(self, owner: str, id: str) -> Job | None:
        """One of a person's jobs; those of others do not exist."""
        job = self._jobs.get(id)
        return job if job is not None and job.owner == owner else None

    def start(self, kind: Kind, upload: Upload, request: dict[str, Any], *others: Upload) -> Job:
        """Begin a job on an uploaded log."""
        if sum(job.owner == upload.owner for job in self._jobs.values()) >= MOST_JOBS:
            raise TooManyError(f"{MOST_JOBS} jobs are here already: delete some first")
        id = secrets.token_urlsafe(16)
        folder = self._settings.folder / "jobs" / id
        folder.mkdir(parents=True, mode=0o700)
        job = Job(
            id=id, owner=upload.owner, kind=kind, log=upload.id, name=upload.name, folder=folder
        )
        self._jobs[id] = job
        used = (upload, *others)
        content = {**request, "kind": kind, "memory": self._settings.max_memory}
        for one in used:
            one.using += 1
        job.task = asyncio.create_task(self._run(job, content, used))
        return job

    async def cancel(self, job: Job) -> None:
        """End a job, if it has not ended, and wait until it has."""
        if job.state not in ENDED and job.task is not None:
            # A task that never began would not clean up either.
            await asyncio.sleep(0)
            job.task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await job.task

    async def delete(self, job: Job) -> None:
        """End a job and delete all it made."""
        await self.cancel(job)
        self._jobs.pop(job.id, None)
        for conversion in list(job.conversions):
            conversion.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await conversion
        shutil.rmtree(job.folder, ignore_errors=True)

    async def delete_log(self, upload: Upload) -> None:
        """End all jobs that read a log, and delete it with all that is known of it."""
        try:
            for job in [job for job in self._jobs.values() if job.log == upload.id]:
                await (self.delete(job) if job.kind == "inspect" else self.cancel(job))
        finally:
            # Whatever becomes of its jobs, the log must go.
            self._forget(upload)

    def _forget(self, upload: Upload, but: Job | None = None) -> None:
        """Delete a log; its exact counts go with it. A job that tells why it went may stay."""
        for job in self._jobs.values():
            if job.log == upload.id:
                job.secret_notices = []
        inspection = self._jobs.get(upload.inspection or "")
        if inspection is not None and inspection is not but:
            del self._jobs[inspection.id]
            shutil.rmtree(inspection.folder, ignore_errors=True)
        self._uploads.delete(upload)

    async def convert(self, job: Job, file: str, packed: Packed | None = None) -> str | None:
        """Write the release in another format, or packed; what stands in the way, or nothing.

        A file that is there already waits for nothing, and others only for other conversions.
        """
        if _is_made(job, file, packed):
            return None
        task = asyncio.create_task(self._convert(job, file, packed))
        job.conversions.add(task)
        task.add_done_callback(job.conversions.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                return "the job was deleted meanwhile"
            # Whoever asked is gone: nobody waits for the file.
            task.cancel()
            raise

    async def _convert(self, job: Job, file: str, packed: Packed | None) -> str | None:
        async with job.converting, self._conversion_slot:
            if _is_made(job, file, packed):
                return None
            # Not the job itself: its state stays what it is, whatever becomes of this.
            part = Job(
                id=job.id, owner=job.owner, kind=job.kind, log=job.log, name=job.name,
                folder=job.folder,
            )  # fmt: skip
            await self._bounded(part, {"kind": "convert", "file": file, "packed": packed})
            return part.problem

    async def close(self) -> None:
        """End everything."""
        jobs = [self.delete(job) for job in list(self._jobs.values())]
        await asyncio.gather(*jobs, return_exceptions=True)

    async def _run(self, job: Job, request: dict[str, Any], used: tuple[Upload, ...]) -> None:
        try:
            async with self._slots:
                job.state, job.stage = "running", "starting"
                await self._bounded(job, request)
        except asyncio.CancelledError:
            job.state, job.stage = "cancelled", "cancelled"
        finally:
            self._clean_up(job, used)

    async def _bounded(self, job: Job, request: dict[str, Any]) -> None:
        """Do the work of a job; whatever happens, it ends, and says how."""
        try:
            async with asyncio.timeout(self._settings.longest_job):
                await self._work(job, request)
        except TimeoutError:
            job.state, job.stage = "crashed", "crashed"
            job.problem = "the job took too long and was ended; its log was deleted"
        except OSError as error:
            job.state, job.stage = "refused", "refused"
            job.problem = f"the job could not be started ({error.strerror}): try again later"
        except Exception as error:
            log.error("a job failed: %s", type(error).__name__)
            job.state, job.stage = "crashed", "crashed"
            job.problem = "the job told something that cannot be; its log was deleted"

    def _clean_up(self, job: Job, used: tuple[Upload, ...]) -> None:
        """Delete what is not needed any more: the log after a crash, or if asked for."""
        for upload in used:
            upload.using -= 1
            ended = job.state == "crashed" or (job.delete_log and job.state == "done")
            if ended and not upload.using:
                self._forget(upload, but=job)
        if job.state != "done":
            shutil.rmtree(job.folder, ignore_errors=True)

    async def _work(self, job: Job, request: dict[str, Any]) -> None:
        """Run a worker to its end, and take down what it tells."""
        process = await asyncio.create_subprocess_exec(
            self.python,
            "-P",
            "-m",
            "sacofa.web.worker",
            cwd=job.folder,
            env=_environment(job.folder),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            # A traceback may quote the log, and belongs nowhere.
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
            limit=LONGEST_LINE,
        )
        job.process = process
        assert process.stdin is not None and process.stdout is not None
        told: dict[str, Any] = {}
        try:
            with suppress(ConnectionError):
                process.stdin.write((json.dumps(request) + "\n").encode())
                await process.stdin.drain()
            async for line in process.stdout:
                told = json.loads(line)
                job.stage = told.get("stage", job.stage)
                job.progress = min(1.0, max(0.0, told.get("done", job.progress)))
            await process.wait()
        finally:
            await _end(process)
        job.preview = told.get("preview")
        if "result" in told and process.returncode == 0:
            job.state, job.stage, job.progress, job.result = "done", "done", 1.0, told["result"]
            job.secret_notices = job.result.pop("secret_notices", [])
        elif "refused" in told:
            job.state, job.stage, job.problem = "refused", "refused", told["refused"]
            job.columns, job.trustable = told.get("columns"), told.get("trustable", False)
        else:
            job.state, job.stage = "crashed", "crashed"
            job.problem = _say_crash(process.returncode)


def _is_made(job: Job, file: str, packed: Packed | None) -> bool:
    """Tell whether a conversion is done: of a release, the certificate gets its name last."""
    made = job.folder / packed[0] if packed else certificate_path(job.folder / file)
    return made.exists()


async def _end(process: asyncio.subprocess.Process) -> None:
    """Ask a worker to end, then end it."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    try:
        await asyncio.wait_for(asyncio.shield(process.wait()), GRACE)
    except (TimeoutError, asyncio.CancelledError):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _say_crash(status: int | None) -> str:
    ending = (
        f"by signal {-status}" if status is not None and status < 0 else f"with status {status}"
    )
    more = " (out of memory?)" if status == -signal.SIGKILL else ""
    return f"the job ended unexpectedly, {ending}{more}; its log was deleted"


def _environment(folder: Path) -> dict[str, str]:
    """What a worker gets to know of the outside; what it writes aside goes to the job's folder."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in ("PATH", "LANG", "LC_ALL", "HOME", "SYSTEMROOT", "LD_LIBRARY_PATH")
    }
    path = os.environ.get("PYTHONPATH")
    if path:
        kept["PYTHONPATH"] = os.pathsep.join(os.path.abspath(p) for p in path.split(os.pathsep))
    return {**kept, "TMPDIR": str(folder), "PYTHONUTF8": "1"}
