"""The grammar of an answer that may, or must, call tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grammar_core.frontends.structural_tag.models.tool_call_format import ToolCallFormat
from server.tool_calls.tools import ToolUse

if TYPE_CHECKING:
    from grammar_core import Grammar, TokenizerInfo


@dataclass(frozen=True)
class ToolCallSource:
    """Calls of the tools in a model's format; where none must be made, free text around them.

    `loosen`: keywords of the parameters' schemas that need not be enforced where that is impossible.
    """

    format: ToolCallFormat
    use: ToolUse
    loosen: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "".join(tool.parameters + (tool.definition or "") for tool in self.use.tools)

    def build(self, tokenizer_info: TokenizerInfo) -> Grammar:
        raise NotImplementedError
