"""The arguments of a custom tool whose input is a text of a grammar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grammar_core.errors import GrammarError
from grammar_core.frontends.structural_tag.models.tool_call_format import ToolCallFormat
from grammar_core.grammar import Grammar
from grammar_core.passes.escape_json_strings import escape_json_strings
from server.constraints.constraint import SourceError
from server.constraints.sources import LarkSource, RegexSource
from server.tool_calls.tools import CUSTOM_INPUT, OfferedTool

if TYPE_CHECKING:
    from grammar_core import TokenizerInfo

_PLACE = "INPUT"


def custom_arguments(
    format: ToolCallFormat, tool: OfferedTool, tokenizer_info: TokenizerInfo
) -> dict[str, Any]:
    """The format, of a structural tag, of the arguments around and with the input.

    Raises SourceError for a grammar that is none, or that cannot be inside of the arguments.
    """
    try:
        grammar = _grammar(tool, tokenizer_info)
        if format.argument_style != "json":
            before, after = _surroundings(format)
            return _between(before, str(grammar), after)
        inside = Grammar(escape_json_strings(grammar.rules), grammar.root)
        return _between(f'{{"{CUSTOM_INPUT}": "', str(inside), '"}')
    except GrammarError as error:
        raise SourceError(f"{tool.param}.format", error) from None


def _grammar(tool: OfferedTool, tokenizer_info: TokenizerInfo) -> Grammar:
    definition = tool.definition or ""
    source = LarkSource(definition) if tool.syntax == "lark" else RegexSource(definition)
    return source.build(tokenizer_info)


def _surroundings(format: ToolCallFormat) -> tuple[str, str]:
    """What a family that writes strings without escapes writes before and behind one."""
    schema = {"type": "object", "properties": {CUSTOM_INPUT: {"const": _PLACE}}, "required": [CUSTOM_INPUT]}
    arguments = {"type": "json_schema", "json_schema": schema, "style": format.argument_style}
    [sentence] = Grammar.from_structural_tag(arguments).sample(1)
    before, _, after = sentence.rpartition(_PLACE)
    return before, after


def _between(before: str, grammar: str, after: str) -> dict[str, Any]:
    elements = [
        {"type": "const_string", "value": before},
        {"type": "grammar", "grammar": grammar, "syntax": "ebnf"},
        {"type": "const_string", "value": after},
    ]
    return {"type": "sequence", "elements": elements}
