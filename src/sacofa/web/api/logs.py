"""Uploaded logs, and what they contain."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Request
from starlette.requests import ClientDisconnect

from ...errors import SacofaError
from .. import schemas
from ..describe import describe_job, describe_upload
from ..jobs import Job, Jobs
from ..reading import ColumnChoice
from ..requests import Draft
from ..uploads import TooBigError, TooManyError, Upload
from .common import JobsOf, OneUpload, Owner, SettingsOf, UploadsOf, problems

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


@router.post("/logs/{log}/inspection", status_code=202, responses=problems(404, 413, 429))
async def inspect_log(upload: OneUpload, columns: ColumnChoice, jobs: JobsOf) -> schemas.JobAnswer:
    """Look again at what a log contains, with other columns."""
    before = None if upload.inspection is None else jobs.get(upload.owner, upload.inspection)
    if before is not None:
        await jobs.delete(before)
    try:
        return describe_job(start_inspection(upload, columns, jobs))
    except TooManyError as error:
        raise HTTPException(429, str(error)) from None


def start_inspection(upload: Upload, columns: ColumnChoice, jobs: Jobs) -> Job:
    upload.reading = columns.model_dump()
    content = {"log": str(upload.path), "title": upload.name, "columns": upload.reading}
    job = jobs.start("inspect", upload, content)
    upload.inspection = job.id
    return job
