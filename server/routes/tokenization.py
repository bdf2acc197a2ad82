"""``POST /tokenize`` and ``POST /detokenize``."""

from __future__ import annotations

from fastapi import APIRouter, Request

from server.body import read_json_object
from server.disconnect import until_disconnect
from server.schemas.tokenization import (
    DetokenizeResponse,
    TokenizeResponse,
    parse_detokenize_request,
    parse_tokenize_request,
)
from server.services import ServicesOfApp

router = APIRouter()


@router.post("/tokenize")
@router.post("/v1/tokenize")
async def tokenize(http: Request, services: ServicesOfApp) -> TokenizeResponse:
    body = await read_json_object(http, services.body_limits)
    return await until_disconnect(http.receive, services.tokens.tokenize(parse_tokenize_request(body)))


@router.post("/detokenize")
@router.post("/v1/detokenize")
async def detokenize(http: Request, services: ServicesOfApp) -> DetokenizeResponse:
    body = await read_json_object(http, services.body_limits)
    return await until_disconnect(http.receive, services.tokens.detokenize(parse_detokenize_request(body)))
