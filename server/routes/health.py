"""Whether the server answers, how much it has to do, and which release it is."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from server import __version__
from server.services import ServicesOfApp

router = APIRouter()


@router.get("/health")
@router.head("/health", include_in_schema=False)
@router.get("/ping")
@router.post("/ping", include_in_schema=False)
async def get_health(services: ServicesOfApp) -> JSONResponse:
    """200 while requests are answered, else 503."""
    if services.engine.is_healthy:
        return JSONResponse({"status": "ok"})
    return JSONResponse({"status": "the generation loop does not run, or is stuck"}, status_code=503)


@router.get("/version")
async def get_version() -> dict[str, str]:
    return {"version": __version__}


@router.get("/load")
async def get_load(services: ServicesOfApp) -> dict[str, int]:
    """How many requests are generated now or wait for it."""
    return {"server_load": services.engine.running + services.engine.waiting}
