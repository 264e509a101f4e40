"""How datasets stand in the ledger."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from fastapi import APIRouter, HTTPException
from starlette.concurrency import run_in_threadpool

from ...errors import LedgerError
from ...ledger import Entry, Ledger
from .. import schemas
from .common import SettingsOf, problems, refused

router = APIRouter()
Found = TypeVar("Found")


@router.get("/ledger", responses=problems(503))
async def show_ledger(settings: SettingsOf) -> schemas.LedgerAnswer:
    """Show how every dataset of the ledger stands."""
    if settings.ledger is None:
        return schemas.LedgerAnswer(datasets=None)
    accounts = await _ask_ledger(settings.ledger, lambda ledger: ledger.accounts())
    return schemas.LedgerAnswer(datasets=list(map(schemas.AccountAnswer.model_validate, accounts)))


@router.get(
    "/ledger/{dataset}", response_model=list[schemas.EntryAnswer], responses=problems(404, 503)
)
async def show_dataset(dataset: str, settings: SettingsOf) -> list[Entry]:
    """Show every release of a dataset."""
    if settings.ledger is None:
        raise refused(404, "no_ledger")
    accounts = await _ask_ledger(settings.ledger, lambda ledger: ledger.accounts())
    if dataset not in {account.dataset for account in accounts}:
        raise refused(404, "no_dataset")
    return await _ask_ledger(settings.ledger, lambda ledger: ledger.entries(dataset))


async def _ask_ledger(path: Path, question: Callable[[Ledger], Found]) -> Found:
    try:
        return await run_in_threadpool(lambda: question(Ledger.open(path)))
    except LedgerError as error:
        raise HTTPException(503, str(error)) from None
