"""The tools of a request: which may be called, and whether one has to be."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from server.constraints.constraint import Constraint
from server.errors import ApiError, invalid_request
from server.schemas.tool_fields import (
    AllowedToolsChoice,
    CustomChoice,
    CustomTool,
    FunctionChoice,
    FunctionTool,
    GrammarDefinition,
    GrammarInput,
    ToolFields,
)

CUSTOM_INPUT = "input"
"""The argument that carries the text of a custom tool's call."""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as the model is told of it: a function. A custom tool has one argument, its `input`.

    `parameters` is a JSON Schema as text. `syntax` and `definition`: the grammar of a custom tool's input.
    `param` is the field of the request that errors about it name.
    """

    name: str
    description: str | None
    parameters: str
    param: str
    is_custom: bool = False
    syntax: Literal["lark", "regex"] | None = None
    definition: str | None = None

    def as_function(self) -> dict[str, Any]:
        """The tool in the shape that chat templates print."""
        function = {
            "name": self.name,
            "description": self.description or "",
            "parameters": json.loads(self.parameters),
        }
        return {"type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class ToolUse:
    """The tools that a model may call in an answer, of which it `must` call one or more.

    `is_named`: the request names the one tool that is to be called. `may_repeat`: several calls are fine.
    """

    tools: tuple[OfferedTool, ...]
    must: bool
    is_named: bool
    may_repeat: bool

    @property
    def custom_names(self) -> frozenset[str]:
        return frozenset(tool.name for tool in self.tools if tool.is_custom)


def requested_tools(request: ToolFields, constraint: Constraint | None) -> ToolUse | None:
    """The tools that may be called; None if none may: without tools, with tool_choice "none", and where a
    constraint says what the answer is.

    Raises:
        ApiError: 400 for tools of the same name, a choice without tools or of unknown ones, and for a call
            that must be made beside a constraint.
    """
    choice = request.tool_choice
    if not request.tools:
        if choice not in (None, "none"):
            raise invalid_request("'tool_choice' needs 'tools'.", param="tool_choice")
        return None
    tools = _distinct(request.tools)
    if choice == "none":
        return None
    use = _chosen(tools, choice, may_repeat=request.parallel_tool_calls is not False)
    if constraint is None:
        return use
    if use.must:
        raise _conflict(constraint)
    return None


def _chosen(tools: dict[str, OfferedTool], choice: Any, *, may_repeat: bool) -> ToolUse:
    if isinstance(choice, AllowedToolsChoice):
        allowed = choice.allowed_tools
        names = {_named(tools, reference, "tool_choice.allowed_tools.tools") for reference in allowed.tools}
        offered = tuple(tool for tool in tools.values() if tool.name in names)
        return ToolUse(offered, allowed.mode == "required", False, may_repeat)
    if isinstance(choice, FunctionChoice | CustomChoice):
        return ToolUse((tools[_named(tools, choice, "tool_choice")],), True, True, False)
    return ToolUse(tuple(tools.values()), choice == "required", False, may_repeat)


def _named(tools: dict[str, OfferedTool], choice: FunctionChoice | CustomChoice, param: str) -> str:
    is_custom = isinstance(choice, CustomChoice)
    name = choice.custom.name if isinstance(choice, CustomChoice) else choice.function.name
    tool = tools.get(name)
    if tool is None or tool.is_custom != is_custom:
        message = f"There is no {choice.type} tool '{name}' among the tools: {_list(tools)}."
        raise invalid_request(message, param=param)
    return name


def _distinct(tools: Sequence[FunctionTool | CustomTool]) -> dict[str, OfferedTool]:
    offered: dict[str, OfferedTool] = {}
    for index, tool in enumerate(tools):
        one = _offered(tool, f"tools[{index}]")
        if one.name in offered:
            message = f"Two tools have the name '{one.name}'."
            raise invalid_request(message, param=one.param)
        offered[one.name] = one
    return offered


def _offered(tool: FunctionTool | CustomTool, param: str) -> OfferedTool:
    if isinstance(tool, FunctionTool):
        function = tool.function
        parameters = _as_json(_without_undeclared(function.parameters or _NO_PARAMETERS))
        param = f"{param}.function.parameters"
        return OfferedTool(function.name, function.description, parameters, param)
    custom = tool.custom
    schema, param = _as_json(_INPUT_SCHEMA), f"{param}.custom"
    if not isinstance(custom.format, GrammarInput):
        return OfferedTool(custom.name, custom.description, schema, param, True)
    grammar = custom.format.grammar
    description = _with_grammar(custom.description, grammar)
    return OfferedTool(custom.name, description, schema, param, True, grammar.syntax, grammar.definition)


def _without_undeclared(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters, closed where they only say that there are none."""
    if parameters.get("properties") == {} and parameters.keys() <= _SAYING_NOTHING_ELSE:
        return {**parameters, "additionalProperties": False}
    return parameters


_SAYING_NOTHING_ELSE = {"type", "properties", "required", "title", "description", "$schema"}
_NO_PARAMETERS = {"type": "object", "properties": {}, "additionalProperties": False}
_INPUT_SCHEMA = {
    "type": "object",
    "properties": {CUSTOM_INPUT: {"type": "string"}},
    "required": [CUSTOM_INPUT],
    "additionalProperties": False,
}


def _with_grammar(description: str | None, grammar: GrammarDefinition) -> str:
    name = {"lark": "Lark grammar", "regex": "regular expression"}[grammar.syntax]
    lead = f"{description}\n" if description else ""
    return f"{lead}The {CUSTOM_INPUT} is a text of this {name}:\n{grammar.definition}"


def _conflict(constraint: Constraint) -> ApiError:
    message = (
        f"'tool_choice' asks for a tool call and '{constraint.param}' for another answer; "
        f"only one of them can be."
    )
    return invalid_request(message, param="tool_choice", code="conflicting_constraints")


def _as_json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)[:20])
