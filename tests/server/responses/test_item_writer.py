"""Deltas of thoughts, text and calls as items and events."""

from __future__ import annotations

from typing import Any

from server.responses.item_writer import ItemWriter
from server.schemas.chat_response import Delta
from server.schemas.tool_call_response import CustomInputPart, FunctionPart, ToolCallDelta


def started(index: int, name: str) -> Delta:
    call = ToolCallDelta(index=index, id=f"call_{index}", type="function", function=FunctionPart(name=name))
    return Delta(tool_calls=[call])


def arguments(index: int, text: str) -> Delta:
    return Delta(tool_calls=[ToolCallDelta(index=index, function=FunctionPart(arguments=text))])


def write(*deltas: Delta, status: Any = "completed") -> tuple[ItemWriter, list[dict[str, Any]]]:
    writer = ItemWriter()
    events = [event for delta in deltas for event in writer.add(delta)]
    return writer, [*events, *writer.finish(status)]


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"].removeprefix("response.") for event in events]


def test_thoughts_text_and_calls() -> None:
    writer, events = write(
        Delta(reasoning_content="hm", reasoning="hm"),
        Delta(reasoning_content="m", reasoning="m"),
        Delta(content="Let me "),
        Delta(content="see."),
        started(0, "f"),
        arguments(0, '{"x":'),
        arguments(0, "1}"),
        started(1, "g"),
        arguments(1, "{}"),
    )
    thoughts, message, first, second = (item.model_dump() for item in writer.items)
    assert thoughts["content"] == [{"type": "reasoning_text", "text": "hmm"}]
    assert message["content"][0]["text"] == "Let me see."
    assert (first["name"], first["arguments"], first["call_id"]) == ("f", '{"x":1}', "call_0")
    assert (second["name"], second["arguments"]) == ("g", "{}")
    assert {item.status for item in writer.items} == {"completed"}
    assert [event["output_index"] for event in events if event["type"].endswith("item.added")] == [0, 1, 2, 3]
    assert kinds(events)[:7] == [
        "output_item.added",
        "content_part.added",
        "reasoning_text.delta",
        "reasoning_text.delta",
        "reasoning_text.done",
        "content_part.done",
        "output_item.done",
    ]
    assert kinds(events)[-4:] == [
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
    ]


def test_a_custom_call() -> None:
    part = CustomInputPart(name="sh", input="")
    begin = Delta(tool_calls=[ToolCallDelta(index=0, id="c", type="custom", custom=part)])
    more = Delta(tool_calls=[ToolCallDelta(index=0, custom=CustomInputPart(input="ls"))])
    writer, events = write(begin, more)
    [call] = (item.model_dump() for item in writer.items)
    assert (call["type"], call["name"], call["input"], call["call_id"]) == (
        "custom_tool_call",
        "sh",
        "ls",
        "c",
    )
    assert kinds(events) == [
        "output_item.added",
        "custom_tool_call_input.delta",
        "custom_tool_call_input.done",
        "output_item.done",
    ]


def test_what_is_open_at_the_end_is_incomplete() -> None:
    writer, events = write(Delta(content="a"), started(0, "f"), arguments(0, "{"), status="incomplete")
    assert [item.status for item in writer.items] == ["completed", "incomplete"]
    assert events[-1]["item"]["status"] == "incomplete"
