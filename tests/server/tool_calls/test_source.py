"""The grammar of tool calls and their parser, together, for every family of models."""

from __future__ import annotations

import json
from typing import Any

import pytest

from grammar_core import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from grammar_core.frontends.structural_tag.models import FORMATS
from grammar_core.frontends.structural_tag.models.tool_call_format import ToolCallFormat
from server.constraints.constraint import SourceError
from server.schemas.chat_request import parse_chat_request
from server.tool_calls.custom_input import CustomInput
from server.tool_calls.events import ArgumentsDelta, CallStarted, TextDelta
from server.tool_calls.parser import ToolCallParser
from server.tool_calls.source import ToolCallSource
from server.tool_calls.tools import ToolUse, requested_tools

BYTES = TokenizerInfo([*(bytes([byte]) for byte in range(256)), "</s>"], stop_token_ids=[256])
QWEN_3 = next(format for format in FORMATS if format.name == "qwen_3")
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
CLOSED = {**SCHEMA, "additionalProperties": False}
COUNT: Any = {"type": "function", "function": {"name": "count", "parameters": CLOSED}}
LARK = 'start: "\\"" WORD "\\"\\n"\nWORD: /[a-z]+/'


def custom(syntax: str, definition: str, name: str = "say") -> Any:
    format = {"type": "grammar", "syntax": syntax, "definition": definition}
    return {"type": "custom", "name": name, "format": format}


SAY = custom("lark", LARK)


def use(**fields: Any) -> ToolUse:
    request = parse_chat_request({"messages": [{"role": "user", "content": "hi"}], **fields})
    found = requested_tools(request, None)
    assert found is not None
    return found


def calls_in(text: str, format: ToolCallFormat, tools: ToolUse) -> tuple[list[tuple[str, str]], str]:
    """Name and arguments of the calls in a text, and the text beside them."""
    parser = ToolCallParser(format, [tool.as_function() for tool in tools.tools])
    names: list[str] = []
    arguments: list[str] = []
    beside = ""
    for event in [*parser.feed(text), *parser.finish()]:
        if isinstance(event, CallStarted):
            names.append(event.name)
            arguments.append("")
        elif isinstance(event, ArgumentsDelta):
            arguments[event.index] += event.text
        elif isinstance(event, TextDelta):
            beside += event.text
    return list(zip(names, arguments, strict=True)), beside


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_required_calls_are_read_back(format: ToolCallFormat) -> None:
    tools = use(tools=[COUNT, SAY], tool_choice="required")
    allowed = {"count": Grammar.from_json_schema(CLOSED), "say": Grammar.from_lark(LARK)}
    matchers = {name: GrammarCompiler(BYTES).compile_grammar(grammar) for name, grammar in allowed.items()}
    seen = set()
    for sentence in ToolCallSource(format, tools).build(BYTES).sample(12, seed=1, max_length=300):
        calls, beside = calls_in(sentence, format, tools)
        assert calls, sentence
        assert format.answer or not beside.strip(f"{format.separator} \n"), sentence
        for name, arguments in calls:
            value = arguments if name == "count" else CustomInput().feed(arguments)
            json.loads(arguments)
            matcher = GrammarMatcher(matchers[name])
            assert matcher.accept_string(value), sentence
            assert matcher.is_completed(), sentence
            seen.add(name)
    assert seen == {"count", "say"}


def accepts(source: ToolCallSource, text: str) -> bool:
    matcher = GrammarMatcher(GrammarCompiler(BYTES).compile_source(source))
    return matcher.accept_string(text) and matcher.is_completed()


def written(name: str, arguments: str) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


ONE = written("count", '{"n": 1}')


NAMED_SAY = {"type": "custom", "custom": {"name": "say"}}


@pytest.mark.parametrize(
    ("fields", "text", "expected"),
    [
        ({}, "Free text.", True),
        ({}, f"Free text. {ONE} and more", True),
        ({}, f"{ONE}\n{ONE}", True),
        ({}, written("count", "{}"), False),
        ({}, written("other", "{}"), False),
        ({"parallel_tool_calls": False}, ONE, True),
        ({"parallel_tool_calls": False}, f"{ONE}\n{ONE}", False),
        ({"tool_choice": "required"}, ONE, True),
        ({"tool_choice": "required"}, f"{ONE}\n{ONE}", True),
        ({"tool_choice": "required"}, "Free text.", False),
        ({"tool_choice": "required"}, f"{ONE} and more", False),
        ({"tool_choice": "required"}, "", False),
        ({"tool_choice": "required", "parallel_tool_calls": False}, f"{ONE}\n{ONE}", False),
        ({"tool_choice": {"type": "function", "function": {"name": "count"}}}, ONE, True),
        ({"tool_choice": {"type": "function", "function": {"name": "count"}}}, f"{ONE}\n{ONE}", False),
        (
            {"tool_choice": {"type": "function", "function": {"name": "count"}}},
            written("say", '{"input": "\\"a\\"\\n"}'),
            False,
        ),
        ({"tool_choice": NAMED_SAY}, written("say", '{"input": "a"}'), False),
        ({"tool_choice": NAMED_SAY}, written("say", '{"input": "\\"a\\"\\n"}'), True),
    ],
)  # fmt: skip
def test_what_an_answer_may_be(fields: dict[str, Any], text: str, expected: bool) -> None:
    assert accepts(ToolCallSource(QWEN_3, use(tools=[COUNT, SAY], **fields)), text) is expected


@pytest.mark.parametrize(
    ("others", "expected"),
    [({}, False), ({"additionalProperties": False}, False), ({"additionalProperties": True}, True)],
)
def test_arguments_are_those_that_are_declared(others: dict[str, Any], expected: bool) -> None:
    function = {"name": "count", "parameters": {**SCHEMA, **others}}
    source = ToolCallSource(QWEN_3, use(tools=[{"type": "function", "function": function}]))
    assert accepts(source, written("count", '{"n": 1, "m": 2}')) is expected


def test_object_without_declared_arguments_is_free() -> None:
    function = {"name": "count", "parameters": {"type": "object"}}
    source = ToolCallSource(QWEN_3, use(tools=[{"type": "function", "function": function}]))
    assert accepts(source, written("count", '{"n": 1, "m": 2}'))


def test_white_space_in_arguments_is_bounded() -> None:
    source = ToolCallSource(QWEN_3, use(tools=[COUNT]))
    assert accepts(source, written("count", '{\n    "n": 1\n}'))
    assert not accepts(source, written("count", '{"n":' + " " * 33 + "1}"))
    assert accepts(ToolCallSource(QWEN_3, use(tools=[COUNT]), whitespace="_?"), written("count", '{_"n":1}'))


def test_128_tools_of_20_fields() -> None:
    fields = {f"field_{number}": {"type": "string"} for number in range(20)}
    parameters = {"type": "object", "properties": fields}
    tools = [
        {"type": "function", "function": {"name": f"tool_{number}", "parameters": parameters}}
        for number in range(128)
    ]
    assert accepts(ToolCallSource(QWEN_3, use(tools=tools)), written("tool_77", '{"field_7": "x"}'))


@pytest.mark.parametrize(
    ("tool", "param"),
    [
        (
            {"type": "function", "function": {"name": "f", "parameters": {"type": "obj"}}},
            "tools[1].function.parameters",
        ),
        (custom("lark", "start: nothing", "f"), "tools[1].custom.format"),
        (custom("regex", "(", "f"), "tools[1].custom.format"),
    ],
)
def test_errors_name_the_tool(tool: Any, param: str) -> None:
    with pytest.raises(SourceError) as caught:
        ToolCallSource(QWEN_3, use(tools=[COUNT, tool])).build(BYTES)
    assert caught.value.param == param


def test_error_of_the_white_space_names_its_field() -> None:
    with pytest.raises(SourceError, match="column 1") as caught:
        ToolCallSource(QWEN_3, use(tools=[COUNT]), whitespace="(").build(BYTES)
    assert caught.value.param == "guided_whitespace_pattern"


def test_keywords_may_be_loosened() -> None:
    unique = {"type": "array", "items": {"type": "number"}, "uniqueItems": True}
    parameters = {"type": "object", "properties": {"sizes": unique}}
    tools = use(tools=[{"type": "function", "function": {"name": "f", "parameters": parameters}}])
    with pytest.raises(SourceError, match="uniqueItems"):
        ToolCallSource(QWEN_3, tools).build(BYTES)
    source = ToolCallSource(QWEN_3, tools, loosen=("uniqueItems",))
    assert accepts(source, written("f", '{"sizes": [1, 1]}'))
