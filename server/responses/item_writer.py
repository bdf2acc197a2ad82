"""From the deltas of a chat answer to output items, and the events that tell of each change."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from server.schemas.chat_response import Delta
from server.schemas.logprobs import TokenLogprob
from server.schemas.responses_items import (
    CustomCallOutputItem,
    FunctionCallOutputItem,
    ItemStatus,
    OutputItem,
    OutputMessage,
    OutputText,
    ReasoningOutput,
    ReasoningText,
)
from server.schemas.tool_call_response import ToolCallDelta

Event = dict[str, Any]


class ItemWriter:
    """Writes the items of one answer. One item is open at a time; another kind of delta closes it."""

    def __init__(self) -> None:
        self.items: list[OutputItem] = []
        self._open: OutputItem | None = None

    def add(self, delta: Delta, logprobs: Sequence[TokenLogprob] = ()) -> Iterator[Event]:
        """The events of one delta."""
        if delta.content:
            yield from self._add_text(delta.content, logprobs)
        if delta.reasoning_content:
            yield from self._add_thought(delta.reasoning_content)
        for call in delta.tool_calls:
            yield from self._add_call(call)

    def finish(self, status: ItemStatus, logprobs: Sequence[TokenLogprob] = ()) -> Iterator[Event]:
        """Close what is open; an answer without any text is an empty message. `logprobs` are of tokens
        without text, such as the last."""
        if not self.items:
            yield from self._open_message()
        if isinstance(self._open, OutputMessage):
            self._open.content[0].logprobs += logprobs
        yield from self._close(status)

    # --- text

    def _add_text(self, text: str, logprobs: Sequence[TokenLogprob]) -> Iterator[Event]:
        if not isinstance(self._open, OutputMessage):
            yield from self._open_message()
        assert isinstance(self._open, OutputMessage)
        part = self._open.content[0]
        part.text += text
        part.logprobs += logprobs
        written = [entry.model_dump() for entry in logprobs]
        yield self._of_part("response.output_text.delta", delta=text, logprobs=written)

    def _open_message(self) -> Iterator[Event]:
        message = OutputMessage(id=_new_id("msg"))
        yield from self._begin(message)
        message.content = [OutputText(logprobs=[], annotations=[])]
        yield self._of_part("response.content_part.added", part=message.content[0].model_dump())

    def _close_message(self, message: OutputMessage) -> Iterator[Event]:
        part = message.content[0]
        written = [entry.model_dump() for entry in part.logprobs]
        yield self._of_part("response.output_text.done", text=part.text, logprobs=written)
        yield self._of_part("response.content_part.done", part=part.model_dump())

    # --- thoughts

    def _add_thought(self, text: str) -> Iterator[Event]:
        if not isinstance(self._open, ReasoningOutput):
            thoughts = ReasoningOutput(id=_new_id("rs"))
            yield from self._begin(thoughts)
            thoughts.content = [ReasoningText()]
            yield self._of_part("response.content_part.added", part=thoughts.content[0].model_dump())
        assert isinstance(self._open, ReasoningOutput)
        self._open.content[0].text += text
        yield self._of_part("response.reasoning_text.delta", delta=text)

    def _close_thoughts(self, thoughts: ReasoningOutput) -> Iterator[Event]:
        part = thoughts.content[0]
        yield self._of_part("response.reasoning_text.done", text=part.text)
        yield self._of_part("response.content_part.done", part=part.model_dump())

    # --- calls

    def _add_call(self, call: ToolCallDelta) -> Iterator[Event]:
        if call.id:
            yield from self._begin(_new_call(call))
        if isinstance(self._open, FunctionCallOutputItem) and call.function.arguments:
            self._open.arguments += call.function.arguments
            yield self._of_item("response.function_call_arguments.delta", delta=call.function.arguments)
        elif isinstance(self._open, CustomCallOutputItem) and call.custom.input:
            self._open.input += call.custom.input
            yield self._of_item("response.custom_tool_call_input.delta", delta=call.custom.input)

    # --- items

    def _begin(self, item: OutputItem) -> Iterator[Event]:
        yield from self._close("completed")
        self.items.append(item)
        self._open = item
        yield self._of_output("response.output_item.added", item=item.model_dump())

    def _close(self, status: ItemStatus) -> Iterator[Event]:
        item = self._open
        if item is None:
            return
        if isinstance(item, OutputMessage):
            yield from self._close_message(item)
        elif isinstance(item, ReasoningOutput):
            yield from self._close_thoughts(item)
        elif isinstance(item, FunctionCallOutputItem):
            arguments = item.arguments
            yield self._of_item("response.function_call_arguments.done", name=item.name, arguments=arguments)
        else:
            yield self._of_item("response.custom_tool_call_input.done", input=item.input)
        item.status = status
        yield self._of_output("response.output_item.done", item=item.model_dump())
        self._open = None

    def _of_output(self, kind: str, **fields: Any) -> Event:
        return {"type": kind, "output_index": len(self.items) - 1, **fields}

    def _of_item(self, kind: str, **fields: Any) -> Event:
        return self._of_output(kind, item_id=self.items[-1].id, **fields)

    def _of_part(self, kind: str, **fields: Any) -> Event:
        return self._of_item(kind, content_index=0, **fields)


def _new_call(call: ToolCallDelta) -> FunctionCallOutputItem | CustomCallOutputItem:
    if call.type == "custom":
        return CustomCallOutputItem(id=_new_id("ctc"), call_id=call.id, name=call.custom.name)
    return FunctionCallOutputItem(id=_new_id("fc"), call_id=call.id, name=call.function.name)


def _new_id(prefix: str) -> str:
    return f"{prefix}_{uuid.uuid4().hex}"
