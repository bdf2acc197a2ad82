"""``POST /v1/chat/completions``."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from server.body import read_json_object
from server.disconnect import until_disconnect
from server.generation import Generation
from server.schemas.chat_request import ChatCompletionRequest, parse_chat_request
from server.services import ServicesOfApp
from server.sse import EventStreamResponse
from server.streamed_answer import streamed_answer
from server.whole_answer import whole_answer

router = APIRouter()


@router.post("/v1/chat/completions")
async def create_chat_completion(http: Request, services: ServicesOfApp) -> Response:
    body = await read_json_object(http, max_bytes=services.max_body_bytes)
    request = parse_chat_request(body)
    generation = await until_disconnect(http.receive, services.chat.start(request))
    if request.stream:
        return _stream(generation, request)
    completion = await until_disconnect(http.receive, whole_answer(generation))
    return JSONResponse(completion.model_dump())


def _stream(generation: Generation, request: ChatCompletionRequest) -> Response:
    events = streamed_answer(generation, include_usage=request.includes_usage)
    return EventStreamResponse(events, on_close=generation.stream.cancel)
