"""Reading a request body: bounded, and JSON or a 400."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import pydantic_core
from fastapi import Request
from starlette.requests import ClientDisconnect

from server.disconnect import ClientDisconnectedError
from server.errors import ApiError, invalid_request

# A client that is refused in the middle of sending sees a broken connection instead of the answer,
# so the rest of a body that is too large is still read, up to this multiple of the limit.
_DRAIN_FACTOR = 8
_LONGEST_KEY = 100
# What the JSON parser reads, and how its message about more begins.
_DEEPEST = 201
_TOO_DEEP = "recursion limit exceeded"


@dataclass(frozen=True)
class BodyLimits:
    """The longest body, and how long a client may take to send it."""

    max_bytes: int
    timeout_s: float


async def read_json_object(request: Request, limits: BodyLimits) -> dict[str, Any]:
    """The JSON object in the body.

    Raises:
        ApiError: 413 for a body that is too long, 408 for one that takes too long; 400 for another content
            type, for text that is not JSON, for JSON that is not an object, and for a key that is there
            twice.
    """
    _require_json_content_type(request)
    try:
        async with asyncio.timeout(limits.timeout_s):
            body = await _read_bounded(request, limits.max_bytes)
    except TimeoutError:
        message = f"The request's body did not arrive within this server's limit of {limits.timeout_s:g} s."
        raise ApiError(408, message, code="request_timeout") from None
    try:
        value = pydantic_core.from_json(body, allow_inf_nan=False)
    except ValueError as error:
        reason = str(error)
        if reason.startswith(_TOO_DEEP):
            place = reason.removeprefix(_TOO_DEEP).strip()
            reason = f"it is more than {_DEEPEST} levels deep {place}; a schema may be sent as text, too"
        message = f"The request body is not valid JSON: {reason}"
        raise invalid_request(message, param=None, code="invalid_json") from None
    if not isinstance(value, dict):
        raise invalid_request("The request body must be a JSON object.", param=None, code="invalid_json")
    _refuse_duplicate_keys(body)
    return value


def _refuse_duplicate_keys(body: bytes) -> None:
    """The parser lets the last one win, and so would drop a constraint silently. `body` is valid JSON."""
    json.loads(body, object_pairs_hook=_check_keys, parse_int=len, parse_float=len)


def _check_keys(pairs: list[tuple[str, object]]) -> None:
    seen = set()
    for key, _ in pairs:
        if key in seen:
            message = f"The request body has the key {json.dumps(key[:_LONGEST_KEY])} twice in one object."
            raise invalid_request(message, param=None, code="invalid_json")
        seen.add(key)


def _require_json_content_type(request: Request) -> None:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        message = f"The Content-Type must be application/json, not {media_type or 'absent'}."
        raise invalid_request(message, param=None, code="invalid_content_type")


async def _read_bounded(request: Request, max_bytes: int) -> bytes:
    kept, size = [], 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size <= max_bytes:
                kept.append(chunk)
            elif size > max_bytes * _DRAIN_FACTOR:
                break
    except ClientDisconnect:
        raise ClientDisconnectedError from None
    if size > max_bytes:
        message = f"The request body is larger than this server's limit of {max_bytes:,} bytes."
        raise ApiError(413, message, code="request_too_large")
    return b"".join(kept)
