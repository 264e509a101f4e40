"""What all resources need: whose request it is, what the app holds, how problems are described."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request

from ..jobs import Job, Jobs
from ..schemas import Problem
from ..settings import ServeSettings
from ..uploads import Upload, Uploads


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The ways in which a request can be refused, for the description of the interface."""
    return {status: {"model": Problem} for status in (*statuses, 400, 401, 403, 422)}


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


def find_upload(log: str, owner: Owner, uploads: UploadsOf) -> Upload:
    """A log of this person; those of others do not exist."""
    upload = uploads.get(owner, log)
    if upload is None:
        raise HTTPException(404, "there is no such log: it was deleted, or never was yours")
    return upload


def _job(job: str, owner: Owner, jobs: JobsOf) -> Job:
    found = jobs.get(owner, job)
    if found is None:
        raise HTTPException(404, "there is no such job: it was deleted, or never was yours")
    return found


OneUpload = Annotated[Upload, Depends(find_upload)]
OneJob = Annotated[Job, Depends(_job)]
