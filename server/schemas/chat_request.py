"""The body of ``POST /v1/chat/completions``: its fields, their ranges, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from server.errors import ApiError, invalid_request
from server.schemas.constraint_fields import ConstraintFields
from server.schemas.field_policy import keep_implemented
from server.schemas.messages import Message
from server.schemas.reasoning_fields import ReasoningFields
from server.schemas.tool_fields import ToolFields
from server.schemas.violations import first_violation

_INT64 = 2**63
MAX_STOP_STRINGS = 4
MAX_MESSAGES = 4096


def _as_stop_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


StopStrings = Annotated[
    list[Annotated[str, Field(min_length=1)]],
    BeforeValidator(_as_stop_list),
    Field(max_length=MAX_STOP_STRINGS),
]


class StreamOptions(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    include_usage: bool | None = None


class ChatCompletionRequest(ConstraintFields, ToolFields, ReasoningFields):
    """Every field the server implements. ``None`` means "not given"."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    messages: Annotated[list[Message], Field(min_length=1, max_length=MAX_MESSAGES)]
    model: str | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=-1, lt=_INT64)] | None = None
    """0 and -1 turn it off."""
    min_p: Annotated[float, Field(ge=0, le=1)] | None = None
    seed: Annotated[int, Field(ge=-_INT64, lt=_INT64)] | None = None
    stop: StopStrings | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    metadata: dict[str, str] | None = None

    @property
    def token_limit(self) -> int | None:
        """The most tokens the client wants, or ``None``; `max_completion_tokens` wins."""
        return self.max_completion_tokens or self.max_tokens

    @property
    def includes_usage(self) -> bool:
        return bool(self.stream_options and self.stream_options.include_usage)

    @model_validator(mode="after")
    def _options_need_a_stream(self) -> ChatCompletionRequest:
        if self.stream_options is not None and not self.stream:
            raise PydanticCustomError("stream_options", "stream_options is only allowed with stream: true")
        return self


def parse_chat_request(body: Mapping[str, Any]) -> ChatCompletionRequest:
    """The request in `body`.

    Raises:
        ApiError: 400 that names the first field which is missing, unknown, unsupported or out of range.
    """
    fields = keep_implemented(body, ChatCompletionRequest.model_fields)
    try:
        return ChatCompletionRequest.model_validate(fields)
    except ValidationError as error:
        raise _first_violation(error, fields) from None


def _first_violation(error: ValidationError, body: Mapping[str, Any]) -> ApiError:
    param, details = first_violation(error, body)
    if details["type"] == "stream_options":
        return invalid_request(details["msg"] + ".", param=details["type"])
    if details["type"] == "missing":
        return invalid_request(
            f"Missing required field '{param}'.", param=param, code="missing_required_parameter"
        )
    if details["type"] == "extra_forbidden":
        return invalid_request(f"Unknown field '{param}'.", param=param, code="unknown_parameter")
    return invalid_request(f"Invalid '{param}': {details['msg']}.", param=param)
