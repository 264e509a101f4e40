"""Releases: begin, watch, end, download."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException
from fastapi.responses import FileResponse, Response

from ...errors import SacofaError
from ...release import certificate_path
from .. import schemas
from ..describe import ABOUT, FILES, describe_job
from ..planning import choose
from ..requests import JobRequest
from ..settings import ServeSettings
from ..uploads import TooManyError, download_stem
from ..worker import RELEASE
from .common import JobsOf, OneJob, Owner, SettingsOf, UploadsOf, find_upload, problems, refusal

router = APIRouter()


@router.get("/jobs", responses=problems())
async def list_jobs(owner: Owner, jobs: JobsOf) -> list[schemas.JobAnswer]:
    """List the releases that are being made or were made."""
    return [describe_job(job) for job in jobs.of(owner, "anonymize")]


@router.post("/jobs", status_code=202, responses=problems(404, 413, 422, 429))
async def start_job(
    request: JobRequest,
    owner: Owner,
    uploads: UploadsOf,
    jobs: JobsOf,
    settings: SettingsOf,
) -> schemas.JobAnswer:
    """Begin a release of an uploaded log."""
    upload = find_upload(request.log, owner, uploads)
    others = []
    content = request.model_dump()
    content["settings"] = request.settings()
    content |= {"log": str(upload.path), "title": upload.name, "ledger": None, "rules_name": ""}
    if request.rules_log is not None:
        public = find_upload(request.rules_log, owner, uploads)
        if public.sha256 == upload.sha256:
            raise HTTPException(422, "rules_log must be another log, one that is public")
        content |= {"rules_log": str(public.path), "rules_name": public.name}
        others.append(public)
    public_rules = request.rules is not None or request.rules_log is not None
    try:
        # Settings that cannot be are refused before a process is started for them.
        options = request.columns.options()
        mechanism = choose(request, public_rules=public_rules)
        if not options.attribute:
            mechanism.refuse_unused_settings()
        content["ledger"] = _payer(request, settings)
        job = jobs.start("anonymize", upload, content, *others)
    except SacofaError as error:
        raise refusal(error, request) from None
    except TooManyError as error:
        raise HTTPException(429, str(error)) from None
    job.delete_log = request.delete_log
    return describe_job(job)


def _payer(request: JobRequest, settings: ServeSettings) -> str | None:
    """The ledger that pays; where there is one, paying nothing must be said."""
    if request.dataset is not None:
        if settings.ledger is None:
            raise HTTPException(422, "dataset must be left out: the app was started without ledger")
        if request.not_charged:
            raise HTTPException(422, "not_charged must be left out where a dataset is given")
        return str(settings.ledger.absolute())
    if settings.ledger is not None and not request.not_charged:
        raise HTTPException(
            422, "dataset must be given, because there is a ledger; or say not_charged"
        )
    return None


@router.get("/jobs/{job}", responses=problems(404))
async def show_job(job: OneJob) -> schemas.JobAnswer:
    """Show how a job stands."""
    return describe_job(job)


@router.post("/jobs/{job}/cancel", responses=problems(404))
async def cancel_job(job: OneJob, jobs: JobsOf) -> schemas.JobAnswer:
    """End a job that has not ended."""
    await jobs.cancel(job)
    return describe_job(job)


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
    if job.kind != "anonymize" or job.state != "done" or file not in FILES:
        raise HTTPException(404, "there is no such file")
    if file in ABOUT:
        end = file.removeprefix("report")
        name = f"{download_stem(job.name)}{end if end != file else f'.{file}'}"
        return FileResponse(job.folder / file, filename=name)
    log = file.removesuffix(".certificate.json").removesuffix(".zip")
    stem, end = download_stem(job.name), log.removeprefix("log")
    name = RELEASE if log == "log.parquet" else log
    packed = f"{log}.zip" if file == f"{log}.zip" else None
    problem = await jobs.convert(job, name, None if packed is None else (packed, f"{stem}{end}"))
    if problem is not None:
        raise HTTPException(409, problem)
    made = {log: job.folder / name, f"{log}.zip": job.folder / f"{log}.zip"}
    return FileResponse(
        made.get(file, certificate_path(job.folder / name)),
        filename=f"{stem}.zip" if packed else f"{stem}{file.removeprefix('log')}",
        media_type="application/octet-stream",
    )
