"""What can be chosen, and what it would promise; reads no log."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException
from starlette.concurrency import run_in_threadpool

from ...errors import LedgerError, SacofaError
from ...mechanisms.registry import DEFAULT, MECHANISMS
from ...mechanisms.settings import settings_of
from .. import schemas
from ..planning import make_plan
from ..requests import PlanRequest
from .common import SettingsOf, problems, refusal

router = APIRouter()


@router.get("/mechanisms", responses=problems())
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


@router.post("/plan", responses=problems(413, 422, 503))
async def plan(request: PlanRequest, settings: SettingsOf) -> schemas.PlanAnswer:
    """Say what a release would promise and cost; reads no log and spends nothing."""
    try:
        return await run_in_threadpool(make_plan, request, settings.ledger)
    except LedgerError as error:
        raise HTTPException(503, str(error)) from None
    except SacofaError as error:
        raise refusal(error, request) from None
