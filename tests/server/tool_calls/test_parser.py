"""Calls in the answers of every format, however the answer is split."""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grammar_core import Grammar
from grammar_core.frontends.structural_tag.models import (
    DEFAULT_FORMAT,
    FORMATS,
    format_named,
    get_model_structural_tag,
)
from grammar_core.frontends.structural_tag.models.tool_call_format import ToolCallFormat
from server.tool_calls.events import (
    ArgumentsDelta,
    CallEnded,
    CallStarted,
    Event,
    ReasoningDelta,
    TextDelta,
    merged,
)
from server.tool_calls.parser import ToolCallParser
from tests.grammar_core.test_structural_tag_models import CALLS
from tests.server.tool_calls.events import calls_of, parse, text_of

_CITY = {"type": "string"}
_PLACE = {
    "type": "object",
    "properties": {"lat": {"type": "number"}, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["lat", "tags"],
}
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": _CITY,
                    "days": {"type": "integer"},
                    "unit": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                    "place": {"$ref": "#/$defs/place"},
                },
                "required": ["city", "days", "place"],
                "$defs": {"place": _PLACE},
            },
        },
    },
    {
        "type": "function",
        "function": {"name": "ping", "parameters": {"type": "object", "additionalProperties": False}},
    },
]
_NAMES = [format.name for format in FORMATS]
_WITH_K = [
    {"function": {"name": "f", "parameters": {"type": "object", "properties": {"k": {"type": "string"}}}}}
]


@cache
def _answers(name: str) -> list[str]:
    """Answers that the grammar of the format allows."""
    tag = get_model_structural_tag(name, TOOLS, "required", "disabled")
    return Grammar.from_structural_tag(tag).sample(20, seed=1, max_length=500)


def _check_call(name: str, arguments: str) -> None:
    value = json.loads(arguments)
    if name == "ping":
        assert value == {}
        return
    assert name == "get_weather"
    assert isinstance(value["city"], str)
    assert isinstance(value["days"], int)
    assert value.get("unit") is None or isinstance(value["unit"], str)
    assert all(isinstance(one, str) for one in value["place"]["tags"])
    assert isinstance(value["place"]["lat"], (int, float))


@pytest.mark.parametrize("name", _NAMES)
def test_what_the_grammar_allows_is_read(name: str) -> None:
    for answer in _answers(name):
        calls = calls_of(parse(format_named(name), [answer], TOOLS))
        assert calls, answer
        for called, arguments, ended in calls:
            assert ended, answer
            _check_call(called, arguments)


@pytest.mark.parametrize("name", _NAMES)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_splits_make_no_difference(name: str, data: st.DataObject) -> None:
    answer = data.draw(st.sampled_from(_answers(name)))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(answer)), max_size=6)))
    ends = [0, *cuts, len(answer)]
    pieces = [answer[begin:end] for begin, end in pairwise(ends)]
    assert parse(format_named(name), pieces, TOOLS) == parse(format_named(name), [answer], TOOLS)


@pytest.mark.parametrize("name", _NAMES)
def test_one_character_after_the_other(name: str) -> None:
    for answer in _answers(name)[:5]:
        assert parse(format_named(name), answer, TOOLS) == parse(format_named(name), [answer], TOOLS)


@pytest.mark.parametrize("name", _NAMES)
def test_any_beginning_is_read_without_loss_of_calls(name: str) -> None:
    format, call = format_named(name), CALLS[name]
    for end in range(len(call) + 1):
        calls = calls_of(parse(format, [call[:end]], _WITH_K))
        assert len(calls) <= 1
        for called, arguments, ended in calls:
            assert called == "f"
            assert not ended or json.loads(arguments) == {"k": "v"}
    assert calls[0][2]


@pytest.mark.parametrize("name", [name for name in _NAMES if name not in ("harmony", "kimi_k3")])
def test_text_around_calls(name: str) -> None:
    events = parse(format_named(name), [f"Let me see.{CALLS[name]} Done."], _WITH_K)
    assert text_of(events) == "Let me see. Done."
    assert [(called, json.loads(arguments)) for called, arguments, _ in calls_of(events)] == [
        ("f", {"k": "v"})
    ]


@given(text=st.text())
@pytest.mark.parametrize("name", [name for name in _NAMES if name != "harmony"])
@settings(max_examples=20, deadline=None)
def test_text_without_calls_is_text(name: str, text: str) -> None:
    format = format_named(name)
    if format.trigger not in text and not any(marker in text for marker in format.silent):
        assert parse(format, text) == ([TextDelta(text)] if text else [])


@given(garbage=st.text(alphabet='<>{}[]"\\:,/ \ntool_callfunction=parameter|arg_keyvalue0', max_size=60))
@pytest.mark.parametrize("format", FORMATS, ids=_NAMES)
@settings(max_examples=30, deadline=None)
def test_garbage_after_a_trigger(format: ToolCallFormat, garbage: str) -> None:
    answer = format.trigger + garbage
    assert parse(format, answer) == parse(format, [answer])


def _hermes(*pieces: str) -> list[Event]:
    return parse(DEFAULT_FORMAT, pieces)


def test_events_of_one_call() -> None:
    parser = ToolCallParser(DEFAULT_FORMAT)
    assert parser.feed("Hi <tool_") == [TextDelta("Hi ")]
    assert parser.feed('call>\n{"name": "f", "arg') == []
    assert parser.feed('uments": {"a') == [CallStarted(0, "f", None), ArgumentsDelta(0, '{"a')]
    assert parser.feed('": 1}}\n</tool') == [ArgumentsDelta(0, '": 1}')]
    assert parser.feed("_call>!") == [CallEnded(0), TextDelta("!")]
    assert parser.finish() == []


def test_what_looks_like_a_call_and_is_none_is_text() -> None:
    for text in (
        "<tool_call>",
        "<tool_call> is how calls begin",
        '<tool_call>{"name": 3}</tool_call>',
        '<tool_call>{"arguments": {}}</tool_call>',
        '<tool_call>{"name": "f"',
        "<tool_call>[1]",
        "<tool_call",
    ):
        assert _hermes(text) == [TextDelta(text)]


def test_a_call_after_what_is_none() -> None:
    events = _hermes('<tool_call> no <tool_call>{"name": "f", "arguments": {}}</tool_call>')
    assert text_of(events) == "<tool_call> no "
    assert calls_of(events) == [("f", "{}", True)]


def test_arguments_before_the_name() -> None:
    assert calls_of(_hermes('<tool_call>{"arguments": {"a": 1}, "name": "f"}</tool_call>')) == [
        ("f", '{"a": 1}', True)
    ]


def test_other_keys_and_white_space() -> None:
    text = '<tool_call>  { "id" : "x1" , "more": [{}], "name":"f","parameters" :{"a":"}"} }  </tool_call>'
    assert _hermes(text)[0] == CallStarted(0, "f", "x1")
    assert calls_of(_hermes(text)) == [("f", '{"a":"}"}', True)]


def test_calls_without_arguments() -> None:
    assert calls_of(_hermes('<tool_call>{"name": "f"}</tool_call>')) == [("f", "{}", True)]


def test_arguments_that_are_text() -> None:
    text = '<tool_call>{"name": "f", "arguments": "{\\"a\\": 1}"}</tool_call>'
    assert calls_of(_hermes(text)) == [("f", '{"a": 1}', True)]


def test_a_call_that_is_cut_short_does_not_end() -> None:
    assert calls_of(_hermes('<tool_call>{"name": "f", "arguments": {"a": "b')) == [("f", '{"a": "b', False)]


def test_a_call_whose_end_is_missing_has_ended() -> None:
    assert calls_of(_hermes('<tool_call>{"name": "f", "arguments": {"a": 1}')) == [("f", '{"a": 1}', True)]
    assert calls_of(_hermes('<tool_call>{"name": "f", "arguments": {"a": 1}}\n</tool')) == [
        ("f", '{"a": 1}', True)
    ]


def test_ids() -> None:
    assert parse(format_named("kimi"), [CALLS["kimi"]])[0] == CallStarted(0, "f", "functions.f:0")
    assert parse(format_named("mistral_v11"), [CALLS["mistral_v11"]])[0] == CallStarted(0, "f", "123456abc")
    assert parse(format_named("command_r"), [CALLS["command_r"]])[0] == CallStarted(0, "f", "0")


def test_harmony() -> None:
    answer = (
        "<|channel|>analysis<|message|>Think.<|end|><|start|>assistant<|channel|>commentary<|message|>I call."
        '<|end|><|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"k": 1}'
    )
    expected: list[Event] = [
        ReasoningDelta("Think."),
        TextDelta("I call."),
        CallStarted(0, "f", None),
        ArgumentsDelta(0, '{"k": 1}'),
        CallEnded(0),
    ]
    assert parse(format_named("harmony"), answer) == expected
    assert parse(format_named("harmony"), [answer + "<|call|>"]) == expected
    assert parse(format_named("harmony"), ["<|channel|>final<|message|>Hello.<|return|>"]) == [
        TextDelta("Hello.")
    ]


def test_markers_of_kimi_k3_are_silent() -> None:
    answer = f"<|open|>response<|sep|>Hi.<|close|>response<|sep|>{CALLS['kimi_k3']}<|close|>message<|sep|>"
    events = parse(format_named("kimi_k3"), answer)
    assert text_of(events) == "Hi."
    assert [call[0] for call in calls_of(events)] == ["f"]


def _parameters(name: str, text: str, schema: dict[str, Any]) -> Any:
    tools = [{"function": {"name": "f", "parameters": schema}}]
    begin, _, end = CALLS[name].partition("\n<parameter=k>\nv\n</parameter>")
    ((_, arguments, _),) = calls_of(parse(format_named(name), f"{begin}{text}{end}", tools))
    return json.loads(arguments)


@pytest.mark.parametrize(
    ("schema", "written", "value"),
    [
        ({"type": "string"}, "5", "5"),
        ({"type": "string"}, "null", "null"),
        ({"type": "string"}, 'a "b"\\\né', 'a "b"\\\né'),
        ({"type": "string"}, "\n\nx\n\n", "\nx\n"),
        ({"type": "integer"}, "\n5\n", 5),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": "boolean"}, "True", True),
        ({"type": "object"}, '\n{"a": ["</parameter>"]}\n', {"a": ["</parameter>"]}),
        ({"type": "array"}, "[1, 2]", [1, 2]),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "null", None),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "None", "None"),
        ({"type": ["integer", "null"]}, "None", None),
        ({"enum": ["1", 2]}, "2", 2),
        ({"enum": ["1", "2"]}, "2", "2"),
        ({}, "2", 2),
        ({}, "two", "two"),
        ({"type": "integer"}, "five", "five"),
    ],
)
def test_types_of_parameters(schema: dict[str, Any], written: str, value: Any) -> None:
    properties = {"type": "object", "properties": {"k": schema}}
    found = _parameters("qwen_3_coder", f"\n<parameter=k>{written}</parameter>", properties)
    assert found == {"k": value}


def test_unknown_tools_have_parameters_of_any_type() -> None:
    ((_, arguments, _),) = calls_of(parse(format_named("qwen_3_coder"), [CALLS["qwen_3_coder"]]))
    assert json.loads(arguments) == {"k": "v"}


def test_schemas_of_tools_may_be_anything() -> None:
    for parameters in (
        None,
        True,
        3,
        {"properties": 3},
        {"$ref": "#"},
        {"$ref": "#/x"},
        {"anyOf": [{"$ref": "#"}]},
    ):
        tools = [{"function": {"name": "f", "parameters": parameters}}]
        ((_, arguments, _),) = calls_of(parse(format_named("glm_4_7"), [CALLS["glm_4_7"]], tools))
        assert json.loads(arguments) == {"k": "v"}


@pytest.mark.parametrize("name", ["gemma_4", "cohere", "minimax_m3", "qwen_3", "qwen_3_coder"])
def test_deep_arguments(name: str) -> None:
    opened = {
        "gemma_4": ("<|tool_call>call:f{k:", "[", "]"),
        "cohere": (
            '<cofl:tool_calls><cofl:tool_call id="0" name="f"><cofl:value name="k" type="list">',
            '<cofl:value type="list">',
            "</cofl:value>",
        ),
        "minimax_m3": (
            ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="f">]<]minimax[>[<k>',
            "]<]minimax[>[<item>",
            "]<]minimax[>[</item>",
        ),
        "qwen_3": ('<tool_call>\n{"name": "f", "arguments": {"k":', "[", "]"),
        "qwen_3_coder": ("<tool_call>\n<function=f>\n<parameter=k>", "[", "]"),
    }
    begin, inward, outward = opened[name]
    answer = begin + inward * 20_000 + outward * 20_000
    tools = [
        {
            "function": {
                "name": "f",
                "parameters": {
                    "$defs": {"list": {"type": "array", "items": {"$ref": "#/$defs/list"}}},
                    "properties": {"k": {"$ref": "#/$defs/list"}},
                },
            }
        }
    ]
    ((called, arguments, ended),) = calls_of(parse(format_named(name), [answer], tools))
    assert called == "f"
    assert arguments.count("[") >= 20_000
    assert not ended


def test_long_answers_take_time_in_proportion() -> None:
    pieces = ['<tool_call>{"name": "f", "arguments": {"a": "', *["x" * 10] * 50_000, '"}}</tool_call>']
    ((_, arguments, ended),) = calls_of(_hermes(*pieces))
    assert ended
    assert len(arguments) == 500_009


def test_a_whole_answer_of_many_parts() -> None:
    arguments = json.dumps({"a": ["x"] * 100_000})
    text = f'<tool_call>{{"name": "f", "arguments": {arguments}}}</tool_call>'
    assert calls_of(_hermes(text)) == [("f", arguments, True)]


def test_events_are_merged_by_index() -> None:
    events: list[Event] = [TextDelta("a"), TextDelta("b"), CallEnded(0), TextDelta("c")]
    assert merged(events) == [TextDelta("ab"), CallEnded(0), TextDelta("c")]
