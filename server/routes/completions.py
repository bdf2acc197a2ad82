"""``POST /v1/completions``."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from server.body import read_json_object
from server.disconnect import until_disconnect
from server.schemas.completion_request import parse_completion_request
from server.services import ServicesOfApp
from server.sse import EventStreamResponse
from server.streamed_completion import streamed_completion
from server.whole_completion import whole_completion

router = APIRouter()


@router.post("/v1/completions")
async def create_completion(http: Request, services: ServicesOfApp) -> Response:
    body = await read_json_object(http, services.body_limits)
    request = parse_completion_request(body)
    job = await until_disconnect(http.receive, services.completions.start(request))
    if request.stream:
        return EventStreamResponse(
            streamed_completion(job, request), on_close=job.streams.cancel, keep_alive_s=services.keep_alive_s
        )
    completion = await until_disconnect(http.receive, whole_completion(job, request))
    return JSONResponse(completion.model_dump())
