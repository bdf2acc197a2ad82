"""From the events of an answer's tool calls to the parts of a response."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from server.schemas.tool_call_response import (
    CustomCallAnswer,
    CustomInputPart,
    FunctionCallAnswer,
    FunctionPart,
    ToolCallDelta,
)
from server.tool_calls.custom_input import CustomInput
from server.tool_calls.events import ArgumentsDelta, CallStarted


class CallWriter:
    """Writes the calls of one answer; `custom_names` are the tools whose calls carry text."""

    def __init__(self, custom_names: Iterable[str]) -> None:
        self._custom_names = frozenset(custom_names)
        self._inputs: dict[int, CustomInput] = {}
        self._calls: list[FunctionCallAnswer | CustomCallAnswer] = []

    @property
    def calls(self) -> list[FunctionCallAnswer | CustomCallAnswer]:
        """All that was written so far."""
        return self._calls

    def start(self, event: CallStarted) -> ToolCallDelta:
        """The first delta of a call, which alone has its id and name."""
        call_id = event.id or f"call_{uuid.uuid4().hex[:24]}"
        if event.name in self._custom_names:
            self._inputs[event.index] = CustomInput()
            custom = CustomInputPart(name=event.name, input="")
            self._calls.append(CustomCallAnswer(id=call_id, type="custom", custom=custom))
            return ToolCallDelta(index=event.index, id=call_id, type="custom", custom=custom.model_copy())
        function = FunctionPart(name=event.name, arguments="")
        self._calls.append(FunctionCallAnswer(id=call_id, type="function", function=function))
        return ToolCallDelta(index=event.index, id=call_id, type="function", function=function.model_copy())

    def add(self, event: ArgumentsDelta) -> ToolCallDelta | None:
        """The delta of more arguments; None if they only surround a custom tool's text."""
        call = self._calls[event.index]
        if isinstance(call, FunctionCallAnswer):
            call.function.arguments += event.text
            return ToolCallDelta(index=event.index, function=FunctionPart(arguments=event.text))
        text = self._inputs[event.index].feed(event.text)
        if not text:
            return None
        call.custom.input += text
        return ToolCallDelta(index=event.index, custom=CustomInputPart(input=text))
