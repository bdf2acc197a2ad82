"""What a request allows the answer to be: which tools may be called, how often, and whether it thinks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from grammar_core.frontends.structural_tag.errors import StructuralTagError

Calls: TypeAlias = Literal["none", "auto", "required", "one"]
Thoughts: TypeAlias = Literal["enabled", "disabled", "auto"]


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A tool by its name and the JSON schema of its arguments."""

    name: str
    parameters: Any


@dataclass(frozen=True, slots=True)
class AnswerPlan:
    """`calls`: "none" of the tools is called, "auto" any number, "required" at least one, "one" exactly one.

    `is_parallel`: whether more than one may be. `reasoning`: "enabled" where the answer begins inside of
    thoughts that the prompt has opened, "auto" where it may open them itself, "disabled" without.
    `schema_options`: fields of the format type `json_schema` for all arguments.
    """

    tools: tuple[FunctionTool, ...]
    calls: Calls
    is_parallel: bool
    reasoning: Thoughts
    schema_options: Mapping[str, Any]


def read_tool_choice(tools: Iterable[Any], tool_choice: Any) -> tuple[tuple[FunctionTool, ...], Calls]:
    """The tools that may be called, and how often, of OpenAI's `tools` and `tool_choice`.

    Raises StructuralTagError for a choice that is none or names a tool that is not there.
    """
    functions = tuple(_read_tool(tool, f"/tools/{index}") for index, tool in enumerate(tools))
    if tool_choice is None:
        return functions, "auto" if functions else "none"
    if tool_choice == "none":
        return (), "none"
    if tool_choice == "auto":
        return functions, "auto" if functions else "none"
    if tool_choice == "required":
        if not functions:
            raise StructuralTagError(
                "The tool choice is 'required' but there are no tools", pointer="/tool_choice"
            )
        return functions, "required"
    if isinstance(tool_choice, Mapping):
        return _read_choice_object(functions, tool_choice)
    raise StructuralTagError(
        "The tool choice is 'none', 'auto', 'required' or an object", pointer="/tool_choice"
    )


def _read_tool(tool: Any, pointer: str) -> FunctionTool:
    dump = getattr(tool, "model_dump", None)
    tool = tool if dump is None else dump(exclude_none=True)
    function = tool.get("function", tool) if isinstance(tool, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str) or not function["name"]:
        raise StructuralTagError("A tool is an object with a function that has a name", pointer=pointer)
    parameters = function.get("parameters")
    return FunctionTool(function["name"], {"type": "object"} if parameters is None else parameters)


def _read_choice_object(
    functions: tuple[FunctionTool, ...], choice: Mapping[str, Any]
) -> tuple[tuple[FunctionTool, ...], Calls]:
    if choice.get("type") == "function":
        return _named(functions, [choice], "/tool_choice"), "one"
    if choice.get("type") == "allowed_tools":
        allowed = choice.get("allowed_tools", choice)
        mode = allowed.get("mode", "auto") if isinstance(allowed, Mapping) else None
        if (
            mode in ("auto", "required")
            and isinstance(allowed.get("tools"), (list, tuple))
            and allowed["tools"]
        ):
            tools = _named(functions, allowed["tools"], "/tool_choice/allowed_tools/tools")
            return tools, "required" if mode == "required" else "auto"
    raise StructuralTagError(
        "The tool choice is no object of the type 'function' or 'allowed_tools'", pointer="/tool_choice"
    )


def _named(
    functions: tuple[FunctionTool, ...], choices: Iterable[Any], pointer: str
) -> tuple[FunctionTool, ...]:
    names = [_chosen_name(choice, pointer) for choice in choices]
    known = {function.name for function in functions}
    for name in names:
        if name not in known:
            raise StructuralTagError(f"There is no tool {name!r}", pointer=pointer)
    return tuple(function for function in functions if function.name in names)


def _chosen_name(choice: Any, pointer: str) -> str:
    function = choice.get("function", choice) if isinstance(choice, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(name, str):
        raise StructuralTagError("A choice names a function", pointer=pointer)
    return name
