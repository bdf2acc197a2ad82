"""Requests as the openai and langchain-openai clients write them, word for word, and what they get."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.server.fakes import MODEL_NAME, FakeEngine, spell

URL = "/v1/chat/completions"
EBNF = 'root ::= "a"'
# What a client sends that speaks to llama.cpp and vLLM alike.
BOTH = {"grammar": EBNF, "structured_outputs": {"grammar": EBNF}}
TERSE = [{"content": "You are terse.", "role": "system"}, {"content": "hi", "role": "user"}]
PERSON = {
    "description": "A person.",
    "properties": {
        "name": {"description": "full name", "title": "Name", "type": "string"},
        "age": {"title": "Age", "type": "integer"},
    },
    "required": ["name", "age"],
    "title": "P",
    "type": "object",
    "additionalProperties": False,
}
PERSON_FORMAT = {
    "type": "json_schema",
    "json_schema": {"schema": PERSON, "name": "P", "strict": True},
}
GET_WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather.",
        "parameters": {
            "properties": {"city": {"type": "string"}, "days": {"default": 1, "type": "integer"}},
            "required": ["city"],
            "type": "object",
        },
    },
}
P_TOOL = {
    "type": "function",
    "function": {"name": "P", "strict": True, "parameters": PERSON, "description": "A person."},
}
NAMED_P = {"type": "function", "function": {"name": "P"}}
CUSTOM = {
    "type": "custom",
    "custom": {
        "name": "q",
        "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": 'start: "a"'}},
    },
}
CALLED = {"type": "function", "id": "c1", "function": {"name": "f", "arguments": '{"a": 1}'}}
ROUND_TRIP = [
    {"content": "w", "role": "user"},
    {"content": None, "role": "assistant", "tool_calls": [CALLED]},
    {"content": "ok", "role": "tool", "tool_call_id": "c1"},
]
ADA = '{"name": "Ada", "age": 36}'


def call(name: str, arguments: str) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


def body(messages: Any = None, **fields: Any) -> dict[str, Any]:
    return {
        "model": MODEL_NAME,
        "messages": messages or [{"role": "user", "content": "hi"}],
        **fields,
    }


# Name, body, what the model writes, and what the answer is: its content, or the arguments of its call.
ANSWERED: list[tuple[str, dict[str, Any], str, str]] = [
    ("langchain invoke", body(TERSE, max_completion_tokens=64, temperature=0.2, **BOTH), "a", "a"),
    ("langchain stop", body(max_completion_tokens=9, stop=["z"], grammar="root ::= [a-z]+"), "ab", "ab"),
    ("langchain parts", body([{"content": [{"type": "text", "text": "hi"}], "role": "user"}]), "x", "x"),
    ("langchain json mode", body(response_format={"type": "json_object"}), ADA, ADA),
    ("langchain round trip", body(ROUND_TRIP), "fine", "fine"),
    (
        "langchain schema of a dict",
        body(
            response_format={
                "type": "json_schema",
                "json_schema": {
                    "name": "R",
                    "strict": False,
                    "schema": {
                        "type": "object",
                        "properties": {"a": {"type": "integer"}},
                        "required": ["a"],
                    },
                },
            }
        ),
        '{"a": 1}',
        '{"a": 1}',
    ),
    ("openai parse", body(response_format=PERSON_FORMAT), ADA, ADA),
    ("openai json object", body(response_format={"type": "json_object"}), ADA, ADA),
    ("openai parse tools", body(tools=[P_TOOL]), call("P", ADA), ADA),
    ("openai custom tool", body(tools=[CUSTOM]), call("q", '{"input": "a"}'), "a"),
    (
        "langchain bind_tools",
        body(tools=[GET_WEATHER], max_completion_tokens=64, temperature=0.2),
        call("get_weather", '{"city": "Paris"}'),
        '{"city": "Paris"}',
    ),
    (
        "langchain bind_tools required",
        body(tools=[GET_WEATHER, P_TOOL], tool_choice="required", parallel_tool_calls=False),
        call("P", ADA),
        ADA,
    ),
    (
        "langchain function calling",
        body(tools=[P_TOOL], tool_choice=NAMED_P, parallel_tool_calls=False, max_completion_tokens=64),
        call("P", ADA),
        ADA,
    ),
    # With a constraint beside it, a free choice of tools calls none.
    ("langchain bind_tools with a grammar", body(tools=[GET_WEATHER], **BOTH), "a", "a"),
]


def answer_of(message: dict[str, Any]) -> str:
    if message.get("content") is not None:
        return str(message["content"])
    [made] = message["tool_calls"]
    return str(made["custom"]["input"] if made["type"] == "custom" else made["function"]["arguments"])


@pytest.mark.parametrize(("name", "request_body", "written", "expected"), ANSWERED)
def test_whole_answer(
    client: httpx.Client,
    engine: FakeEngine,
    name: str,
    request_body: dict[str, Any],
    written: str,
    expected: str,
) -> None:
    engine.script = lambda request: spell(written)
    response = client.post(URL, json={**request_body, "stream": False})
    assert response.status_code == 200, response.text
    assert answer_of(response.json()["choices"][0]["message"]) == expected


@pytest.mark.parametrize(("name", "request_body", "written", "expected"), ANSWERED)
def test_streamed_answer(
    client: httpx.Client,
    engine: FakeEngine,
    name: str,
    request_body: dict[str, Any],
    written: str,
    expected: str,
) -> None:
    engine.script = lambda request: spell(written)
    options = {"stream": True, "stream_options": {"include_usage": True}}
    response = client.post(URL, json={**request_body, **options})
    assert response.status_code == 200, response.text
    *events, done = [line[6:] for line in response.text.splitlines() if line]
    assert done == "[DONE]"
    chunks = [json.loads(event) for event in events]
    assert streamed_answer_of(chunks) == expected
    assert chunks[-1]["usage"]["completion_tokens"] > 0


def streamed_answer_of(chunks: list[dict[str, Any]]) -> str:
    answer = ""
    for chunk in chunks:
        for choice in chunk["choices"]:
            delta = choice["delta"]
            answer += delta.get("content", "")
            for part in delta.get("tool_calls", []):
                answer += part.get("function", {}).get("arguments", "") + part.get("custom", {}).get(
                    "input", ""
                )
    return answer


# Bodies whose fields contradict each other or hold no grammar: the client sees a BadRequestError.
REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "langchain structured output with a grammar",
        body(response_format=PERSON_FORMAT, **BOTH),
        "response_format.json_schema.schema",
        "structured_outputs.grammar",
    ),
    (
        "langchain function calling with a grammar",
        body(tools=[P_TOOL], tool_choice=NAMED_P, **BOTH),
        "tool_choice",
        "structured_outputs.grammar",
    ),
    (
        "langchain bind_tools required with a grammar",
        body(tools=[GET_WEATHER, P_TOOL], tool_choice="required", **BOTH),
        "tool_choice",
        "structured_outputs.grammar",
    ),
    ("openai with a grammar that is none", body(grammar="g", seed=1), "grammar", "line 1, column 1"),
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("name", "request_body", "param", "words"), REFUSED)
def test_refusal(
    client: httpx.Client, name: str, request_body: dict[str, Any], param: str, words: str, stream: bool
) -> None:
    response = client.post(URL, json={**request_body, "stream": stream})
    assert response.status_code == 400
    error = response.json()["error"]
    assert error["param"] == param
    assert words in error["message"]


# --- the Responses API

RESPONSES_URL = "/v1/responses"
FLAT_LARK = {"type": "grammar", "syntax": "lark", "definition": 'start: "a"'}
FLAT_REGEX = {"type": "grammar", "syntax": "regex", "definition": "a+"}
FLAT_PERSON = {"type": "json_schema", "strict": True, "name": "P", "schema": PERSON}
MESSAGE_X = [{"content": "x", "role": "user", "type": "message"}]
RESPONSES: list[tuple[str, dict[str, Any], str, str]] = [
    ("openai", {"input": "hi", "instructions": "terse", "max_output_tokens": 16}, "yes", "yes"),
    (
        "openai parse",
        {"input": "hi", "text": {"format": FLAT_PERSON}},
        ADA,
        ADA,
    ),
    (
        "openai custom tool",
        {"input": "hi", "tools": [{"type": "custom", "name": "q", "description": "d", "format": FLAT_REGEX}]},
        call("q", '{"input": "aa"}'),
        "aa",
    ),
    (
        "langchain custom tool",
        {"input": MESSAGE_X, "tools": [{"type": "custom", "name": "do_sql", "format": FLAT_LARK}]},
        call("do_sql", '{"input": "a"}'),
        "a",
    ),
    (
        "langchain function",
        {"input": MESSAGE_X, "tools": [{"type": "function", "name": "do_sql", "description": "sql"}]},
        call("do_sql", "{}"),
        "{}",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "request_body", "written", "expected"), RESPONSES)
def test_response(
    client: httpx.Client,
    engine: FakeEngine,
    name: str,
    request_body: dict[str, Any],
    written: str,
    expected: str,
) -> None:
    engine.script = lambda request: spell(written)
    response = client.post(RESPONSES_URL, json={"model": MODEL_NAME, **request_body})
    assert response.status_code == 200, response.text
    item = response.json()["output"][-1]
    texts = {
        "message": lambda: item["content"][0]["text"],
        "function_call": lambda: item["arguments"],
        "custom_tool_call": lambda: item["input"],
    }
    assert texts[item["type"]]() == expected
