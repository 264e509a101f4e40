"""Jobs: each in a process of its own, so that many run at once and each can be ended."""

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
from dataclasses import asdict, replace
from pathlib import Path

from pydantic import ConfigDict, Field
from starlette.exceptions import HTTPException

from ..errors import Statement, plain
from ..release import certificate_path
from .schemas import JobAnswer, Kind, State
from .settings import ServeSettings
from .uploads import StatusError, Upload, Uploads, download_stem
from .worker import FILES, LOGS, Content, Task

MAX_JOBS = 100
"""Maximum number of jobs of one session, including ended ones."""
GRACE_SECONDS = 5.0
"""Time between asking a worker to end and killing it."""
MAX_LINE_BYTES = 1 << 24
"""Maximum size of a message from a worker; messages are usually far smaller."""
KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "HOME", "SYSTEMROOT", "LD_LIBRARY_PATH")
"""The environment variables of a worker."""
OUTCOME = {
    "problem", "columns", "trustable", "preview", "inspection", "release", "secret_notices"
}  # fmt: skip
"""The fields of a job that a worker may report at the end."""
log = logging.getLogger("sacofa.web")


class Job(JobAnswer):
    """A task of one session; answers contain the fields of its base alone."""

    model_config = ConfigDict(arbitrary_types_allowed=True, validate_assignment=True)

    owner: str
    folder: Path
    state: State = "waiting"
    stage: str = "waiting"
    progress: float = 0.0
    delete_log: bool = False
    """Whether the log is deleted when the release is finished."""
    task: asyncio.Task[None] | None = None
    process: asyncio.subprocess.Process | None = None
    conversions: set[asyncio.Task[None]] = Field(default_factory=set)

    def end(self, state: State, problem: Statement | None = None) -> None:
        """Record the end of the job."""
        self.state = self.stage = state
        self.problem = None if problem is None else str(problem)

    def conclude(self, outcome: Content | None, status: int | None) -> None:
        """Record the last report of a worker, and the end of the job."""
        if outcome is None or (status != 0 and "problem" not in outcome):
            self.end("crashed", _say_crash(status))
            return
        self.end("refused" if "problem" in outcome else "done")
        self.progress = 1.0 if self.state == "done" else self.progress
        for name in OUTCOME & outcome.keys():
            setattr(self, name, outcome[name])
        self.files = list(FILES) if self.release is not None else []


class Jobs:
    """All jobs."""

    def __init__(self, settings: ServeSettings, uploads: Uploads) -> None:
        self._settings, self._uploads = settings, uploads
        self._jobs: dict[str, Job] = {}
        self._slots = asyncio.Semaphore(settings.workers)
        self._conversion_slot = asyncio.Semaphore(1)
        self.python = sys.executable
        """Starts workers."""

    def of(self, owner: str, kind: Kind) -> list[Job]:
        """Return the jobs of a session, the latest first."""
        return [j for j in reversed(self._jobs.values()) if (j.owner, j.kind) == (owner, kind)]

    def get(self, owner: str, id: str) -> Job:
        """Return a job of a session; those of others do not exist."""
        job = self._jobs.get(id)
        if job is None or job.owner != owner:
            raise StatusError(404, Statement("web.no_job"))
        return job

    def start(self, kind: Kind, upload: Upload, task: Task, *others: Upload) -> Job:
        """Start a job on an uploaded log."""
        if sum(job.owner == upload.owner for job in self._jobs.values()) >= MAX_JOBS:
            raise StatusError(429, Statement("web.too_many_jobs", jobs=MAX_JOBS))
        id = secrets.token_urlsafe(16)
        folder = self._settings.folder / "jobs" / id
        folder.mkdir(parents=True, mode=0o700)
        job = self._jobs[id] = Job(
            id=id, owner=upload.owner, kind=kind, log=upload.id, name=upload.name, folder=folder
        )
        used = (upload, *others)
        for one in used:
            one.using += 1
        memory = self._settings.memory_bytes
        task = replace(task, log=str(upload.path), title=upload.name, memory=memory)
        job.task = asyncio.create_task(self._run(job, task, used))
        return job

    async def cancel(self, job: Job) -> None:
        """Cancel a job, unless it has ended, and wait for its end."""
        if job.state in ("waiting", "running") and job.task is not None:
            # A task that never began would not clean up.
            await asyncio.sleep(0)
            await _cancel(job.task)

    async def delete(self, job: Job) -> None:
        """End a job and delete its results."""
        await self.cancel(job)
        self._jobs.pop(job.id, None)
        for conversion in list(job.conversions):
            await _cancel(conversion)
        self._drop(job.id)

    async def delete_log(self, upload: Upload) -> None:
        """End all jobs that read a log, and delete it with its inspection."""
        try:
            for job in [job for job in self._jobs.values() if job.log == upload.id]:
                await (self.delete(job) if job.kind == "inspect" else self.cancel(job))
        finally:
            # The log is deleted even if ending its jobs fails.
            self._forget(upload)

    async def delete_expired(self) -> None:
        """Delete expired logs and their inspections."""
        for upload in self._uploads.expired():
            # Failure to delete one log must not keep others.
            try:
                await self.delete_log(upload)
            except Exception as error:
                log.error("a log could not be deleted: %s", type(error).__name__)

    def _forget(self, upload: Upload, but: Job | None = None) -> None:
        """Delete a log and its exact counts. A job that reports its deletion may stay."""
        for job in self._jobs.values():
            if job.log == upload.id:
                job.secret_notices = []
        if upload.inspection is not None and upload.inspection is not but:
            self._drop(upload.inspection.id)
        self._uploads.delete(upload)

    def _drop(self, id: str) -> None:
        """Remove a job and delete its results."""
        self._jobs.pop(id, None)
        self._uploads.forget_inspection(id)
        shutil.rmtree(self._settings.folder / "jobs" / id, ignore_errors=True)

    async def convert(self, job: Job, file: str) -> Path:
        """Return the path of a file of a release, and create it if necessary.

        An existing file is returned immediately; others wait for other conversions only.
        """
        path = job.folder / file
        # The certificate of a log is named last, so it exists only with the log.
        made = certificate_path(path) if file in LOGS else path
        # A copy of the job: a conversion must not change its state.
        part = job.model_copy(update={"problem": None})

        async def convert() -> None:
            async with self._conversion_slot:
                if not made.exists():
                    task = Task(kind="convert", file=file, title=download_stem(job.name))
                    await self._bounded(part, task)

        if not made.exists():
            task = asyncio.create_task(convert())
            job.conversions.add(task)
            task.add_done_callback(job.conversions.discard)
            try:
                await task
            except asyncio.CancelledError:
                request = asyncio.current_task()
                if request is not None and request.cancelling():
                    # The client disconnected, and nobody waits for the file.
                    raise
                part.problem = str(Statement("web.job_deleted"))
        if part.problem is not None:
            raise HTTPException(409, plain(part.problem))
        return path

    async def close(self) -> None:
        """End all jobs."""
        jobs = [self.delete(job) for job in list(self._jobs.values())]
        await asyncio.gather(*jobs, return_exceptions=True)

    async def _run(self, job: Job, task: Task, used: tuple[Upload, ...]) -> None:
        try:
            async with self._slots:
                job.state, job.stage = "running", "starting"
                await self._bounded(job, task)
        except asyncio.CancelledError:
            job.end("cancelled")
        finally:
            # The log is deleted after a crash, or if requested.
            goes = job.state == "crashed" or (job.delete_log and job.state == "done")
            for upload in used:
                upload.using -= 1
                if goes and not upload.using:
                    self._forget(upload, but=job)
            if job.state != "done":
                shutil.rmtree(job.folder, ignore_errors=True)

    async def _bounded(self, job: Job, task: Task) -> None:
        """Run a job within the limits; in any case, record its end."""
        try:
            async with asyncio.timeout(self._settings.longest_job):
                await self._work(job, task)
        except TimeoutError:
            job.end("crashed", Statement("web.job_too_long"))
        except OSError as error:
            job.end("refused", Statement("web.job_not_started", why=error.strerror or ""))
        except Exception as error:
            log.error("a job failed: %s", type(error).__name__)
            job.end("crashed", Statement("web.job_unclear"))

    async def _work(self, job: Job, task: Task) -> None:
        """Run a worker to its end, and record its reports."""
        # The environment of the worker; its temporary files are in the folder of the job.
        kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        if path := os.environ.get("PYTHONPATH"):
            kept["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, path.split(os.pathsep)))
        process = job.process = await asyncio.create_subprocess_exec(
            *(self.python, "-P", "-m", "sacofa.web.worker"),
            cwd=job.folder,
            env={**kept, "TMPDIR": str(job.folder), "PYTHONUTF8": "1"},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            # A traceback may quote the log, so it is discarded.
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
            limit=MAX_LINE_BYTES,
        )
        assert process.stdin is not None and process.stdout is not None
        outcome: Content | None = None
        try:
            with suppress(ConnectionError):
                process.stdin.write((json.dumps(asdict(task)) + "\n").encode())
                await process.stdin.drain()
            async for line in process.stdout:
                told = json.loads(line)
                outcome = told.get("outcome")
                if outcome is None:
                    job.stage, job.progress = told["stage"], min(1.0, max(0.0, told["done"]))
            await process.wait()
        finally:
            await _end(process)
        job.conclude(outcome, process.returncode)


async def _cancel(task: asyncio.Task[None]) -> None:
    """Cancel a task and wait until it has ended."""
    task.cancel()
    with suppress(asyncio.CancelledError, Exception):
        await task


def _say_crash(status: int | None) -> Statement:
    if status == -signal.SIGKILL:
        return Statement("web.job_killed")
    if status is not None and status < 0:
        return Statement("web.job_ended_by_signal", signal=-status)
    return Statement("web.job_ended_with_status", status=str(status))


async def _end(process: asyncio.subprocess.Process) -> None:
    """Terminate a worker, then kill it."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    try:
        await asyncio.wait_for(asyncio.shield(process.wait()), GRACE_SECONDS)
    except (TimeoutError, asyncio.CancelledError):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
