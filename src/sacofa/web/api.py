"""The interface under /api: the pages use it, and so can programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import FileResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from ..errors import LedgerError, SacofaError
from ..logs.write import OUTPUTS
from ..mechanisms.registry import DEFAULT, MECHANISMS
from ..mechanisms.settings import settings_of
from ..privacy.ledger import Ledger
from ..release import certificate_path
from ..report.promise import say_number
from . import schemas
from .jobs import ENDED, Job, Jobs
from .planning import choose, make_plan
from .settings import ServeSettings
from .uploads import TooBigError, TooManyError, Upload, Uploads, download_stem
from .worker import RELEASE

LOGS = tuple(f"log{suffix}" for suffix in OUTPUTS)
"""The released log in every format."""
FILES = (*LOGS, *(f"{name}.certificate.json" for name in LOGS), "report.html")


def _problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": schemas.Problem} for status in (*statuses, 400, 401, 403, 422)}


def _owner(request: Request) -> str:
    owner: str = request.state.session.id
    return owner


def _uploads(request: Request) -> Uploads:
    uploads: Uploads = request.app.state.uploads
    return uploads


def _jobs(request: Request) -> Jobs:
    jobs: Jobs = request.app.state.jobs
    return jobs


def _settings(request: Request) -> ServeSettings:
    settings: ServeSettings = request.app.state.settings
    return settings


Owner = Annotated[str, Depends(_owner)]
UploadsOf = Annotated[Uploads, Depends(_uploads)]
JobsOf = Annotated[Jobs, Depends(_jobs)]
SettingsOf = Annotated[ServeSettings, Depends(_settings)]


def _upload(log: str, owner: Owner, uploads: UploadsOf) -> Upload:
    upload = uploads.get(owner, log)
    if upload is None:
        raise HTTPException(404, "there is no such log: it was deleted, or never was yours")
    return upload


def _job(job: str, owner: Owner, jobs: JobsOf) -> Job:
    found = jobs.get(owner, job)
    if found is None:
        raise HTTPException(404, "there is no such job: it was deleted, or never was yours")
    return found


OneUpload = Annotated[Upload, Depends(_upload)]
OneJob = Annotated[Job, Depends(_job)]
api = APIRouter(prefix="/api")


@api.get("/mechanisms", responses=_problems())
async def list_mechanisms() -> list[schemas.MechanismAnswer]:
    """List the mechanisms and the settings that each has."""
    return [
        schemas.MechanismAnswer(
            name=name,
            settings=[entry.option for entry in settings_of(kind)],
            price=next(e.help for e in settings_of(kind) if e.kind == "epsilon"),
            default=name == DEFAULT,
        )
        for name, kind in MECHANISMS.items()
    ]


@api.post("/plan", responses=_problems(413, 422))
async def plan(request: schemas.PlanRequest) -> schemas.PlanAnswer:
    """Say what a release would promise and cost; reads no log and spends nothing."""
    try:
        return await run_in_threadpool(make_plan, request)
    except SacofaError as error:
        raise HTTPException(422, str(error)) from None


@api.get("/logs", responses=_problems())
async def list_logs(
    owner: Owner, uploads: UploadsOf, jobs: JobsOf, settings: SettingsOf
) -> list[schemas.LogAnswer]:
    """List the uploaded logs."""
    return [_say_upload(upload, jobs, settings) for upload in uploads.of(owner)]


@api.post(
    "/logs",
    status_code=201,
    responses=_problems(413, 429, 507),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/octet-stream": {"schema": {"type": "string", "format": "binary"}}
            },
        }
    },
)
async def upload_log(
    request: Request,
    name: Annotated[str, Query(min_length=1, max_length=1_000, examples=["visits.xes.gz"])],
    owner: Owner,
    uploads: UploadsOf,
    jobs: JobsOf,
    settings: SettingsOf,
) -> schemas.LogAnswer:
    """Upload a log: its bytes are the body. What it contains is looked at right away."""
    try:
        upload = await uploads.receive(owner, name, request.stream())
        try:
            _inspect(upload, schemas.ColumnChoice(), jobs)
        except BaseException:
            # Nobody is told its id: it could not even be deleted.
            uploads.delete(upload)
            raise
    except SacofaError as error:
        raise HTTPException(422, str(error)) from None
    except TooBigError:
        raise HTTPException(413, f"more than {settings.max_upload:,} bytes") from None
    except TooManyError as error:
        raise HTTPException(429, str(error)) from None
    except ClientDisconnect:
        raise HTTPException(400, "the upload was broken off") from None
    except OSError:
        raise HTTPException(507, "the log cannot be stored: is the disk full?") from None
    return _say_upload(upload, jobs, settings)


@api.get("/logs/{log}", responses=_problems(404))
async def show_log(upload: OneUpload, jobs: JobsOf, settings: SettingsOf) -> schemas.LogAnswer:
    """Show an uploaded log and what it contains, as far as that is known."""
    return _say_upload(upload, jobs, settings)


@api.delete("/logs/{log}", status_code=204, responses=_problems(404))
async def delete_log(upload: OneUpload, uploads: UploadsOf, jobs: JobsOf) -> None:
    """Delete an uploaded log; jobs that read it end."""
    for job in (*jobs.of(upload.owner, "inspect"), *jobs.of(upload.owner, "anonymize")):
        if job.log == upload.id:
            await (jobs.delete(job) if job.kind == "inspect" else jobs.cancel(job))
    uploads.delete(upload)


@api.post("/logs/{log}/inspection", status_code=202, responses=_problems(404, 413, 429))
async def inspect_log(
    upload: OneUpload, columns: schemas.ColumnChoice, jobs: JobsOf
) -> schemas.JobAnswer:
    """Look again at what a log contains, with other columns."""
    before = None if upload.inspection is None else jobs.get(upload.owner, upload.inspection)
    if before is not None:
        await jobs.delete(before)
    try:
        return _say_job(_inspect(upload, columns, jobs))
    except TooManyError as error:
        raise HTTPException(429, str(error)) from None


@api.get("/jobs", responses=_problems())
async def list_jobs(owner: Owner, jobs: JobsOf) -> list[schemas.JobAnswer]:
    """List the releases that are being made or were made."""
    return [_say_job(job) for job in jobs.of(owner, "anonymize")]


@api.post("/jobs", status_code=202, responses=_problems(404, 413, 422, 429))
async def start_job(
    request: schemas.JobRequest,
    owner: Owner,
    uploads: UploadsOf,
    jobs: JobsOf,
    settings: SettingsOf,
) -> schemas.JobAnswer:
    """Begin a release of an uploaded log."""
    upload = _upload(request.log, owner, uploads)
    others = []
    content = request.model_dump()
    content["settings"] = request.settings()
    content |= {"log": str(upload.path), "title": upload.name, "ledger": None, "rules_name": ""}
    if request.rules_log is not None:
        public = _upload(request.rules_log, owner, uploads)
        if public.sha256 == upload.sha256:
            raise HTTPException(422, "rules_log must be another log, one that is public")
        content |= {"rules_log": str(public.path), "rules_name": public.name}
        others.append(public)
    if request.dataset is not None:
        if settings.ledger is None:
            raise HTTPException(422, "dataset must be left out: the app was started without ledger")
        content["ledger"] = str(settings.ledger.absolute())
    public_rules = request.rules is not None or request.rules_log is not None
    try:
        # Settings that cannot be are refused before a process is started for them.
        request.columns.options()
        choose(request, public_rules=public_rules)
        return _say_job(jobs.start("anonymize", upload, content, *others))
    except SacofaError as error:
        raise HTTPException(422, str(error)) from None
    except TooManyError as error:
        raise HTTPException(429, str(error)) from None


@api.get("/jobs/{job}", responses=_problems(404))
async def show_job(job: OneJob) -> schemas.JobAnswer:
    """Show how a job stands."""
    return _say_job(job)


@api.post("/jobs/{job}/cancel", responses=_problems(404))
async def cancel_job(job: OneJob, jobs: JobsOf) -> schemas.JobAnswer:
    """End a job that has not ended."""
    await jobs.cancel(job)
    return _say_job(job)


@api.delete("/jobs/{job}", status_code=204, responses=_problems(404))
async def delete_job(job: OneJob, jobs: JobsOf) -> None:
    """End a job and delete what it made."""
    await jobs.delete(job)


@api.get(
    "/jobs/{job}/files/{file}",
    response_class=Response,
    responses=_problems(404, 409) | {200: {"content": {"application/octet-stream": {}}}},
)
async def download(job: OneJob, file: str, jobs: JobsOf) -> FileResponse:
    """Download the released log in any format, its certificate, or the report."""
    if job.kind != "anonymize" or job.state != "done" or file not in FILES:
        raise HTTPException(404, "there is no such file")
    if file == "report.html":
        return FileResponse(job.folder / file, filename=f"{download_stem(job.name)}.html")
    log = file.removesuffix(".certificate.json")
    name = RELEASE if log == "log.parquet" else log
    problem = await jobs.convert(job, name)
    if problem is not None:
        raise HTTPException(409, problem)
    path = job.folder / name if file == log else certificate_path(job.folder / name)
    return FileResponse(
        path,
        filename=f"{download_stem(job.name)}{file.removeprefix('log')}",
        media_type="application/octet-stream",
    )


@api.get("/ledger", responses=_problems(503))
async def show_ledger(settings: SettingsOf) -> schemas.LedgerAnswer:
    """Show how every dataset of the ledger stands."""
    if settings.ledger is None:
        return schemas.LedgerAnswer(datasets=None)
    accounts = await _ask_ledger(settings.ledger, lambda ledger: ledger.accounts())
    return schemas.LedgerAnswer(
        datasets=[
            schemas.AccountAnswer(
                dataset=account.dataset,
                budget=_price(account.budget),
                spent=_price(account.spent),
                left=_price(account.left),
            )
            for account in accounts
        ]
    )


@api.get("/ledger/{dataset}", responses=_problems(404, 503))
async def show_dataset(dataset: str, settings: SettingsOf) -> list[schemas.EntryAnswer]:
    """Show every release of a dataset."""
    if settings.ledger is None:
        raise HTTPException(404, "the app was started without a ledger")
    accounts = await _ask_ledger(settings.ledger, lambda ledger: ledger.accounts())
    if dataset not in {account.dataset for account in accounts}:
        raise HTTPException(404, "there is no such dataset")
    entries = await _ask_ledger(settings.ledger, lambda ledger: ledger.entries(dataset))
    return [
        schemas.EntryAnswer(
            id=entry.id,
            at=entry.at,
            mechanism=entry.mechanism,
            price=_price(entry.price),
            state=entry.state,
            repeats=entry.repeats,
        )
        for entry in entries
    ]


async def _ask_ledger(path: Path, question: Any) -> Any:
    try:
        return await run_in_threadpool(lambda: question(Ledger.open(path)))
    except LedgerError as error:
        raise HTTPException(503, str(error)) from None


def _price(value: Any) -> str | None:
    return None if value is None else say_number(value)


def _inspect(upload: Upload, columns: schemas.ColumnChoice, jobs: Jobs) -> Job:
    content = {"log": str(upload.path), "columns": columns.model_dump()}
    job = jobs.start("inspect", upload, content)
    upload.inspection = job.id
    return job


def _say_upload(upload: Upload, jobs: Jobs, settings: ServeSettings) -> schemas.LogAnswer:
    job = None if upload.inspection is None else jobs.get(upload.owner, upload.inspection)
    return schemas.LogAnswer(
        id=upload.id,
        name=upload.name,
        bytes=upload.bytes,
        seconds_left=max(0, round(upload.until - settings.clock())),
        inspection=None if job is None else _say_job(job),
    )


def _say_job(job: Job) -> schemas.JobAnswer:
    inspected = job.kind == "inspect" and job.state == "done"
    released = job.kind == "anonymize" and job.state == "done"
    return schemas.JobAnswer(
        id=job.id,
        kind=job.kind,
        log=job.log,
        name=job.name,
        state=job.state,
        stage=job.stage,
        progress=job.progress,
        problem=job.problem if job.state in ENDED else None,
        columns=None if job.columns is None else schemas.MissingColumns(**job.columns),
        inspection=schemas.InspectionAnswer(**job.result) if inspected and job.result else None,
        release=schemas.ReleaseAnswer(**job.result) if released and job.result else None,
        files=list(FILES) if released else [],
    )
