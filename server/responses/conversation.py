"""From the items of a conversation to the messages of a chat."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from server.schemas.responses_items import (
    CallOutput,
    CustomCallInput,
    FunctionCallInput,
    MessageItem,
    ReasoningInput,
)

Item = MessageItem | FunctionCallInput | CallOutput | CustomCallInput | ReasoningInput


def messages_of(instructions: str | None, items: Iterable[Item]) -> list[dict[str, Any]]:
    """Thoughts, text and calls that follow each other become one message of the assistant."""
    messages: list[dict[str, Any]] = []
    if instructions is not None:
        messages.append({"role": "system", "content": instructions})
    for item in items:
        if isinstance(item, MessageItem) and item.role != "assistant":
            messages.append({"role": item.role, "content": item.content})
        elif isinstance(item, CallOutput):
            messages.append({"role": "tool", "tool_call_id": item.call_id, "content": item.output})
        else:
            _add_to_answer(_open_answer(messages, item), item)
    return messages


def _open_answer(messages: list[dict[str, Any]], item: Item) -> dict[str, Any]:
    """The assistant's message that the item belongs to."""
    last = messages[-1] if messages else {}
    begins_anew = last.get("role") != "assistant" or (
        isinstance(item, (MessageItem, ReasoningInput)) and ("content" in last or "tool_calls" in last)
    )
    if begins_anew:
        messages.append({"role": "assistant"})
    return messages[-1]


def _add_to_answer(message: dict[str, Any], item: Item) -> None:
    if isinstance(item, MessageItem):
        message["content"] = item.content
    elif isinstance(item, ReasoningInput):
        message["reasoning_content"] = message.get("reasoning_content", "") + item.text
    elif isinstance(item, FunctionCallInput):
        function = {"name": item.name, "arguments": item.arguments}
        call = {"id": item.call_id, "type": "function", "function": function}
        message.setdefault("tool_calls", []).append(call)
    elif isinstance(item, CustomCallInput):
        call = {"id": item.call_id, "type": "custom", "custom": {"name": item.name, "input": item.input}}
        message.setdefault("tool_calls", []).append(call)
