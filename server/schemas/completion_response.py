"""The bodies the completions endpoint answers with."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, SerializerFunctionWrapHandler, model_serializer

from server.schemas.chat_response import Capture, StopReason, Usage, without_absent
from server.schemas.logprobs import CompletionLogprobs, PromptLogprobs

_OPTIONAL = ("captures", "prompt_logprobs", "token_ids", "prompt_token_ids")


class CompletionChoice(BaseModel):
    """The last four fields are absent, and not null, unless the client asked for them."""

    index: int
    text: str
    logprobs: CompletionLogprobs | None = None
    finish_reason: Literal["stop", "length"] | None = None
    stop_reason: StopReason = None
    captures: list[Capture] | None = None
    prompt_logprobs: PromptLogprobs | None = None
    token_ids: list[int] | None = None
    prompt_token_ids: list[int] | None = None

    @model_serializer(mode="wrap")
    def _leave_out_absent(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without_absent(serialize(self), _OPTIONAL)


class Completion(BaseModel):
    """A whole answer, or one event of a stream; then `usage` is absent unless the client asked for it."""

    id: str
    object: Literal["text_completion"] = "text_completion"
    created: int
    model: str
    choices: list[CompletionChoice]
    usage: Usage | None = None
