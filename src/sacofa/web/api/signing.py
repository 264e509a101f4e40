"""Signatures of released files, made with the key that the app was started with."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException
from fastapi.responses import FileResponse, Response
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from ...errors import SacofaError
from ...release.sign import sign
from ..jobs import LOGS
from ..uploads import download_stem
from .common import JobsOf, OneJob, SettingsOf, problems, refused
from .jobs import converted

router = APIRouter()


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
        raise refused(404, "no_key")
    if file not in LOGS or job.release is None:
        raise refused(404, "no_file")
    path, signer = await converted(job, file, jobs), settings.signer
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
