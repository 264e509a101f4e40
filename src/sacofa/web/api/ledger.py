"""How datasets stand in the ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import APIRouter, HTTPException
from starlette.concurrency import run_in_threadpool

from ...errors import LedgerError
from ...ledger import Ledger
from ...report.promise import say_number
from .. import schemas
from .common import SettingsOf, problems

router = APIRouter()


@router.get("/ledger", responses=problems(503))
async def show_ledger(settings: SettingsOf) -> schemas.LedgerAnswer:
    """Show how every dataset of the ledger stands."""
    if settings.ledger is None:
        return schemas.LedgerAnswer(datasets=None)
    accounts = await _ask_ledger(settings.ledger, lambda ledger: ledger.accounts())
    return schemas.LedgerAnswer(
        datasets=[
            schemas.AccountAnswer(
                dataset=account.dataset,
                budget=_price(account.budget),
                spent=_price(account.spent),
                left=_price(account.left),
            )
            for account in accounts
        ]
    )


@router.get("/ledger/{dataset}", responses=problems(404, 503))
async def show_dataset(dataset: str, settings: SettingsOf) -> list[schemas.EntryAnswer]:
    """Show every release of a dataset."""
    if settings.ledger is None:
        raise HTTPException(404, "the app was started without a ledger")
    accounts = await _ask_ledger(settings.ledger, lambda ledger: ledger.accounts())
    if dataset not in {account.dataset for account in accounts}:
        raise HTTPException(404, "there is no such dataset")
    entries = await _ask_ledger(settings.ledger, lambda ledger: ledger.entries(dataset))
    return [
        schemas.EntryAnswer(
            id=entry.id,
            at=entry.at,
            mechanism=entry.mechanism,
            price=_price(entry.price),
            state=entry.state,
            repeats=entry.repeats,
        )
        for entry in entries
    ]


async def _ask_ledger(path: Path, question: Any) -> Any:
    try:
        return await run_in_threadpool(lambda: question(Ledger.open(path)))
    except LedgerError as error:
        raise HTTPException(503, str(error)) from None


def _price(value: Any) -> str | None:
    return None if value is None else say_number(value)
