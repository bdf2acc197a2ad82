"""Tool calls over HTTP, on an engine that writes what a model would, through the clients people use."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from openai import OpenAI, pydantic_function_tool
from pydantic import BaseModel, SecretStr

from tests.server.fakes import MODEL_NAME, FakeEngine, prompt_text, spell

URL = "/v1/chat/completions"
HELLO: Any = [{"role": "user", "content": "hi"}]
WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}
TIME: Any = {"type": "function", "function": {"name": "time"}}
SQL: Any = {
    "type": "custom",
    "custom": {
        "name": "sql",
        "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": 'start: "select \\"a\\""'}},
    },
}


def call(name: str, arguments: Any) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


PARIS = call("get_weather", {"city": "Paris", "days": 2})
TWO_CALLS = f"{PARIS}\n{call('time', {})}"


@pytest.fixture
def openai_client(base_url: str) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{base_url}/v1", api_key="unused", max_retries=0) as client:
        yield client


@pytest.fixture
def chat(base_url: str) -> ChatOpenAI:
    return ChatOpenAI(model=MODEL_NAME, base_url=f"{base_url}/v1", api_key=SecretStr("unused"), max_retries=0)


def says(engine: FakeEngine, text: str, *, finish_reason: str = "stop") -> None:
    engine.script = lambda request: spell(text, finish_reason=finish_reason)


def choice_of(response: httpx.Response) -> dict[str, Any]:
    assert response.status_code == 200, response.text
    [choice] = response.json()["choices"]
    return dict(choice)


def post(client: httpx.Client, **fields: Any) -> httpx.Response:
    return client.post(URL, json={"messages": HELLO, **fields})


# --- whole answers


def test_calls_of_a_whole_answer(client: httpx.Client, engine: FakeEngine) -> None:
    says(engine, TWO_CALLS)
    choice = choice_of(post(client, tools=[WEATHER, TIME]))
    first, second = choice["message"]["tool_calls"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    assert first["type"] == "function"
    assert first["id"] != second["id"]
    assert first["id"].startswith("call_")
    assert first["function"]["name"] == "get_weather"
    assert json.loads(first["function"]["arguments"]) == {"city": "Paris", "days": 2}
    assert second["function"] == {"name": "time", "arguments": "{}"}
    assert engine.requests[0].grammar is not None


def test_text_before_a_call_is_content(client: httpx.Client, engine: FakeEngine) -> None:
    says(engine, f"I will look. {PARIS}")
    message = choice_of(post(client, tools=[WEATHER]))["message"]
    assert message["content"].strip() == "I will look."
    assert len(message["tool_calls"]) == 1


def test_answer_without_calls(client: httpx.Client, engine: FakeEngine) -> None:
    says(engine, "No need.")
    choice = choice_of(post(client, tools=[WEATHER]))
    assert choice["message"] == {"role": "assistant", "content": "No need.", "refusal": None}
    assert choice["finish_reason"] == "stop"


def test_a_call_that_is_cut_ends_with_length(client: httpx.Client, engine: FakeEngine) -> None:
    says(engine, PARIS[:60], finish_reason="length")
    choice = choice_of(post(client, tools=[WEATHER], tool_choice="required"))
    assert choice["finish_reason"] == "length"
    assert choice["message"]["tool_calls"][0]["function"]["name"] == "get_weather"


def test_whole_calls_with_length_still_end_with_length(client: httpx.Client, engine: FakeEngine) -> None:
    says(engine, PARIS, finish_reason="length")
    assert choice_of(post(client, tools=[WEATHER]))["finish_reason"] == "length"


@pytest.mark.parametrize(
    ("tool_choice", "expected"),
    [
        ("auto", "tool_calls"),
        ("required", "tool_calls"),
        ({"type": "function", "function": {"name": "get_weather"}}, "stop"),
    ],
)
def test_finish_reason(client: httpx.Client, engine: FakeEngine, tool_choice: Any, expected: str) -> None:
    says(engine, PARIS)
    choice = choice_of(post(client, tools=[WEATHER, TIME], tool_choice=tool_choice))
    assert choice["finish_reason"] == expected
    assert len(choice["message"]["tool_calls"]) == 1


def test_no_tool_is_called_with_choice_none_or_a_constraint(client: httpx.Client, engine: FakeEngine) -> None:
    says(engine, PARIS)
    for fields in ({"tool_choice": "none"}, {"guided_regex": ".*"}):
        choice = choice_of(post(client, tools=[WEATHER], **fields))
        assert choice["message"]["content"] == PARIS
        assert "tool_calls" not in choice["message"]
        assert "get_weather" not in prompt_text(engine.requests[-1].prompt_token_ids)


def test_custom_tool(client: httpx.Client, engine: FakeEngine) -> None:
    says(engine, call("sql", {"input": 'select "a"'}))
    choice = choice_of(post(client, tools=[SQL]))
    [made] = choice["message"]["tool_calls"]
    assert made["type"] == "custom"
    assert made["custom"] == {"name": "sql", "input": 'select "a"'}
    assert choice["finish_reason"] == "tool_calls"


# --- prompts


def test_template_without_tools_gets_an_instruction(client: httpx.Client, engine: FakeEngine) -> None:
    post(client, tools=[WEATHER, SQL], messages=[{"role": "system", "content": "Be brief."}, *HELLO])
    prompt = prompt_text(engine.requests[0].prompt_token_ids)
    assert prompt.startswith("<|system|>Be brief.\n\n")
    assert '"name": "get_weather"' in prompt
    assert "<tool_call>" in prompt
    assert "Lark grammar" in prompt


def test_history_of_calls_and_results(client: httpx.Client, engine: FakeEngine) -> None:
    calls = [
        {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}},
        {"id": "2", "type": "custom", "custom": {"name": "q", "input": "x"}},
    ]
    messages = [
        *HELLO,
        {"role": "assistant", "content": None, "tool_calls": calls, "reasoning_content": "hm"},
        {"role": "tool", "content": "one", "tool_call_id": "1"},
        {"role": "tool", "content": [{"type": "text", "text": "two"}], "tool_call_id": "2"},
    ]
    assert post(client, messages=messages).status_code == 200
    prompt = prompt_text(engine.requests[0].prompt_token_ids)
    assert '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>' in prompt
    assert '{"name": "q", "arguments": {"input": "x"}}' in prompt
    assert "<tool_response>\none\n</tool_response>\n<tool_response>\ntwo\n</tool_response>" in prompt


def test_arguments_that_are_no_json_are_refused(client: httpx.Client) -> None:
    calls = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{"}}]
    messages = [*HELLO, {"role": "assistant", "content": None, "tool_calls": calls}]
    response = post(client, messages=messages)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == "messages"


# --- errors


def custom(syntax: str, definition: str) -> dict[str, Any]:
    return {
        "type": "custom",
        "name": "q",
        "format": {"type": "grammar", "syntax": syntax, "definition": definition},
    }


BAD_SCHEMA = {"type": "object", "properties": {"a": {"type": 7}}}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("tool", "param", "words"),
    [
        (
            {"type": "function", "function": {"name": "f", "parameters": BAD_SCHEMA}},
            "tools[1].function.parameters",
            "/properties/a/type",
        ),
        (custom("lark", "start: b"), "tools[1].custom.format", "line 1, column 8"),
        (custom("regex", "(a"), "tools[1].custom.format", "column 1"),
    ],
)
def test_bad_tools_are_refused_before_the_answer(
    client: httpx.Client, tool: Any, param: str, words: str, stream: bool
) -> None:
    response = post(client, tools=[TIME, tool], stream=stream)
    error = response.json()["error"]
    assert response.status_code == 400
    assert (error["param"], error["code"]) == (param, "invalid_grammar")
    assert words in error["message"]


@pytest.mark.parametrize("stream", [False, True])
def test_two_calls_that_come_at_once(client: httpx.Client, engine: FakeEngine, stream: bool) -> None:
    engine.script = lambda request: spell(TWO_CALLS, piece=1000)
    response = post(client, tools=[WEATHER, TIME], tool_choice="required", stream=stream)
    assert response.status_code == 200
    if not stream:
        assert len(choice_of(response)["message"]["tool_calls"]) == 2
        return
    events = [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: {")]
    parts = [part for event in events for part in event["choices"][0]["delta"].get("tool_calls", [])]
    assert [part["index"] for part in parts if "id" in part] == [0, 1]
    assert events[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_every_choice_has_calls_of_its_own(client: httpx.Client, engine: FakeEngine) -> None:
    says(engine, PARIS)
    response = post(client, tools=[WEATHER], n=2)
    choices = response.json()["choices"]
    assert [choice["finish_reason"] for choice in choices] == ["tool_calls"] * 2
    assert len({choice["message"]["tool_calls"][0]["id"] for choice in choices}) == 2


# --- the openai client


class City(BaseModel):
    """A city."""

    name: str
    people: int


def test_openai_stream_assembles_parallel_calls(openai_client: OpenAI, engine: FakeEngine) -> None:
    says(engine, f"Let me see.{TWO_CALLS}")
    with openai_client.chat.completions.stream(
        model=MODEL_NAME, messages=HELLO, tools=[WEATHER, TIME]
    ) as stream:
        completion = stream.get_final_completion()
    choice = completion.choices[0]
    assert choice.finish_reason == "tool_calls"
    assert (choice.message.content or "").strip() == "Let me see."
    first, second = choice.message.tool_calls or []
    assert (first.function.name, second.function.name) == ("get_weather", "time")
    assert json.loads(first.function.arguments) == {"city": "Paris", "days": 2}
    assert second.function.arguments == "{}"


def test_openai_stream_sends_arguments_in_pieces(openai_client: OpenAI, engine: FakeEngine) -> None:
    says(engine, PARIS)
    chunks = openai_client.chat.completions.create(
        model=MODEL_NAME, messages=HELLO, tools=[WEATHER], stream=True
    )
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    parts = [delta.tool_calls[0] for delta in deltas if delta.tool_calls]
    assert parts[0].id
    assert parts[0].type == "function"
    assert parts[0].function
    assert parts[0].function.name == "get_weather"
    rest = [part.function.arguments or "" for part in parts[1:] if part.function]
    assert len(rest) > 3
    assert all(part.id is None and part.function and part.function.name is None for part in parts[1:])
    assert json.loads("".join(rest)) == {"city": "Paris", "days": 2}


def test_openai_parses_tools_into_models(openai_client: OpenAI, engine: FakeEngine) -> None:
    says(engine, call("City", {"name": "Paris", "people": 2}))
    completion = openai_client.chat.completions.parse(
        model=MODEL_NAME, messages=HELLO, tools=[pydantic_function_tool(City)]
    )
    [made] = completion.choices[0].message.tool_calls or []
    assert made.function.parsed_arguments == City(name="Paris", people=2)


def test_openai_custom_tool(openai_client: OpenAI, engine: FakeEngine) -> None:
    says(engine, call("sql", {"input": 'select "a"'}))
    completion = openai_client.chat.completions.create(model=MODEL_NAME, messages=HELLO, tools=[SQL])
    [made] = completion.choices[0].message.tool_calls or []
    assert made.type == "custom"
    assert made.custom.input == 'select "a"'


def test_custom_tool_streams_its_input(client: httpx.Client, engine: FakeEngine) -> None:
    says(engine, call("sql", {"input": 'select "a"'}))
    response = post(client, tools=[SQL], stream=True)
    events = [line[6:] for line in response.text.splitlines() if line.startswith("data: {")]
    parts = [
        part
        for event in events
        for choice in json.loads(event)["choices"]
        for part in choice["delta"].get("tool_calls", [])
    ]
    assert parts[0]["custom"] == {"name": "sql", "input": ""}
    assert "".join(part["custom"]["input"] for part in parts) == 'select "a"'


# --- LangChain


@tool
def get_weather(city: str, days: int = 1) -> str:
    """Get the weather."""
    return f"{city} {days}"


@pytest.mark.parametrize("tool_choice", [None, "auto", "any", "get_weather"])
def test_langchain_bind_tools(chat: ChatOpenAI, engine: FakeEngine, tool_choice: str | None) -> None:
    says(engine, PARIS)
    bound = chat.bind_tools([get_weather], tool_choice=tool_choice)
    answer = bound.invoke("weather?")
    assert isinstance(answer, AIMessage)
    [made] = answer.tool_calls
    assert (made["name"], made["args"]) == ("get_weather", {"city": "Paris", "days": 2})


def test_langchain_streams_parallel_calls(chat: ChatOpenAI, engine: FakeEngine) -> None:
    says(engine, TWO_CALLS)
    chunks = list(chat.bind_tools([get_weather, TIME]).stream("weather?"))
    total = chunks[0]
    for chunk in chunks[1:]:
        total += chunk  # type: ignore[assignment]
    assert [made["name"] for made in total.tool_calls] == ["get_weather", "time"]
    assert [made["args"] for made in total.tool_calls] == [{"city": "Paris", "days": 2}, {}]


def test_langchain_round_trip(chat: ChatOpenAI, engine: FakeEngine) -> None:
    says(engine, PARIS)
    bound = chat.bind_tools([get_weather])
    answer = bound.invoke("weather?")
    assert isinstance(answer, AIMessage)
    result = get_weather.invoke(answer.tool_calls[0])
    says(engine, "Sunny.")
    assert bound.invoke([("user", "weather?"), answer, result]).content == "Sunny."
    assert "<tool_response>\nParis 2\n</tool_response>" in prompt_text(engine.requests[-1].prompt_token_ids)


@pytest.mark.parametrize("strict", [None, True])
def test_langchain_structured_output_by_function_calling(
    chat: ChatOpenAI, engine: FakeEngine, strict: bool | None
) -> None:
    says(engine, call("City", {"name": "Paris", "people": 2}))
    structured = chat.with_structured_output(City, method="function_calling", strict=strict)
    assert structured.invoke("a city") == City(name="Paris", people=2)


# LangChain itself dumps the client's events with the model's class in them.
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning")
@pytest.mark.parametrize("method", ["json_schema", "json_mode"])
def test_langchain_structured_output_by_response_format(
    chat: ChatOpenAI, engine: FakeEngine, method: Any
) -> None:
    says(engine, '{"name": "Paris", "people": 2}')
    structured = chat.with_structured_output(City, method=method)
    assert structured.invoke("a city as JSON") == City(name="Paris", people=2)
    assert engine.requests[0].grammar is not None
    assert list(structured.stream("a city as JSON"))[-1] == City(name="Paris", people=2)
