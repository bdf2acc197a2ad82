"""``/v1/responses``: make, get, cancel and delete."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse, Response

from server.body import read_json_object
from server.disconnect import until_disconnect
from server.errors import invalid_request
from server.responses.service import Answer
from server.schemas.responses_request import parse_responses_request
from server.schemas.responses_response import DeletedResponse, InputItemList, ResponseObject
from server.services import ServicesOfApp
from server.sse import EventStreamResponse

_LONGEST_NAME = 100


def _refuse_unknown_options(http: Request) -> None:
    """Raises ApiError, 400, for an option in the URL that the path does not have."""
    known = {field.alias for field in http.scope["route"].dependant.query_params}
    for name in http.query_params:
        if name not in known:
            name = name[:_LONGEST_NAME]
            message = f"Unknown option '{name}' in the URL."
            raise invalid_request(message, param=name, code="unknown_parameter")


router = APIRouter(dependencies=[Depends(_refuse_unknown_options)])


@router.post("/v1/responses")
async def create_response(http: Request, services: ServicesOfApp) -> Response:
    body = await read_json_object(http, services.body_limits)
    request = parse_responses_request(body)
    answer = await until_disconnect(http.receive, services.responses.start(request, _owner(http)))
    if request.background:
        return JSONResponse(services.responses.run_in_background(answer).model_dump())
    if request.stream:
        return EventStreamResponse(
            _events(answer), on_close=answer.running.cancel, keep_alive_s=services.keep_alive_s
        )
    response = await until_disconnect(http.receive, answer.whole())
    return JSONResponse(response.model_dump())


@router.get("/v1/responses/{response_id}")
async def get_response(response_id: str, http: Request, services: ServicesOfApp) -> ResponseObject:
    return services.responses.get(response_id, _owner(http))


@router.get("/v1/responses/{response_id}/input_items")
async def get_input_items(
    response_id: str,
    http: Request,
    services: ServicesOfApp,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    order: Literal["asc", "desc"] = "desc",
    after: str | None = None,
) -> InputItemList:
    items = services.responses.input_items(response_id, _owner(http))
    return items.page(limit=limit, newest_first=order == "desc", after=after)


@router.post("/v1/responses/{response_id}/cancel")
async def cancel_response(response_id: str, http: Request, services: ServicesOfApp) -> ResponseObject:
    return await services.responses.cancel(response_id, _owner(http))


@router.delete("/v1/responses/{response_id}")
async def delete_response(response_id: str, http: Request, services: ServicesOfApp) -> DeletedResponse:
    return await services.responses.delete(response_id, _owner(http))


async def _events(answer: Answer) -> AsyncGenerator[str, None]:
    number = 0
    async for event in answer.events():
        data = json.dumps({**event, "sequence_number": number}, ensure_ascii=False)
        yield f"event: {event['type']}\ndata: {data}\n\n"
        number += 1


def _owner(http: Request) -> str | None:
    name: str | None = getattr(http.state, "api_key_name", None)
    return name
