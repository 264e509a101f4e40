"""Releases: begin, watch, end, download."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, HTTPException
from fastapi.responses import FileResponse, Response

from ...errors import SacofaError
from ...release import certificate_path
from .. import schemas
from ..jobs import ABOUT, FILES, LOGS, Job, Jobs
from ..planning import choose
from ..requests import JobRequest
from ..settings import ServeSettings
from ..tasks import Task
from ..uploads import TooManyError, Upload, download_stem
from ..worker import RELEASE
from .common import (
    JobsOf,
    OneJob,
    Owner,
    SettingsOf,
    UploadsOf,
    find_upload,
    problems,
    refusal,
    refused,
)

router = APIRouter()


@router.get("/jobs", response_model=list[schemas.JobAnswer], responses=problems())
async def list_jobs(owner: Owner, jobs: JobsOf) -> list[Job]:
    """List the releases that are being made or were made."""
    return jobs.of(owner, "anonymize")


@router.post(
    "/jobs",
    status_code=202,
    response_model=schemas.JobAnswer,
    responses=problems(404, 413, 422, 429),
)
async def start_job(
    request: JobRequest,
    owner: Owner,
    uploads: UploadsOf,
    jobs: JobsOf,
    settings: SettingsOf,
) -> Job:
    """Begin a release of an uploaded log."""
    upload = find_upload(request.log, owner, uploads)
    public = None
    if request.rules_log is not None:
        public = find_upload(request.rules_log, owner, uploads)
        if public.sha256 == upload.sha256:
            raise refused(422, "same_log")
    try:
        task = _task(request, settings, public)
        job = jobs.start("anonymize", upload, task, *(() if public is None else (public,)))
    except TooManyError as error:
        raise HTTPException(429, str(error)) from None
    except SacofaError as error:
        raise refusal(error, request) from None
    job.delete_log = request.delete_log
    return job


def _task(request: JobRequest, settings: ServeSettings, public: Upload | None) -> Task:
    """The task of a request; settings that cannot be are refused before a process is started."""
    options = request.columns.options()
    mechanism = choose(request, public_rules=request.rules is not None or public is not None)
    if not options.attribute:
        mechanism.refuse_unused_settings()
    return Task(
        kind="anonymize",
        columns=request.columns.model_dump(),
        mechanism=request.mechanism,
        settings=request.settings(),
        seed=request.seed,
        activities=request.activities,
        rules=request.rules,
        rules_file=request.rules_file,
        rules_log=None if public is None else str(public.path),
        rules_name="" if public is None else public.name,
        model=request.model.model_dump(),
        ledger=_payer(request, settings),
        dataset=request.dataset,
        released_by=request.released_by,
    )


def _payer(request: JobRequest, settings: ServeSettings) -> str | None:
    """The ledger that pays. If there is one, a release without a payment must be intended."""
    if request.dataset is None:
        if settings.ledger is not None and not request.not_charged:
            raise refused(422, "unpaid")
        return None
    if settings.ledger is None:
        raise refused(422, "dataset_without_ledger")
    if request.not_charged:
        raise refused(422, "paid_and_not_charged")
    return str(settings.ledger.absolute())


@router.get("/jobs/{job}", response_model=schemas.JobAnswer, responses=problems(404))
async def show_job(job: OneJob) -> Job:
    """Show how a job stands."""
    return job


@router.post("/jobs/{job}/cancel", response_model=schemas.JobAnswer, responses=problems(404))
async def cancel_job(job: OneJob, jobs: JobsOf) -> Job:
    """End a job that has not ended."""
    await jobs.cancel(job)
    return job


@router.delete("/jobs/{job}", status_code=204, responses=problems(404))
async def delete_job(job: OneJob, jobs: JobsOf) -> None:
    """End a job and delete what it made."""
    await jobs.delete(job)


@router.get(
    "/jobs/{job}/files/{file}",
    response_class=Response,
    responses=problems(404, 409) | {200: {"content": {"application/octet-stream": {}}}},
)
async def download(job: OneJob, file: str, jobs: JobsOf) -> FileResponse:
    """Download the released log in any format, its certificate, report and figures; all as zip."""
    if job.release is None or file not in FILES:
        raise refused(404, "no_file")
    stem = download_stem(job.name)
    if file in ABOUT:
        end = file if file.startswith("figures") else file.removeprefix("report.")
        return FileResponse(job.folder / file, filename=f"{stem}.{end}")
    log = next(log for log in LOGS if file in (log, f"{log}.certificate.json", f"{log}.zip"))
    if file == f"{log}.zip":
        await converted(job, log, jobs, (file, f"{stem}{log.removeprefix('log')}"))
        path, name = job.folder / file, f"{stem}.zip"
    else:
        path, name = await converted(job, log, jobs), f"{stem}{file.removeprefix('log')}"
        path = path if file == log else certificate_path(path)
    return FileResponse(path, filename=name, media_type="application/octet-stream")


async def converted(job: Job, log: str, jobs: Jobs, packed: tuple[str, str] | None = None) -> Path:
    """The released log in a format, which is made if it is not there."""
    name = RELEASE if log == "log.parquet" else log
    problem = await jobs.convert(job, name, packed)
    if problem is not None:
        raise HTTPException(409, problem)
    return job.folder / name
