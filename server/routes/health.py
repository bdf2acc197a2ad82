"""``GET /health``: 200 while requests are answered, else 503."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from server.services import ServicesOfApp

router = APIRouter()


@router.api_route("/health", methods=["GET", "HEAD"])
async def get_health(services: ServicesOfApp) -> JSONResponse:
    if services.engine.is_healthy:
        return JSONResponse({"status": "ok"})
    return JSONResponse({"status": "the generation loop does not run, or is stuck"}, status_code=503)
