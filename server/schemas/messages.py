"""The messages of a conversation, as the OpenAI API writes them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

# Clients send a message they received back with these empty.
_NULL_WHEN_ECHOED = (
    "name", "refusal", "audio", "annotations", "function_call", "tool_calls", "reasoning", "reasoning_content"
)  # fmt: skip
_EMPTY_WHEN_ECHOED = ("annotations", "tool_calls")


def join_text_parts(content: Any) -> Any:
    """The text of a list of text parts, joined by newlines; any other value unchanged."""
    if not isinstance(content, list):
        return content
    return "\n".join(_part_text(part, index) for index, part in enumerate(content))


def _part_text(part: Any, index: int) -> str:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind != "text":
        context = {"index": index, "kind": repr(kind)}
        raise PydanticCustomError(
            "content_part", "Part {index} is of type {kind}; only 'text' parts are supported", context
        )
    if set(part) != {"type", "text"} or not isinstance(part["text"], str):
        message = "Part {index} must have exactly the fields 'type' and 'text' (a string)"
        raise PydanticCustomError("content_part", message, {"index": index})
    return str(part["text"])


def drop_empty_fields(message: Any) -> Any:
    if not isinstance(message, dict):
        return message
    return {
        key: value
        for key, value in message.items()
        if not (key in _NULL_WHEN_ECHOED and value is None)
        and not (key in _EMPTY_WHEN_ECHOED and value == [])
    }


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class TextPart(_Strict):
    type: Literal["text"]
    text: str


Text = Annotated[str, BeforeValidator(join_text_parts, json_schema_input_type=str | list[TextPart])]


class FunctionCall(_Strict):
    name: str
    arguments: str


class FunctionToolCall(_Strict):
    id: str
    type: Literal["function"]
    function: FunctionCall


class CustomCall(_Strict):
    name: str
    input: str


class CustomToolCall(_Strict):
    id: str
    type: Literal["custom"]
    custom: CustomCall


ToolCall = Annotated[FunctionToolCall | CustomToolCall, Field(discriminator="type")]


class SystemMessage(_Strict):
    role: Literal["system", "developer"]
    content: Text
    name: str | None = None


class UserMessage(_Strict):
    role: Literal["user"]
    content: Text
    name: str | None = None


class AssistantMessage(_Strict):
    role: Literal["assistant"]
    content: Text | None = None
    name: str | None = None
    tool_calls: list[ToolCall] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None


class ToolMessage(_Strict):
    role: Literal["tool"]
    content: Text
    tool_call_id: str
    name: str | None = None


AnyMessage = Annotated[
    SystemMessage | UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")
]
Message = Annotated[AnyMessage, BeforeValidator(drop_empty_fields)]
