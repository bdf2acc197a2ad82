"""The OpenAPI document is true and whole."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from server.schemas.chat_request import ChatCompletionRequest
from server.schemas.completion_request import CompletionRequest
from server.schemas.field_policy import HARMLESS_VALUES
from server.schemas.responses_request import ResponsesRequest
from tests.server.fuzzing import fuzz

BODIES = [ChatCompletionRequest, CompletionRequest, ResponsesRequest]


@pytest.fixture
def document(client: httpx.Client) -> dict[str, Any]:
    body: dict[str, Any] = client.get("/openapi.json").json()
    return body


def test_every_path_is_there(document: dict[str, Any]) -> None:
    assert set(document["paths"]) == {
        "/detokenize", "/health", "/load", "/metrics", "/ping", "/tokenize", "/v1/chat/completions",
        "/v1/completions", "/v1/detokenize", "/v1/models", "/v1/models/{name}", "/v1/responses",
        "/v1/responses/{response_id}", "/v1/responses/{response_id}/cancel",
        "/v1/responses/{response_id}/input_items", "/v1/tokenize", "/version",
    }  # fmt: skip
    for operations in document["paths"].values():
        if "post" in operations and "cancel" not in operations["post"]["operationId"]:
            assert operations["post"]["requestBody"]["required"]


@pytest.mark.parametrize("model", BODIES)
def test_every_field_is_there(document: dict[str, Any], model: Any) -> None:
    properties = document["components"]["schemas"][model.__name__]["properties"]
    aliases = {field.alias or name for name, field in model.model_fields.items()}
    assert set(properties) == aliases | set(HARMLESS_VALUES)


def test_there_are_no_pages_that_load_scripts_from_elsewhere(client: httpx.Client) -> None:
    assert client.get("/docs").status_code == client.get("/redoc").status_code == 404


def test_no_answer_breaks_the_document(base_url: str) -> None:
    statuses = dict(fuzz(base_url, examples=12))
    assert statuses["POST /v1/chat/completions"][200] > 0
    assert statuses["POST /v1/responses"][400] > 0
