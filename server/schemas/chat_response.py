"""The bodies the chat completions endpoint answers with."""

from __future__ import annotations

import base64
from typing import Any, Literal

from pydantic import BaseModel, SerializerFunctionWrapHandler, model_serializer

from server.schemas.logprobs import ChatLogprobs, PromptLogprobs
from server.schemas.tool_call_response import CustomCallAnswer, FunctionCallAnswer, ToolCallDelta

FinishReason = Literal["stop", "length", "tool_calls"]
StopReason = str | int | None


class PromptTokensDetails(BaseModel):
    """Requests share no cached states: every prompt is computed."""

    cached_tokens: Literal[0] = 0


class CompletionTokensDetails(BaseModel):
    reasoning_tokens: int = 0


class Usage(BaseModel):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: PromptTokensDetails
    completion_tokens_details: CompletionTokensDetails


class TextCapture(BaseModel):
    name: str
    text: str


class BytesCapture(BaseModel):
    """A capture that is not valid UTF-8, which can be when the grammar speaks of single bytes."""

    name: str
    base64: str


Capture = TextCapture | BytesCapture


class AssistantAnswer(BaseModel):
    """Thoughts and calls are absent, and not null, where there are none."""

    role: Literal["assistant"] = "assistant"
    content: str | None
    refusal: None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[FunctionCallAnswer | CustomCallAnswer] | None = None

    @model_serializer(mode="wrap")
    def _leave_out_absent(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without_absent(serialize(self), ("reasoning_content", "reasoning", "tool_calls"))


class Choice(BaseModel):
    index: int = 0
    message: AssistantAnswer
    logprobs: ChatLogprobs | None = None
    finish_reason: FinishReason
    stop_reason: StopReason = None
    captures: list[Capture] | None = None
    """Absent, and not null, unless the client asked for them, like the token ids."""
    token_ids: list[int] | None = None

    @model_serializer(mode="wrap")
    def _leave_out_absent(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without_absent(serialize(self), ("captures", "token_ids"))


class ChatCompletion(BaseModel):
    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: Usage
    prompt_logprobs: PromptLogprobs | None = None
    """Absent unless the client asked for them, like the prompt's ids."""
    prompt_token_ids: list[int] | None = None

    @model_serializer(mode="wrap")
    def _leave_out_absent(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without_absent(serialize(self), ("prompt_logprobs", "prompt_token_ids"))


class Delta(BaseModel):
    """Only the fields that were set are sent."""

    role: Literal["assistant"] = "assistant"
    content: str = ""
    reasoning_content: str = ""
    reasoning: str = ""
    tool_calls: list[ToolCallDelta] = []


class ChunkChoice(BaseModel):
    index: int = 0
    delta: Delta
    logprobs: ChatLogprobs | None = None
    finish_reason: FinishReason | None = None
    stop_reason: StopReason = None
    captures: list[Capture] | None = None
    token_ids: list[int] | None = None


class ChatCompletionChunk(BaseModel):
    """One event of a stream; `usage` and `prompt_token_ids` are absent unless the client asked for them."""

    id: str
    object: Literal["chat.completion.chunk"]
    created: int
    model: str
    choices: list[ChunkChoice]
    usage: Usage | None = None
    prompt_token_ids: list[int] | None = None


def capture_of(name: str, value: bytes) -> Capture:
    try:
        return TextCapture(name=name, text=value.decode())
    except UnicodeDecodeError:
        return BytesCapture(name=name, base64=base64.b64encode(value).decode())


def usage_of(prompt_tokens: int, completion_tokens: int, reasoning_tokens: int = 0) -> Usage:
    """`reasoning_tokens` are those of the completion that were thoughts."""
    return Usage(
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        total_tokens=prompt_tokens + completion_tokens,
        prompt_tokens_details=PromptTokensDetails(cached_tokens=0),
        completion_tokens_details=CompletionTokensDetails(reasoning_tokens=reasoning_tokens),
    )


def without_absent(fields: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """`fields` without those of `names` that are null."""
    return {name: value for name, value in fields.items() if value is not None or name not in names}
