"""The interface under /api: the pages use it, and so can programs. One module per resource."""

from __future__ import annotations

from fastapi import APIRouter

from . import jobs, ledger, logs, mechanisms, signing

api = APIRouter(prefix="/api")
for _resource in (mechanisms, logs, jobs, ledger, signing):
    api.include_router(_resource.router)

__all__ = ["api"]
