"""What all resources need: whose request it is, what the app holds, how problems are described."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, cast

from fastapi import Depends, HTTPException, Request
from pydantic import BaseModel

from ...errors import Argument, SacofaError, Statement
from ...mechanisms.registry import option_names
from ...messages import render
from ..jobs import Job, Jobs
from ..schemas import Problem
from ..settings import ServeSettings
from ..uploads import Upload, Uploads


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The ways in which a request can be refused, for the description of the interface."""
    return {status: {"model": Problem} for status in (*statuses, 400, 401, 403, 422)}


def refusal(error: SacofaError, request: BaseModel) -> HTTPException:
    """Refuse a request in one line that names its fields, not the arguments of Python."""
    return HTTPException(422, in_fields(error, _paths(type(request))))


def in_fields(error: SacofaError, paths: Mapping[str, str]) -> str:
    """The message of an error with the fields of a request, given the path of each argument."""

    def wording(argument: Argument) -> str:
        path = paths.get(argument.name, argument.name)
        return path if argument.value is None else f"{path}: {json.dumps(argument.value)}"

    return render(error.statement, wording=wording)


def refused(status: int, code: str, **values: object) -> HTTPException:
    """Refuse a request for a reason of the app itself, by its code in the catalogue."""
    return HTTPException(status, str(Statement(f"web.{code}", **values)))


def _paths(model: type[BaseModel]) -> dict[str, str]:
    """Where the fields of a request are, by the names that errors call them."""
    paths = {name: name for name in model.model_fields}
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            paths |= {inner: f"{name}.{inner}" for inner in field.annotation.model_fields}
    if "attributes" in paths:
        paths["attribute"] = "attributes"
    # A mechanism may call a setting by another name than people do.
    return {**option_names(), **paths}


def _owner(request: Request) -> str:
    return cast(str, request.state.session.id)


def _uploads(request: Request) -> Uploads:
    return cast(Uploads, request.app.state.uploads)


def _jobs(request: Request) -> Jobs:
    return cast(Jobs, request.app.state.jobs)


def _settings(request: Request) -> ServeSettings:
    return cast(ServeSettings, request.app.state.settings)


Owner = Annotated[str, Depends(_owner)]
UploadsOf = Annotated[Uploads, Depends(_uploads)]
JobsOf = Annotated[Jobs, Depends(_jobs)]
SettingsOf = Annotated[ServeSettings, Depends(_settings)]


def find_upload(log: str, owner: Owner, uploads: UploadsOf) -> Upload:
    """A log of this person; those of others do not exist."""
    upload = uploads.get(owner, log)
    if upload is None:
        raise refused(404, "no_log")
    return upload


def _job(job: str, owner: Owner, jobs: JobsOf) -> Job:
    found = jobs.get(owner, job)
    if found is None:
        raise refused(404, "no_job")
    return found


OneUpload = Annotated[Upload, Depends(find_upload)]
OneJob = Annotated[Job, Depends(_job)]
