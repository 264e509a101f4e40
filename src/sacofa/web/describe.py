"""How uploads and jobs stand, as the interface answers it."""

from __future__ import annotations

from ..release.formats import FORMATS
from . import schemas
from .jobs import ENDED, Job, Jobs
from .reading import ColumnChoice
from .settings import ServeSettings
from .uploads import Upload
from .worker import FIGURES

LOGS = tuple(f"log{each.suffix}" for each in FORMATS)
"""The released log in every format."""
PACKED = tuple(f"{name}.zip" for name in LOGS)
"""The same with certificate, report and figures, in one file."""
ABOUT = ("report.html", *FIGURES)
"""What is told about a release, whatever its format."""
FILES = (*LOGS, *(f"{name}.certificate.json" for name in LOGS), *ABOUT, *PACKED)


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
        inspection=None if job is None else describe_job(job),
    )


def describe_job(job: Job) -> schemas.JobAnswer:
    """A job, with what came of it."""
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
        trustable=job.trustable,
        preview=None if job.preview is None else schemas.PreviewAnswer(**job.preview),
        inspection=schemas.InspectionAnswer(**job.result) if inspected and job.result else None,
        release=schemas.ReleaseAnswer(**job.result) if released and job.result else None,
        secret_notices=job.secret_notices,
        files=list(FILES) if released else [],
    )
