"""The families of models whose tool calls are known. A new one is a file here and a line in `FORMATS`."""

from __future__ import annotations

from collections.abc import Container

from grammar_core.frontends.structural_tag.models.hermes import QWEN_3
from grammar_core.frontends.structural_tag.models.tool_call_format import ToolCallFormat

FORMATS: tuple[ToolCallFormat, ...] = (QWEN_3,)
"""More particular ones first: the first that fits a model is taken."""

DEFAULT_FORMAT = QWEN_3
"""What models without a format of their own are asked to write."""


def find_tool_call_format(
    chat_template: str | None, model_name: str, vocabulary: Container[str]
) -> ToolCallFormat:
    """The format of a model by what its chat template writes, else by its tokens, its name, the default.

    `vocabulary`: the texts of its tokens, special ones included.
    """
    name = "".join(filter(str.isalnum, model_name.rpartition("/")[2].lower()))
    for format in FORMATS:
        if chat_template and any(all(text in chat_template for text in group) for group in format.templates):
            return format
    for format in FORMATS:
        if format.tokens and all(token in vocabulary for token in format.tokens):
            return format
    for format in FORMATS:
        if name.startswith(format.names):
            return format
    return DEFAULT_FORMAT
