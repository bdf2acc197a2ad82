"""The server's OpenAPI document.

Request bodies are validated by our own calls of pydantic, which FastAPI does not see: here they are added to
what it knows, with the events of streams and the one shape of all errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from server import __version__
from server.schemas.chat_request import ChatCompletionRequest
from server.schemas.chat_response import ChatCompletion, ChatCompletionChunk
from server.schemas.completion_request import CompletionRequest
from server.schemas.completion_response import Completion
from server.schemas.error import ErrorBody
from server.schemas.field_policy import HARMLESS_VALUES
from server.schemas.responses_request import ResponsesRequest
from server.schemas.responses_response import ResponseEvent, ResponseObject
from server.schemas.tokenization import DetokenizeRequest, TokenizeRequest

_REF = "#/components/schemas/{model}"


@dataclass(frozen=True)
class _Body:
    """`answer` and `event` are None where FastAPI knows the answer, and where there is no stream."""

    request: type[BaseModel]
    answer: type[BaseModel] | None = None
    event: type[BaseModel] | None = None
    has_policy: bool = False
    """Whether fields that are not implemented may be sent with their harmless values."""


_BODIES: Mapping[str, _Body] = {
    "/v1/chat/completions": _Body(ChatCompletionRequest, ChatCompletion, ChatCompletionChunk, True),
    "/v1/completions": _Body(CompletionRequest, Completion, Completion, True),
    "/v1/responses": _Body(ResponsesRequest, ResponseObject, ResponseEvent, True),
    "/tokenize": _Body(TokenizeRequest),
    "/v1/tokenize": _Body(TokenizeRequest),
    "/detokenize": _Body(DetokenizeRequest),
    "/v1/detokenize": _Body(DetokenizeRequest),
}


def install_openapi(app: FastAPI) -> None:
    """Make the document of `app` a true one; it is built when it is first asked for."""
    document: dict[str, Any] = {}

    def openapi() -> dict[str, Any]:
        if not document:
            document.update(_document(app))
        return document

    app.openapi = openapi  # type: ignore[method-assign]


def _document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(title="Syntagma", version=__version__, routes=app.routes)
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas.update(_schemas())
    for path, operations in document["paths"].items():
        for operation in operations.values():
            operation["responses"].pop("422", None)
            operation["responses"]["default"] = _answer("An error.", ErrorBody)
        if path in _BODIES:
            _describe_body(operations["post"], _BODIES[path])
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    document["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{}, {"key": []}]
    return document


def _schemas() -> dict[str, Any]:
    models: set[type[BaseModel]] = {ErrorBody}
    for body in _BODIES.values():
        models |= {model for model in (body.request, body.answer, body.event) if model is not None}
    pairs = [(model, "validation") for model in sorted(models, key=lambda model: model.__name__)]
    _, definitions = models_json_schema(pairs, ref_template=_REF)  # type: ignore[arg-type]
    schemas: dict[str, Any] = definitions["$defs"]
    for body in _BODIES.values():
        if body.has_policy:
            _add_harmless_fields(schemas[body.request.__name__])
    return schemas


def _add_harmless_fields(schema: dict[str, Any]) -> None:
    for name, values in HARMLESS_VALUES.items():
        if name not in schema["properties"]:
            schema["properties"][name] = {"enum": [None, *values]}


def _describe_body(operation: dict[str, Any], body: _Body) -> None:
    operation["requestBody"] = {"required": True, "content": _content(body.request)}
    if body.answer is not None:
        answer = _answer("The answer, or its events as they come.", body.answer)
        if body.event is not None:
            answer["content"]["text/event-stream"] = {"schema": _event_schema(body.event)}
        operation["responses"]["200"] = answer


def _event_schema(event: type[BaseModel]) -> dict[str, Any]:
    """Of one event; the last of a chat's or a completion's is ``[DONE]``."""
    chunk = {"contentMediaType": "application/json", "contentSchema": _reference(event)}
    data = {"type": "string", "anyOf": [chunk, {"const": "[DONE]"}]}
    properties = {"data": data, "event": {"type": "string"}}
    return {"type": "object", "properties": properties, "required": ["data"]}


def _answer(description: str, body: type[BaseModel]) -> dict[str, Any]:
    return {"description": description, "content": _content(body)}


def _content(body: type[BaseModel]) -> dict[str, Any]:
    return {"application/json": {"schema": _reference(body)}}


def _reference(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": _REF.format(model=model.__name__)}
