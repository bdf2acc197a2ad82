"""Which tools may be called, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from server.constraints import Constraint
from server.constraints.sources import RegexSource
from server.errors import ApiError
from server.schemas.chat_request import parse_chat_request
from server.tool_calls.tools import ToolUse, requested_tools

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": PARAMETERS}}
TIME = {"type": "function", "function": {"name": "time", "description": "What time it is."}}
GRAMMAR = {"syntax": "lark", "definition": 'start: "a"'}
NESTED = {"type": "custom", "custom": {"name": "q", "format": {"type": "grammar", "grammar": GRAMMAR}}}
FLAT = {"type": "custom", "name": "q", "format": {"type": "grammar", **GRAMMAR}}
CONSTRAINT = Constraint("guided_regex", RegexSource("a"))


def choice(name: str, kind: str = "function") -> dict[str, Any]:
    return {"type": kind, kind: {"name": name}}


def allowed(mode: str, *names: str) -> dict[str, Any]:
    tools = [choice(name) for name in names]
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}}


def use(constraint: Constraint | None = None, **fields: Any) -> ToolUse | None:
    request = parse_chat_request({"messages": [{"role": "user", "content": "hi"}], **fields})
    return requested_tools(request, constraint)


def given(**fields: Any) -> ToolUse:
    found = use(**fields)
    assert found is not None
    return found


def refusal(constraint: Constraint | None = None, **fields: Any) -> ApiError:
    with pytest.raises(ApiError) as caught:
        use(constraint, **fields)
    assert caught.value.status == 400
    return caught.value


@pytest.mark.parametrize(
    ("tool_choice", "names", "must", "is_named"),
    [
        (None, ["weather", "time"], False, False),
        ("auto", ["weather", "time"], False, False),
        ("required", ["weather", "time"], True, False),
        (choice("time"), ["time"], True, True),
        (allowed("auto", "time"), ["time"], False, False),
        (allowed("required", "time", "weather"), ["weather", "time"], True, False),
    ],
)
def test_choice(tool_choice: Any, names: list[str], must: bool, is_named: bool) -> None:
    found = given(tools=[WEATHER, TIME], tool_choice=tool_choice)
    assert [tool.name for tool in found.tools] == names
    assert (found.must, found.is_named) == (must, is_named)


@pytest.mark.parametrize(("parallel", "may_repeat"), [(None, True), (True, True), (False, False)])
def test_parallel_calls(parallel: bool | None, may_repeat: bool) -> None:
    assert given(tools=[TIME], parallel_tool_calls=parallel).may_repeat is may_repeat


def test_a_named_tool_is_called_once() -> None:
    assert not given(tools=[TIME], tool_choice=choice("time"), parallel_tool_calls=True).may_repeat


@pytest.mark.parametrize(
    "fields", [{}, {"tools": None}, {"tools": [TIME], "tool_choice": "none"}, {"tool_choice": "none"}]
)
def test_no_tools(fields: dict[str, Any]) -> None:
    assert use(**fields) is None


def test_constraint_governs_the_answer_where_no_call_is_asked_for() -> None:
    assert use(CONSTRAINT, tools=[TIME]) is None
    assert use(CONSTRAINT, tools=[TIME], tool_choice="auto") is None


@pytest.mark.parametrize("tool_choice", ["required", choice("time"), allowed("required", "time")])
def test_forced_call_and_constraint_are_refused_by_name(tool_choice: Any) -> None:
    error = refusal(CONSTRAINT, tools=[TIME], tool_choice=tool_choice)
    assert (error.param, error.code) == ("tool_choice", "conflicting_constraints")
    assert "guided_regex" in error.message


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"tools": []}, "tools"),
        ({"tools": [{"type": "function"}]}, "tools[0].function"),
        ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, "tools[0].function.name"),
        ({"tools": [{"type": "function", "function": {}}]}, "tools[0].function.name"),
        ({"tools": [{"type": "retrieval"}]}, "tools[0]"),
        ({"tools": [{**WEATHER, "extra": 1}]}, "tools[0].extra"),
        ({"tools": [{**FLAT, "format": {"type": "grammar", "syntax": "ebnf"}}]}, "tools[0].format.syntax"),
        ({"tools": [{"type": "custom", "name": "q", "input": "x"}]}, "tools[0].input"),
        ({"tools": [TIME, WEATHER, TIME]}, "tools[2].function.parameters"),
        ({"tool_choice": "auto"}, "tool_choice"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"tool_choice": choice("time")}, "tool_choice"),
        ({"tools": [TIME], "tool_choice": "any"}, "tool_choice"),
        ({"tools": [TIME], "tool_choice": choice("weather")}, "tool_choice"),
        ({"tools": [TIME], "tool_choice": choice("time", "custom")}, "tool_choice"),
        ({"tools": [FLAT], "tool_choice": choice("q")}, "tool_choice"),
        ({"tools": [TIME], "tool_choice": {"type": "function", "function": {}}}, "tool_choice.function.name"),
        ({"tools": [TIME], "tool_choice": allowed("auto", "nope")}, "tool_choice.allowed_tools.tools"),
        ({"tools": [TIME], "tool_choice": allowed("auto")}, "tool_choice.allowed_tools.tools"),
        ({"tools": [TIME], "parallel_tool_calls": "yes"}, "parallel_tool_calls"),
        ({"functions": [{"name": "f"}]}, "functions"),
    ],
)
def test_what_is_refused(fields: dict[str, Any], param: str) -> None:
    assert refusal(**fields).param == param


@pytest.mark.parametrize("parameters", [None, {}, {"type": "object", "properties": {}}])
def test_function_without_parameters_has_no_arguments(parameters: Any) -> None:
    function = {"name": "time", "parameters": parameters}
    [tool] = given(tools=[{"type": "function", "function": function}]).tools
    assert json.loads(tool.parameters) == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "object"},
        {"properties": {}, "additionalProperties": True},
        {"properties": {}, "minProperties": 1},
    ],
)
def test_other_parameters_are_left_alone(parameters: Any) -> None:
    function = {"name": "time", "parameters": parameters}
    [tool] = given(tools=[{"type": "function", "function": function}]).tools
    assert json.loads(tool.parameters) == parameters


@pytest.mark.parametrize("shape", [NESTED, FLAT])
def test_custom_tool_in_both_shapes(shape: dict[str, Any]) -> None:
    found = given(tools=[shape], tool_choice=choice("q", "custom"))
    [tool] = found.tools
    assert (tool.is_custom, tool.syntax, tool.definition) == (True, "lark", 'start: "a"')
    assert found.custom_names == {"q"}
    assert 'start: "a"' in tool.as_function()["function"]["description"]


def test_custom_tool_of_any_text() -> None:
    for format in (None, {"type": "text"}):
        [tool] = given(tools=[{"type": "custom", "custom": {"name": "q", "format": format}}]).tools
        assert (tool.is_custom, tool.syntax) == (True, None)
