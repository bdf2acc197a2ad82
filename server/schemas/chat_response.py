"""The bodies the chat completions endpoint answers with."""

from __future__ import annotations

import base64
from typing import Any, Literal

from pydantic import BaseModel, SerializerFunctionWrapHandler, model_serializer

FinishReason = Literal["stop", "length"]
StopReason = str | int | None


class Usage(BaseModel):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class TextCapture(BaseModel):
    name: str
    text: str


class BytesCapture(BaseModel):
    """A capture that is not valid UTF-8, which can be when the grammar speaks of single bytes."""

    name: str
    base64: str


Capture = TextCapture | BytesCapture


class AssistantAnswer(BaseModel):
    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None


class Choice(BaseModel):
    index: int = 0
    message: AssistantAnswer
    logprobs: None = None
    finish_reason: FinishReason
    stop_reason: StopReason = None
    captures: list[Capture] | None = None
    """Absent, and not null, unless the client asked for them."""

    @model_serializer(mode="wrap")
    def _leave_out_absent_captures(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = serialize(self)
        if self.captures is None:
            fields.pop("captures", None)
        return fields


class ChatCompletion(BaseModel):
    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: Usage


class Delta(BaseModel):
    """Only the fields that were set are sent."""

    role: Literal["assistant"] = "assistant"
    content: str = ""


class ChunkChoice(BaseModel):
    index: int = 0
    delta: Delta
    logprobs: None = None
    finish_reason: FinishReason | None = None
    stop_reason: StopReason = None
    captures: list[Capture] | None = None


class ChatCompletionChunk(BaseModel):
    """One event of a stream; `usage` is absent unless the client asked for it."""

    id: str
    object: Literal["chat.completion.chunk"]
    created: int
    model: str
    choices: list[ChunkChoice]
    usage: Usage | None = None


def capture_of(name: str, value: bytes) -> Capture:
    try:
        return TextCapture(name=name, text=value.decode())
    except UnicodeDecodeError:
        return BytesCapture(name=name, base64=base64.b64encode(value).decode())


def usage_of(prompt_tokens: int, completion_tokens: int) -> Usage:
    return Usage(
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        total_tokens=prompt_tokens + completion_tokens,
    )
