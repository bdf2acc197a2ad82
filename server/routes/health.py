"""``GET /health``: 200 while requests are answered, else 503."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from server.services import ServicesOfApp

router = APIRouter()


@router.get("/health")
async def get_health(services: ServicesOfApp) -> JSONResponse:
    if services.engine.is_healthy:
        return JSONResponse({"status": "ok"})
    return JSONResponse({"status": "the generation loop is not running"}, status_code=503)
