"""Signatures of released files, made with the key that the app was started with."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException
from fastapi.responses import FileResponse, Response
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from ...errors import SacofaError
from ...release.sign import sign
from ..describe import LOGS
from ..uploads import download_stem
from ..worker import RELEASE
from .common import JobsOf, OneJob, SettingsOf, problems

router = APIRouter()

NO_KEY = "the app was started without a key to sign with"


class SignerAnswer(BaseModel):
    """Whose key signs here."""

    name: str | None = Field(description="The name of the key; none: nothing is signed here.")
    id: str | None = Field(description="The SHA-256 of the public key.")


@router.get("/signer", responses=problems())
async def show_signer(settings: SettingsOf) -> SignerAnswer:
    """Show whose key signs here: its name and id; neither where there is none."""
    if settings.signer is None:
        return SignerAnswer(name=None, id=None)
    public = settings.signer.public
    return SignerAnswer(name=public.name, id=public.id)


@router.get(
    "/jobs/{job}/signatures/{file}",
    response_class=Response,
    responses=problems(404, 409) | {200: {"content": {"application/json": {}}}},
)
async def download_signature(
    job: OneJob, file: str, jobs: JobsOf, settings: SettingsOf
) -> FileResponse:
    """Download the signature of a released log, in the format that its name says."""
    if settings.signer is None:
        raise HTTPException(404, NO_KEY)
    if file not in LOGS or job.kind != "anonymize" or job.state != "done":
        raise HTTPException(404, "there is no such file")
    name = RELEASE if file == "log.parquet" else file
    problem = await jobs.convert(job, name)
    if problem is not None:
        raise HTTPException(409, problem)
    path, signer = job.folder / name, settings.signer
    try:
        made = await run_in_threadpool(lambda: sign(path, signer, force=True))
    except SacofaError as error:
        # Names of the app's own folders are nobody's business.
        raise HTTPException(409, str(error).replace(f"{job.folder}/", "")) from None
    return FileResponse(
        made,
        filename=f"{download_stem(job.name)}{file.removeprefix('log')}.signature.json",
        media_type="application/json",
    )
