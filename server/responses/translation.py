"""A request of the Responses API in the words of chat completions, which answer it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from server.errors import ApiError
from server.responses.conversation import Item, messages_of
from server.schemas.chat_request import ChatCompletionRequest
from server.schemas.constraint_fields import ConstraintFields
from server.schemas.responses_request import (
    AllowedResponseTools,
    FlatFunctionTool,
    NamedTool,
    ResponsesRequest,
    ResponseTool,
    SchemaFormat,
)
from server.schemas.sampling_fields import SamplingFields
from server.schemas.validation import validated

# Where a client finds what an error of the other endpoint is about.
_NAMES = {
    "messages": "input",
    "response_format": "text.format",
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
    "reasoning_effort": "reasoning.effort",
}
_SAME = (
    *(name for name in ConstraintFields.model_fields if name != "response_format"),
    *SamplingFields.model_fields,
    "model", "parallel_tool_calls", "top_logprobs", "chat_template_kwargs",
)  # fmt: skip


def as_chat_request(request: ResponsesRequest, history: Sequence[Item]) -> ChatCompletionRequest:
    """`history`: the items that came before the request's own.

    Raises:
        ApiError: 400 for a conversation that is none.
    """
    written = request.model_dump(exclude_none=True, by_alias=True)
    body: dict[str, Any] = {name: written[name] for name in _SAME if name in written}
    body["messages"] = messages_of(request.instructions, [*history, *request.items])
    body["max_completion_tokens"] = request.max_output_tokens
    body["logprobs"] = request.wants_logprobs
    if request.reasoning is not None:
        body["reasoning_effort"] = request.reasoning.effort
    if request.text is not None and request.text.format is not None:
        body["response_format"] = _response_format(request)
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.tool_choice is not None:
        body["tool_choice"] = _tool_choice(request.tool_choice)
    try:
        return validated(ChatCompletionRequest, body)
    except ApiError as error:
        raise renamed(error) from None


def renamed(error: ApiError) -> ApiError:
    """The error with the Responses API's name of the field that it is about."""
    param = (error.param or "").replace("response_format.json_schema", "response_format")
    head, separator, rest = param.partition(".")
    head, bracket, index = head.partition("[")
    if head in _NAMES:
        # Messages are made of items and do not have their numbers.
        error.param = _NAMES[head] + ("" if head == "messages" else bracket + index + separator + rest)
    return error


def _response_format(request: ResponsesRequest) -> dict[str, Any]:
    assert request.text is not None
    wanted = request.text.format
    assert wanted is not None
    if not isinstance(wanted, SchemaFormat):
        return {"type": wanted.type}
    named = wanted.model_dump(by_alias=True, exclude_none=True, exclude={"type"})
    return {"type": "json_schema", "json_schema": named}


def _tool(tool: ResponseTool) -> dict[str, Any]:
    if isinstance(tool, FlatFunctionTool):
        return {"type": "function", "function": tool.model_dump(exclude_none=True, exclude={"type"})}
    written: dict[str, Any] = tool.model_dump(exclude_none=True)
    return written


def _tool_choice(choice: str | NamedTool | AllowedResponseTools) -> Any:
    if isinstance(choice, NamedTool):
        return {"type": choice.type, choice.type: {"name": choice.name}}
    if isinstance(choice, AllowedResponseTools):
        tools = [_tool_choice(tool) for tool in choice.tools]
        return {"type": "allowed_tools", "allowed_tools": {"mode": choice.mode, "tools": tools}}
    return choice
