"""What a model writes beside plain text: its tool calls, and the marks around its thoughts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from grammar_core.frontends.structural_tag.models import DEFAULT_FORMAT, find_tool_call_format
from grammar_core.frontends.structural_tag.models.tool_call_format import Reasoning, ToolCallFormat
from server.prompt import knows_tools
from server.reasoning.thinking import thinking_marks
from server.tool_calls.message_reader import MESSAGE_MARKS


@dataclass(frozen=True)
class ModelFamily:
    """`marker_ids` are the control tokens among the texts of calls and marks.

    Control tokens are no text, so grammars name these by id, and answers show them (`shown_tokens`, bytes
    by id), for their readers to find.
    """

    format: ToolCallFormat
    marks: Reasoning | None
    marker_ids: Mapping[str, int]

    @property
    def shown_tokens(self) -> dict[int, bytes]:
        return {token_id: token.encode() for token, token_id in self.marker_ids.items()}


def model_family(tokenizer: Any, model_name: str) -> ModelFamily:
    """The family of a model, by its chat template, its vocabulary and its name.

    A model whose template knows no tools is told of them in the words of the default format.
    """
    template = tokenizer.get_chat_template()
    format = DEFAULT_FORMAT
    own = find_tool_call_format(template, model_name, tokenizer.get_vocab())
    if knows_tools(template) or own.has_messages:
        format = own
    marks = thinking_marks(template, own.reasoning)
    written = "".join(_texts(format, marks))
    control_tokens = {
        str(token): token_id
        for token_id, token in tokenizer.added_tokens_decoder.items()
        if token.special and str(token) in written
    }
    return ModelFamily(format, marks, control_tokens)


def _texts(format: ToolCallFormat, marks: Reasoning | None) -> Iterator[str]:
    yield format.trigger
    yield format.separator
    yield from (part for part in format.call if isinstance(part, str))
    if format.section is not None:
        yield from (format.section.begin, format.section.separator, format.section.end)
    if format.has_messages:
        yield from MESSAGE_MARKS
    if marks is not None:
        yield from (marks.begin, marks.end)
