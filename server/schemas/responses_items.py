"""The items a conversation consists of in the Responses API, as they are sent and as they are answered."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from server.schemas.logprobs import TokenLogprob

ItemStatus = Literal["in_progress", "completed", "incomplete"]
_TEXT_PARTS = ("input_text", "output_text", "text", "refusal")


def _as_text(content: Any) -> Any:
    """The text of a list of text parts, joined by newlines; any other value unchanged."""
    if not isinstance(content, list):
        return content
    return "\n".join(_part_text(part, index) for index, part in enumerate(content))


def _part_text(part: Any, index: int) -> str:
    kind = part.get("type") if isinstance(part, dict) else None
    text = part.get("refusal" if kind == "refusal" else "text") if isinstance(part, dict) else None
    if kind not in _TEXT_PARTS or not isinstance(text, str):
        raise ValueError(f"part {index} must be a text part such as input_text; it is {kind!r:.100}")
    return text


class InputTextPart(BaseModel):
    type: Literal["input_text", "output_text", "text"]
    text: str


class RefusalPart(BaseModel):
    type: Literal["refusal"]
    refusal: str


ItemText = Annotated[
    str, BeforeValidator(_as_text, json_schema_input_type=str | list[InputTextPart | RefusalPart])
]


class _Item(BaseModel):
    """`id` and `status` are of items that come back from an answer, and change nothing."""

    model_config = ConfigDict(strict=True, extra="forbid")

    id: str | None = None
    status: ItemStatus | None = None


class MessageItem(_Item):
    type: Literal["message"] = "message"
    role: Literal["user", "assistant", "system", "developer"]
    content: ItemText


class FunctionCallInput(_Item):
    type: Literal["function_call"]
    call_id: str
    name: str
    arguments: str


class CallOutput(_Item):
    type: Literal["function_call_output", "custom_tool_call_output"]
    call_id: str
    output: ItemText


class CustomCallInput(_Item):
    type: Literal["custom_tool_call"]
    call_id: str
    name: str
    input: str


class ReasoningInput(_Item):
    """Thoughts of an answer; `encrypted_content` is always absent here, because nothing is encrypted."""

    type: Literal["reasoning"]
    summary: list[dict[str, Any]] = []
    content: list[dict[str, Any]] | None = None
    encrypted_content: None = None

    @property
    def text(self) -> str:
        return "".join(str(part.get("text", "")) for part in self.content or self.summary)


def _with_type(item: Any) -> Any:
    """A message may leave its type out."""
    if isinstance(item, dict) and "type" not in item and "role" in item:
        return {"type": "message", **item}
    return item


InputItem = Annotated[
    Annotated[
        MessageItem | FunctionCallInput | CallOutput | CustomCallInput | ReasoningInput,
        Field(discriminator="type"),
    ],
    BeforeValidator(_with_type),
]


class OutputText(BaseModel):
    type: Literal["output_text"] = "output_text"
    text: str = ""
    annotations: list[Any] = []
    logprobs: list[TokenLogprob] = []


class OutputMessage(BaseModel):
    type: Literal["message"] = "message"
    id: str
    role: Literal["assistant"] = "assistant"
    status: ItemStatus = "in_progress"
    content: list[OutputText] = []


class ReasoningText(BaseModel):
    type: Literal["reasoning_text"] = "reasoning_text"
    text: str = ""


class ReasoningOutput(BaseModel):
    type: Literal["reasoning"] = "reasoning"
    id: str
    status: ItemStatus = "in_progress"
    summary: list[Any] = []
    content: list[ReasoningText] = []


class FunctionCallOutputItem(BaseModel):
    type: Literal["function_call"] = "function_call"
    id: str
    call_id: str
    name: str
    arguments: str = ""
    status: ItemStatus = "in_progress"


class CustomCallOutputItem(BaseModel):
    type: Literal["custom_tool_call"] = "custom_tool_call"
    id: str
    call_id: str
    name: str
    input: str = ""
    status: ItemStatus = "in_progress"


OutputItem = OutputMessage | ReasoningOutput | FunctionCallOutputItem | CustomCallOutputItem
