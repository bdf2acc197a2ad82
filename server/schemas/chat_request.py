"""The body of ``POST /v1/chat/completions``: its fields, their ranges, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import ConfigDict, Field, model_validator

from server.schemas.constraint_fields import ConstraintFields
from server.schemas.field_policy import keep_implemented
from server.schemas.messages import AssistantMessage, Message
from server.schemas.output_fields import LogprobsCount, OutputFields
from server.schemas.reasoning_fields import ReasoningFields
from server.schemas.sampling_fields import SamplingFields
from server.schemas.template_fields import TemplateFields
from server.schemas.tool_fields import ToolFields
from server.schemas.validation import validated
from server.schemas.violations import field_conflict

MAX_MESSAGES = 4096


class ChatCompletionRequest(
    ConstraintFields, ToolFields, ReasoningFields, SamplingFields, OutputFields, TemplateFields
):
    """Every field the server implements. ``None`` means "not given"."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    messages: Annotated[list[Message], Field(min_length=1, max_length=MAX_MESSAGES)]
    model: str | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    """Wins over `max_tokens`."""
    logprobs: bool | None = None
    top_logprobs: LogprobsCount | None = None
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    metadata: dict[str, str] | None = None

    @property
    def token_limit(self) -> int | None:
        """The most tokens the client wants, or ``None``; `max_completion_tokens` wins."""
        return self.max_completion_tokens or self.max_tokens

    @property
    def wants_logprobs(self) -> bool:
        return bool(self.logprobs)

    @property
    def echoed_text(self) -> str:
        """What the answer begins with: the last message, if it is the assistant's and `echo` is set."""
        last = self.messages[-1]
        return (last.content or "") if self.echo and isinstance(last, AssistantMessage) else ""

    @model_validator(mode="after")
    def _top_needs_logprobs(self) -> ChatCompletionRequest:
        if self.top_logprobs and not self.logprobs:
            raise field_conflict("top_logprobs", "top_logprobs needs logprobs: true")
        return self

    @model_validator(mode="after")
    def _only_an_answer_can_be_continued(self) -> ChatCompletionRequest:
        if self.continue_final_message and not isinstance(self.messages[-1], AssistantMessage):
            message = "continue_final_message needs a last message of the role assistant"
            raise field_conflict("continue_final_message", message)
        return self


def parse_chat_request(body: Mapping[str, Any]) -> ChatCompletionRequest:
    """The request in `body`.

    Raises:
        ApiError: 400 that names the first field which is missing, unknown, unsupported or out of range.
    """
    return validated(ChatCompletionRequest, keep_implemented(body, ChatCompletionRequest.model_fields))
