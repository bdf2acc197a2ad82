"""The body of ``POST /v1/responses``: its fields, their ranges, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from server.schemas.constraint_fields import ConstraintFields
from server.schemas.field_policy import keep_implemented
from server.schemas.output_fields import LogprobsCount
from server.schemas.reasoning_fields import ReasoningEffort
from server.schemas.response_format import Schema
from server.schemas.responses_items import InputItem, MessageItem
from server.schemas.sampling_fields import SamplingFields
from server.schemas.tool_fields import CustomTool, FlatCustomTool, FunctionSpec, ToolName
from server.schemas.validation import validated
from server.schemas.violations import field_conflict

MAX_ITEMS = 4096
MAX_TOOLS = 1024
MAX_METADATA = 16


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class TextFormat(_Strict):
    type: Literal["text", "json_object"]


class SchemaFormat(_Strict):
    """`strict` changes nothing: the schema is always enforced."""

    type: Literal["json_schema"]
    name: str
    schema_: Annotated[Schema, Field(alias="schema")]
    description: str | None = None
    strict: bool | None = None


class TextOptions(_Strict):
    format: Annotated[TextFormat | SchemaFormat, Field(discriminator="type")] | None = None
    verbosity: Literal["medium"] | None = None


class FlatFunctionTool(FunctionSpec):
    """A function, without the object around it that chat completions have."""

    type: Literal["function"]


def _flat_custom(value: Any) -> Any:
    if isinstance(value, dict) and value.get("type") == "custom" and "custom" not in value:
        return {"type": "custom", "custom": {key: value[key] for key in value if key != "type"}}
    return value


ResponseTool = Annotated[
    Annotated[FlatFunctionTool | CustomTool, Field(discriminator="type")],
    BeforeValidator(_flat_custom, json_schema_input_type=FlatFunctionTool | CustomTool | FlatCustomTool),
]


class NamedTool(_Strict):
    type: Literal["function", "custom"]
    name: ToolName


class AllowedResponseTools(_Strict):
    type: Literal["allowed_tools"]
    mode: Literal["auto", "required"]
    tools: Annotated[list[NamedTool], Field(min_length=1, max_length=MAX_TOOLS)]


ResponseToolChoice = Literal["none", "auto", "required"] | NamedTool | AllowedResponseTools


class ReasoningOptions(_Strict):
    """There are no summaries: the thoughts themselves are given."""

    effort: ReasoningEffort | None = None


Include = Literal["message.output_text.logprobs"]


class ResponsesRequest(ConstraintFields, SamplingFields):
    """Every field the server implements. ``None`` means "not given"."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    input: str | Annotated[list[InputItem], Field(min_length=1, max_length=MAX_ITEMS)]
    model: str | None = None
    instructions: str | None = None
    previous_response_id: str | None = None
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    stream: bool | None = None
    store: bool | None = None
    """Whether the response can be asked for later; true if not given."""
    background: bool | None = None
    """The answer comes at once, and the response is asked for until it is complete."""
    text: TextOptions | None = None
    tools: Annotated[list[ResponseTool], Field(max_length=MAX_TOOLS)] | None = None
    tool_choice: ResponseToolChoice | None = None
    parallel_tool_calls: bool | None = None
    reasoning: ReasoningOptions | None = None
    include: list[Include] | None = None
    top_logprobs: LogprobsCount | None = None
    truncation: Literal["disabled"] | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    metadata: Annotated[dict[str, str], Field(max_length=MAX_METADATA)] | None = None
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None

    @property
    def items(self) -> list[Any]:
        if isinstance(self.input, str):
            return [MessageItem(role="user", content=self.input)]
        return list(self.input)

    @property
    def is_stored(self) -> bool:
        return self.store is not False

    @property
    def wants_logprobs(self) -> bool:
        return bool(self.include)

    @property
    def token_limit(self) -> int | None:
        return self.max_output_tokens

    @model_validator(mode="after")
    def _other_names_here(self) -> ResponsesRequest:
        for name, instead in (("response_format", "text.format"), ("max_tokens", "max_output_tokens")):
            if getattr(self, name) is not None:
                raise field_conflict(name, f"{name} is called {instead} here")
        if self.choices > 1:
            raise field_conflict("n", "n must be 1: a response has one answer")
        if self.return_captures:
            raise field_conflict("return_captures", "return_captures is not available here")
        if self.top_logprobs and not self.wants_logprobs:
            message = "top_logprobs needs 'message.output_text.logprobs' in include"
            raise field_conflict("top_logprobs", message)
        return self

    @model_validator(mode="after")
    def _background_is_asked_for_later(self) -> ResponsesRequest:
        if self.background and self.stream:
            raise field_conflict("background", "background is not available with stream: true")
        if self.background and not self.is_stored:
            raise field_conflict("background", "background needs store: true")
        return self


def parse_responses_request(body: Mapping[str, Any]) -> ResponsesRequest:
    """The request in `body`.

    Raises:
        ApiError: 400 that names the first field which is missing, unknown, unsupported or out of range.
    """
    return validated(ResponsesRequest, keep_implemented(body, ResponsesRequest.model_fields))
