"""``POST /v1/chat/completions``."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from server.body import read_json_object
from server.disconnect import until_disconnect
from server.schemas.chat_request import parse_chat_request
from server.services import ServicesOfApp
from server.sse import EventStreamResponse
from server.streamed_answer import streamed_answer
from server.whole_answer import whole_answer

router = APIRouter()


@router.post("/v1/chat/completions")
async def create_chat_completion(http: Request, services: ServicesOfApp) -> Response:
    body = await read_json_object(http, services.body_limits)
    request = parse_chat_request(body)
    generation = await until_disconnect(http.receive, services.chat.start(request))
    if request.stream:
        return EventStreamResponse(
            streamed_answer(generation),
            on_close=generation.streams.cancel,
            keep_alive_s=services.keep_alive_s,
        )
    completion = await until_disconnect(http.receive, whole_answer(generation))
    return JSONResponse(completion.model_dump())
