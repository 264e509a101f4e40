"""The API under /api, which the pages and programs use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import FileResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from ..base.domains import Categories
from ..errors import LedgerError, SacofaError, SettingError, Statement, advise_nearest, plain
from ..events.attributes import declared_attributes
from ..ledger import Ledger
from ..mechanisms.protocol import Mechanism
from ..mechanisms.registry import DEFAULT, MECHANISMS, make_mechanism
from ..mechanisms.settings import settings_of
from ..messages import render
from ..release.anonymize import certify_request
from ..release.certificate import Certificate
from ..release.sign import sign
from ..report.promise import explain_epsilon, say_promise
from ..rules import Rules, Stated
from . import schemas
from .jobs import Job, Jobs
from .requests import ColumnChoice, Draft, JobRequest, MechanismChoice, PlanRequest
from .settings import ServeSettings
from .uploads import StatusError, Upload, Uploads, download_stem
from .worker import FILES, LOGS, REPORT_FILES, Task, as_field, read_options

ASSUMED_ACTIVITIES = 20
"""Number of activities that is assumed if none is given."""
ASSUMED_VALUES = Categories(names=tuple(map(str, range(10))))
"""Number of values that is assumed for an attribute with the values of the log."""
Responses = dict[int | str, dict[str, Any]]
"""Responses of a route, for the OpenAPI description."""
api = APIRouter(prefix="/api", tags=["api"])


def problems(*statuses: int) -> Responses:
    """Return the errors of a route, for the OpenAPI description."""
    return {status: {"model": schemas.Problem} for status in (*statuses, 400, 401, 403, 422)}


def file_of(kind: str) -> Responses:
    """Return the responses of a download, for the OpenAPI description."""
    return {**problems(404, 409), 200: {"content": {kind: {}}}}


@dataclass(frozen=True, kw_only=True)
class Visit:
    """The session of a request, and the state of the app."""

    owner: str
    uploads: Uploads
    jobs: Jobs
    settings: ServeSettings

    def inspect(self, upload: Upload, columns: ColumnChoice) -> Job:
        """Start the inspection of a log."""
        task = Task(kind="inspect", columns=columns.model_dump())
        upload.reading, upload.inspection = columns, None
        upload.inspection = job = self.jobs.start("inspect", upload, task)
        return job


async def _visit(request: Request) -> Visit:
    state, owner = request.app.state, request.state.session.id
    return Visit(owner=owner, uploads=state.uploads, jobs=state.jobs, settings=state.settings)


OneVisit = Annotated[Visit, Depends(_visit)]


async def _upload(log: str, visit: OneVisit) -> Upload:
    return visit.uploads.get(visit.owner, log)


async def _job(job: str, visit: OneVisit) -> Job:
    return visit.jobs.get(visit.owner, job)


OneUpload = Annotated[Upload, Depends(_upload)]
OneJob = Annotated[Job, Depends(_job)]


@api.get("/mechanisms", responses=problems())
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


@api.post("/plan", responses=problems(413, 503))
async def plan(request: PlanRequest, visit: OneVisit) -> schemas.PlanAnswer:
    """Describe the guarantee and the ε of a release; reads no log and spends nothing."""
    return await run_in_threadpool(_plan, request, visit.settings.ledger)


def _plan(request: PlanRequest, ledger: Path | None) -> schemas.PlanAnswer:
    kinds = {entry.name: entry.kind for entry in request.attributes}
    same = {"person", "max_cases", "columns", "employees", "personal"}
    names = tuple(entry.name for entry in request.attributes)
    options = read_options({**request.model_dump(include=same), "attribute": names})
    attributes = declared_attributes(options, kinds=kinds, assumed=ASSUMED_VALUES)
    mechanism = _choose(request, public_rules=request.public_rules).for_log(
        timed=request.timed, attributes=attributes
    )
    certificate = certify_request(mechanism, options.unit, seed=request.seed)
    epsilon = certificate.epsilon
    activities = ASSUMED_ACTIVITIES if request.activities is None else request.activities
    made = mechanism.plan_for(options.unit, activities, request.cases)
    return schemas.PlanAnswer(
        promise=say_promise(certificate),
        **({} if epsilon is None else asdict(explain_epsilon(epsilon, certificate.budget))),
        afford=_afford(request.dataset, certificate, ledger),
        protects=str(certificate.protects),
        assumptions=list(map(str, certificate.assumptions)),
        not_promised=list(map(str, certificate.not_promised)),
        shares=[schemas.ShareAnswer.model_validate(share) for share in made.shares] if made else [],
        lines=[render(line, wording=as_field) for line in made.lines()] if made else [],
    )


def _choose(request: MechanismChoice, *, public_rules: bool) -> Mechanism:
    """Make the mechanism of a request; invalid settings are refused here.

    Rules are not read yet; empty ones are placeholders.
    """
    rules = Rules.free((), Stated("as given")) if public_rules else None
    return make_mechanism(request.mechanism, {**request.settings(), "rules": rules})


def _afford(
    dataset: str | None, certificate: Certificate, ledger: Path | None
) -> schemas.AffordAnswer | None:
    """Return the effect of a release on a budget, computed exactly as by the ledger."""
    if dataset is None:
        return None
    if ledger is None:
        raise SettingError("dataset", dataset, Statement("must.no_ledger"))
    accounts = {account.dataset: account for account in Ledger.open(ledger).accounts()}
    if dataset not in accounts:
        advice = advise_nearest(dataset, accounts)
        raise SettingError("dataset", dataset, Statement("must.in_ledger", advice=advice))
    account, cost = accounts[dataset], certificate.rho or certificate.epsilon
    content: dict[str, object] = {"dataset": dataset, "left": None, "after": None}
    if not account.holds(cost):
        raise LedgerError(Statement("ledger.budget_in_epsilon", dataset=dataset))
    content["enough"] = enough = account.allows(cost)
    if account.left is not None:
        content["left"] = account.epsilon(account.left, fits=True)
        if enough:
            after = account.left - account.amounts(cost).finite
            content["after"] = account.epsilon(after, fits=True)
    return schemas.AffordAnswer.model_validate(content)


@api.get("/logs", responses=problems())
async def list_logs(visit: OneVisit) -> Sequence[schemas.LogAnswer]:
    """List the uploaded logs."""
    return visit.uploads.of(visit.owner)


BYTES = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}


@api.post(
    "/logs",
    status_code=201,
    responses=problems(413, 429, 507),
    openapi_extra={"requestBody": {"required": True, "content": BYTES}},
)
async def upload_log(
    request: Request,
    name: Annotated[str, Query(min_length=1, max_length=1_000, examples=["visits.xes.gz"])],
    visit: OneVisit,
) -> schemas.LogAnswer:
    """Upload a log: its bytes are the body. It is inspected immediately."""
    try:
        upload = await visit.uploads.receive(visit.owner, name, request.stream())
        try:
            visit.inspect(upload, ColumnChoice())
        except BaseException:
            # Its id is unknown to everybody, so it could not even be deleted.
            visit.uploads.delete(upload)
            raise
    except ClientDisconnect:
        raise StatusError(400, Statement("web.broken_off")) from None
    except OSError:
        raise StatusError(507, Statement("web.not_stored")) from None
    return visit.uploads.get(visit.owner, upload.id)


@api.get("/logs/{log}", responses=problems(404))
async def show_log(upload: OneUpload) -> schemas.LogAnswer:
    """Show an uploaded log and its inspection, if it is finished."""
    return upload


@api.delete("/logs/{log}", status_code=204, responses=problems(404))
async def delete_log(upload: OneUpload, visit: OneVisit) -> None:
    """Delete an uploaded log and its inspection; jobs that read it are ended."""
    await visit.jobs.delete_log(upload)


@api.put("/logs/{log}/draft", status_code=204, responses=problems(404, 413))
async def keep_draft(upload: OneUpload, draft: Draft) -> None:
    """Keep the current choices for a release while the log is here."""
    upload.draft = draft


@api.post("/logs/{log}/inspection", status_code=202, responses=problems(404, 413, 429))
async def inspect_log(
    upload: OneUpload, columns: ColumnChoice, visit: OneVisit
) -> schemas.JobAnswer:
    """Inspect a log again with other columns."""
    if upload.inspection is not None:
        await visit.jobs.delete(visit.jobs.get(visit.owner, upload.inspection.id))
    return visit.inspect(upload, columns)


@api.get("/jobs", responses=problems())
async def list_jobs(visit: OneVisit) -> Sequence[schemas.JobAnswer]:
    """List the releases in progress or finished."""
    return visit.jobs.of(visit.owner, "anonymize")


@api.post("/jobs", status_code=202, responses=problems(404, 413, 429))
async def start_job(request: JobRequest, visit: OneVisit) -> schemas.JobAnswer:
    """Start a release of an uploaded log."""
    upload, others = visit.uploads.get(visit.owner, request.log), []
    if request.rules_log is not None:
        others = [visit.uploads.get(visit.owner, request.rules_log)]
        if others[0].sha256 == upload.sha256:
            raise StatusError(422, Statement("web.same_log"))
    # Invalid settings are refused before a process starts.
    options = request.columns.options()
    mechanism = _choose(request, public_rules=request.rules is not None or bool(others))
    if not options.attribute:
        mechanism.refuse_unused_settings()
    # Logs are identified by ids in a request.
    same = {"columns", "mechanism", "seed", "activities", "rules", "rules_file", "model"}
    given = request.model_dump(include={*same, "dataset", "released_by"})
    task = Task(
        kind="anonymize",
        settings=request.settings(),
        ledger=_payer(request, visit.settings.ledger),
        rules_log=str(others[0].path) if others else None,
        rules_name=others[0].name if others else "",
        **given,
    )
    job = visit.jobs.start("anonymize", upload, task, *others)
    job.delete_log = request.delete_log
    return job


def _payer(request: JobRequest, ledger: Path | None) -> str | None:
    """Return the ledger that pays. If there is one, a release without payment must be explicit."""
    if request.dataset is None:
        if ledger is not None and not request.not_charged:
            raise StatusError(422, Statement("web.unpaid"))
        return None
    if ledger is None:
        raise StatusError(422, Statement("web.dataset_without_ledger"))
    if request.not_charged:
        raise StatusError(422, Statement("web.paid_and_not_charged"))
    return str(ledger.absolute())


@api.get("/jobs/{job}", responses=problems(404))
async def show_job(job: OneJob) -> schemas.JobAnswer:
    """Show the state of a job."""
    return job


@api.post("/jobs/{job}/cancel", responses=problems(404))
async def cancel_job(job: OneJob, visit: OneVisit) -> schemas.JobAnswer:
    """Cancel a job unless it has ended."""
    await visit.jobs.cancel(job)
    return job


@api.delete("/jobs/{job}", status_code=204, responses=problems(404))
async def delete_job(job: OneJob, visit: OneVisit) -> None:
    """End a job and delete its results."""
    await visit.jobs.delete(job)


OCTETS = "application/octet-stream"


@api.get("/jobs/{job}/files/{file}", response_class=Response, responses=file_of(OCTETS))
async def download(job: OneJob, file: str, visit: OneVisit) -> FileResponse:
    """Download the released log, its certificate, report or figures, in any format, or as a zip."""
    if job.release is None or file not in FILES:
        raise StatusError(404, Statement("web.no_file"))
    stem, path = download_stem(job.name), await visit.jobs.convert(job, file)
    if file in REPORT_FILES:
        return FileResponse(path, filename=f"{stem}.{file.removeprefix('report.')}")
    end = ".zip" if file.endswith(".zip") else file.removeprefix("log")
    return FileResponse(path, filename=f"{stem}{end}", media_type=OCTETS)


@api.get(
    "/jobs/{job}/signatures/{file}",
    response_class=Response,
    responses=file_of("application/json"),
)
async def download_signature(job: OneJob, file: str, visit: OneVisit) -> FileResponse:
    """Download the signature of a released log in the format of the file name."""
    signer = visit.settings.signer
    if signer is None:
        raise StatusError(404, Statement("web.no_key"))
    if file not in LOGS or job.release is None:
        raise StatusError(404, Statement("web.no_file"))
    path = await visit.jobs.convert(job, file)
    try:
        made = await run_in_threadpool(sign, path, signer, force=True)
    except SacofaError as error:
        # Names of the app's own folders are internal.
        raise HTTPException(409, plain(str(error).replace(f"{job.folder}/", ""))) from None
    name = f"{download_stem(job.name)}{file.removeprefix('log')}.signature.json"
    return FileResponse(made, filename=name, media_type="application/json")


@api.get("/signer", responses=problems())
async def show_signer(visit: OneVisit) -> schemas.SignerAnswer:
    """Show the name and id of the signing key; both are null if there is none."""
    signer = visit.settings.signer
    nobody = schemas.SignerAnswer(name=None, id=None)
    return nobody if signer is None else schemas.SignerAnswer.model_validate(signer.public)


@api.get("/ledger", responses=problems(503))
async def show_ledger(visit: OneVisit) -> schemas.LedgerAnswer:
    """Show the accounts of all datasets of the ledger."""
    path = visit.settings.ledger
    if path is None:
        return schemas.LedgerAnswer(datasets=None)
    accounts = await run_in_threadpool(lambda: Ledger.open(path).accounts())
    return schemas.LedgerAnswer(datasets=list(map(schemas.AccountAnswer.of, accounts)))


@api.get("/ledger/{dataset}", responses=problems(404, 503))
async def show_dataset(dataset: str, visit: OneVisit) -> list[schemas.EntryAnswer]:
    """Show the releases of a dataset."""
    path = visit.settings.ledger
    if path is None:
        raise StatusError(404, Statement("web.no_ledger"))
    ledger = await run_in_threadpool(Ledger.open, path)
    if dataset not in {account.dataset for account in await run_in_threadpool(ledger.accounts)}:
        raise StatusError(404, Statement("web.no_dataset"))
    entries = await run_in_threadpool(ledger.entries, dataset)
    return list(map(schemas.EntryAnswer.model_validate, entries))
