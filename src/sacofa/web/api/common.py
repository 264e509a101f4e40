"""What all resources need: whose request it is, what the app holds, how problems are described."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request
from pydantic import BaseModel

from ...errors import SacofaError
from ..jobs import Job, Jobs
from ..schemas import Problem
from ..settings import ServeSettings
from ..uploads import Upload, Uploads
from ..words import in_fields


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The ways in which a request can be refused, for the description of the interface."""
    return {status: {"model": Problem} for status in (*statuses, 400, 401, 403, 422)}


def refusal(error: SacofaError, request: BaseModel) -> HTTPException:
    """Refuse a request in one line that names its fields, not the arguments of Python."""
    return HTTPException(422, in_fields(error, _paths(type(request))))


def _paths(model: type[BaseModel]) -> dict[str, str]:
    """Where the fields of a request are, by the names that errors call them."""
    paths = {name: name for name in model.model_fields}
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            paths |= {inner: f"{name}.{inner}" for inner in field.annotation.model_fields}
    if "attributes" in paths:
        paths["attribute"] = "attributes"
    return paths | {"level_epsilon": "epsilon"}


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
