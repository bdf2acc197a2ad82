"""``GET /metrics``: what Prometheus scrapes."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response

from server.metrics import CONTENT_TYPE
from server.services import ServicesOfApp

router = APIRouter()


@router.get("/metrics", response_class=PlainTextResponse)
async def get_metrics(services: ServicesOfApp) -> Response:
    return Response(services.metrics.text() + services.http_metrics.text(), media_type=CONTENT_TYPE)
