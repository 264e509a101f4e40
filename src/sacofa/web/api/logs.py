"""Uploaded logs, and what they contain."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Request
from starlette.requests import ClientDisconnect

from ...errors import SacofaError
from .. import schemas
from ..jobs import Job, Jobs
from ..reading import ColumnChoice
from ..requests import Draft
from ..settings import ServeSettings
from ..tasks import Task
from ..uploads import TooBigError, TooManyError, Upload
from .common import JobsOf, OneUpload, Owner, SettingsOf, UploadsOf, in_fields, problems, refused

router = APIRouter()


@router.get("/logs", responses=problems())
async def list_logs(
    owner: Owner, uploads: UploadsOf, jobs: JobsOf, settings: SettingsOf
) -> list[schemas.LogAnswer]:
    """List the uploaded logs."""
    return [describe_upload(upload, jobs, settings) for upload in uploads.of(owner)]


@router.post(
    "/logs",
    status_code=201,
    responses=problems(413, 429, 507),
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
            start_inspection(upload, ColumnChoice(), jobs)
        except BaseException:
            # Nobody is told its id: it could not even be deleted.
            uploads.delete(upload)
            raise
    except TooManyError as error:
        raise HTTPException(429, str(error)) from None
    except SacofaError as error:
        raise HTTPException(422, in_fields(error, {})) from None
    except TooBigError:
        raise refused(413, "too_big", bytes=settings.max_upload) from None
    except ClientDisconnect:
        raise refused(400, "broken_off") from None
    except OSError:
        raise refused(507, "not_stored") from None
    return describe_upload(upload, jobs, settings)


@router.get("/logs/{log}", responses=problems(404))
async def show_log(upload: OneUpload, jobs: JobsOf, settings: SettingsOf) -> schemas.LogAnswer:
    """Show an uploaded log and what it contains, as far as that is known."""
    return describe_upload(upload, jobs, settings)


@router.delete("/logs/{log}", status_code=204, responses=problems(404))
async def delete_log(upload: OneUpload, jobs: JobsOf) -> None:
    """Delete an uploaded log and what is known of it; jobs that read it end."""
    await jobs.delete_log(upload)


@router.put("/logs/{log}/draft", status_code=204, responses=problems(404, 413))
async def keep_draft(upload: OneUpload, draft: Draft) -> None:
    """Keep what was chosen for a release so far, as long as the log is here."""
    upload.draft = draft


@router.post(
    "/logs/{log}/inspection",
    status_code=202,
    response_model=schemas.JobAnswer,
    responses=problems(404, 413, 429),
)
async def inspect_log(upload: OneUpload, columns: ColumnChoice, jobs: JobsOf) -> Job:
    """Look again at what a log contains, with other columns."""
    before = None if upload.inspection is None else jobs.get(upload.owner, upload.inspection)
    if before is not None:
        await jobs.delete(before)
    try:
        return start_inspection(upload, columns, jobs)
    except TooManyError as error:
        raise HTTPException(429, str(error)) from None


def describe_upload(upload: Upload, jobs: Jobs, settings: ServeSettings) -> schemas.LogAnswer:
    """An upload, with what is known of it."""
    job = None if upload.inspection is None else jobs.get(upload.owner, upload.inspection)
    return schemas.LogAnswer(
        id=upload.id,
        name=upload.name,
        bytes=upload.bytes,
        seconds_left=max(0, round(upload.until - settings.clock())),
        reading=ColumnChoice(**upload.reading),
        draft=upload.draft,
        inspection=None if job is None else schemas.JobAnswer.model_validate(job),
    )


def start_inspection(upload: Upload, columns: ColumnChoice, jobs: Jobs) -> Job:
    upload.reading = columns.model_dump()
    job = jobs.start("inspect", upload, Task(kind="inspect", columns=upload.reading))
    upload.inspection = job.id
    return job
