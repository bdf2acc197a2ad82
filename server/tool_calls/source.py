"""The grammar of an answer that may, or must, call tools."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from grammar_core import BOUNDED_WHITESPACE
from grammar_core.errors import GrammarError
from grammar_core.frontends.json_schema.errors import EmptySchemaError
from grammar_core.frontends.structural_tag.models.answer_plan import AnswerPlan, Calls, FunctionTool, Thoughts
from grammar_core.frontends.structural_tag.models.tag_building import answer_tag
from grammar_core.frontends.structural_tag.models.tool_call_format import ToolCallFormat
from grammar_core.grammar import Grammar
from server.constraints.constraint import SourceError
from server.constraints.sources import JsonSource
from server.tool_calls.custom_grammar import custom_arguments
from server.tool_calls.tools import OfferedTool, ToolUse

if TYPE_CHECKING:
    from grammar_core import TokenizerInfo


@dataclass(frozen=True)
class ToolCallSource:
    """Calls of the tools in a model's format; where none must be made, free text around them.

    `loosen`: keywords of the parameters' schemas that need not be enforced where that is impossible.
    `whitespace`: the pattern of a gap in the JSON of arguments.
    """

    format: ToolCallFormat
    use: ToolUse
    loosen: tuple[str, ...] = ()
    whitespace: str = BOUNDED_WHITESPACE

    @property
    def text(self) -> str:
        return "".join(tool.parameters + (tool.definition or "") for tool in self.use.tools)

    def build(self, tokenizer_info: TokenizerInfo) -> Grammar:
        tag = self._tag(tokenizer_info)
        try:
            grammar = Grammar.from_structural_tag(tag, tokenizer_info=tokenizer_info)
        except GrammarError:
            for tool in self.use.tools:
                self._check(tool, tokenizer_info)
            raise
        return grammar.explained_by(partial(self._explain_emptiness, tokenizer_info))

    def _explain_emptiness(self, tokenizer_info: TokenizerInfo) -> None:
        """Raises SourceError for the first tool for which no arguments are valid."""
        for tool in self.use.tools:
            try:
                self._arguments(tool).build(tokenizer_info).explain_emptiness()
            except EmptySchemaError as error:
                raise SourceError(tool.param, error) from None
            except GrammarError:  # no time is left, or JSON is not what the format writes
                continue

    def _tag(self, tokenizer_info: TokenizerInfo) -> dict[str, Any]:
        functions = tuple(FunctionTool(tool.name, json.loads(tool.parameters)) for tool in self.use.tools)
        options = {
            # A call has no other arguments than the declared ones, unless their schema says so.
            "strict_mode": True,
            "whitespace_pattern": self.whitespace,
            "loosen": list(self.loosen),
        }
        # Thoughts are put around the whole answer, except where they are messages among the others.
        thoughts: Thoughts = "auto" if self.format.has_messages else "disabled"
        plan = AnswerPlan(functions, self._calls, self.use.may_repeat, thoughts, options)
        tag = answer_tag(self.format, plan)
        if self.use.must:
            tag["format"] = _only_calls(tag["format"], self.format.separator)
        for tool, function in zip(self.use.tools, functions, strict=True):
            if tool.syntax is not None:
                _replace_schema(tag, function.parameters, custom_arguments(self.format, tool, tokenizer_info))
        return tag

    @property
    def _calls(self) -> Calls:
        if self.use.is_named:
            return "one"
        return "required" if self.use.must else "auto"

    def _check(self, tool: OfferedTool, tokenizer_info: TokenizerInfo) -> None:
        """Raises SourceError if it is this tool that has no grammar."""
        try:
            self._arguments(tool).build(tokenizer_info)
        except GrammarError as error:
            raise SourceError(tool.param, error) from None

    def _arguments(self, tool: OfferedTool) -> JsonSource:
        return JsonSource(
            tool.parameters,
            self.whitespace,
            closed=True,
            loosen=self.loosen,
            whitespace_param="guided_whitespace_pattern",
        )


def _only_calls(answer: dict[str, Any], separator: str) -> dict[str, Any]:
    """The answer without free text around its calls: where a call has to be made it is all that is wanted."""
    if answer["type"] != "triggered_tags":
        return answer
    return {
        "type": "tags_with_separator",
        "tags": answer["tags"],
        "separator": separator,
        "at_least_one": True,
        "stop_after_first": answer["stop_after_first"],
    }


def _replace_schema(tag: Any, schema: Any, replacement: dict[str, Any]) -> None:
    """Put `replacement` wherever the tag asks for JSON of this very schema object."""
    pending = [tag]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            if node.get("json_schema") is schema:
                node.clear()
                node.update(replacement)
            pending += node.values()
        elif isinstance(node, list):
            pending += node
