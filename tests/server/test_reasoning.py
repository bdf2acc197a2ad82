"""Models that think: thoughts apart from answers, and constraints after them, over HTTP."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any, cast

import httpx
import pytest
from openai import OpenAI

from grammar_core import GrammarCompiler, GrammarMatcher, TokenizerInfo
from server.app import create_app
from server.engine import GenerationRequest
from server.errors import ApiError
from server.reasoning.request import template_kwargs
from server.schemas.chat_request import parse_chat_request
from server.settings import ServerSettings
from tests.server.fakes import MODEL_NAME, FakeEngine, byte_tokenizer, fake_backend, prompt_text, spell
from tests.server.running_server import running_server

URL = "/v1/chat/completions"
HELLO: Any = [{"role": "user", "content": "hi"}]
# Thinks unless told not to, and shows how much it was asked to.
TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>"
    "{% if message.reasoning_content is defined %}<think>{{ message.reasoning_content }}</think>{% endif %}"
    "{{ message['content'] }}\n{% endfor %}"
    "{% if reasoning_effort is defined %}effort: {{ reasoning_effort }}\n{% endif %}<|assistant|>"
    "{% if opens_thoughts is defined %}<think>\n{% endif %}"
    "{% if enable_thinking is false %}<think>\n\n</think>\n\n{% endif %}"
)
THOUGHTFUL = "<think>\nLet me see.\n</think>\n\n42"
BYTES = TokenizerInfo([*(bytes([byte]) for byte in range(256)), "</s>"], stop_token_ids=[256])


# A family whose thoughts and answers are messages, with control tokens around them.
MESSAGES_TEMPLATE = (
    "{% for message in messages %}<|start|>{{ message['role'] }}<|message|>{{ message['content'] }}<|end|>"
    "{% endfor %}<|start|>assistant{# <|channel|> tools tool_calls #}"
)
MESSAGE_TOKENS = (
    "<|start|>",
    "<|end|>",
    "<|message|>",
    "<|channel|>",
    "<|constrain|>",
    "<|call|>",
    "<|return|>",
)
MESSAGES = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>42"


@pytest.fixture
def client(engine: FakeEngine) -> Iterator[httpx.Client]:
    yield from serving(engine, TEMPLATE)


@pytest.fixture
def of_messages(engine: FakeEngine) -> Iterator[httpx.Client]:
    yield from serving(engine, MESSAGES_TEMPLATE, MESSAGE_TOKENS)


def serving(
    engine: FakeEngine, template: str, control_tokens: tuple[str, ...] = ()
) -> Iterator[httpx.Client]:
    tokenizer = byte_tokenizer()
    tokenizer.add_special_tokens({"additional_special_tokens": list(control_tokens)})
    tokenizer.chat_template = template
    backend = dataclasses.replace(fake_backend(engine), tokenizer=cast(Any, tokenizer))
    with (
        running_server(create_app(ServerSettings(access_log=False), open_backend=lambda _: backend)) as url,
        httpx.Client(base_url=url, timeout=10) as client,
    ):
        yield client


def ask(client: httpx.Client, **fields: Any) -> dict[str, Any]:
    response = client.post(URL, json={"messages": HELLO, **fields})
    assert response.status_code == 200, response.text
    return dict(response.json())


def message(client: httpx.Client, **fields: Any) -> dict[str, Any]:
    return dict(ask(client, **fields)["choices"][0]["message"])


def deltas(client: httpx.Client, **fields: Any) -> list[dict[str, Any]]:
    response = client.post(URL, json={"messages": HELLO, "stream": True, **fields})
    events = [line[6:] for line in response.text.splitlines() if line.startswith("data: {")]
    return [choice["delta"] for event in events for choice in json.loads(event)["choices"]]


def obeys(request: GenerationRequest, text: str) -> bool:
    """Whether the text is one of the request's grammar."""
    grammar = cast(Any, request.grammar)  # the compiler of the tests builds and does not compile
    matcher = GrammarMatcher(GrammarCompiler(BYTES).compile_grammar(grammar))
    return matcher.accept_string(text) and matcher.is_completed()


def test_thoughts_are_returned_apart(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: spell(THOUGHTFUL)
    body = ask(client)
    answer = body["choices"][0]["message"]
    assert answer["content"] == "42"
    assert answer["reasoning_content"] == answer["reasoning"] == "\nLet me see.\n"
    assert 0 < body["usage"]["completion_tokens_details"]["reasoning_tokens"] < 12
    assert engine.requests[0].grammar is None


def test_thoughts_are_streamed_apart(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: spell(THOUGHTFUL)
    found = deltas(client)
    assert "".join(delta.get("reasoning_content", "") for delta in found) == "\nLet me see.\n"
    assert "".join(delta.get("reasoning", "") for delta in found) == "\nLet me see.\n"
    assert "".join(delta.get("content", "") for delta in found) == "42"
    assert len([delta for delta in found if "reasoning" in delta]) > 2


def test_thoughts_can_be_left_out(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: spell(THOUGHTFUL)
    assert message(client, include_reasoning=False) == {
        "role": "assistant",
        "content": "42",
        "refusal": None,
    }
    assert not any("reasoning" in delta for delta in deltas(client, include_reasoning=False))


def test_the_prompt_may_open_the_thoughts(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: spell("Let me see.</think>\n\n42")
    answer = message(client, chat_template_kwargs={"opens_thoughts": True})
    assert (answer["reasoning_content"], answer["content"]) == ("Let me see.", "42")


def test_thoughts_that_are_cut(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: spell("<think>Let me see", finish_reason="length")
    answer = message(client)
    assert (answer["reasoning_content"], answer["content"]) == ("Let me see", "")


def test_constraint_begins_after_the_thoughts(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: spell(THOUGHTFUL)
    answer = message(client, guided_regex="[0-9]+")
    assert (answer["reasoning_content"], answer["content"]) == ("\nLet me see.\n", "42")
    [request] = engine.requests
    assert obeys(request, THOUGHTFUL)
    assert obeys(request, "42")
    assert not obeys(request, "<think>hm</think>\n\nno")


@pytest.mark.parametrize(
    "fields", [{"chat_template_kwargs": {"enable_thinking": False}}, {"reasoning_effort": "none"}]
)
def test_without_thinking_the_json_is_content(
    client: httpx.Client, engine: FakeEngine, fields: dict[str, Any]
) -> None:
    engine.script = lambda request: spell('{"a": 1}')
    answer = message(client, guided_json={"type": "object"}, **fields)
    assert answer["content"] == '{"a": 1}'
    assert "reasoning_content" not in answer
    [request] = engine.requests
    assert prompt_text(request.prompt_token_ids).endswith("</think>\n\n")
    assert obeys(request, '{"a": 1}')
    assert not obeys(request, "<think>hm</think>\n\n{}")


def test_a_response_s_schema_begins_after_the_thoughts(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: spell('<think>\nhm\n</think>\n\n{"a":1}')
    schema = {"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]}
    form = {"type": "json_schema", "name": "n", "schema": schema}
    response = client.post("/v1/responses", json={"input": "hi", "text": {"format": form}})
    assert response.status_code == 200, response.text
    thoughts, answer = response.json()["output"]
    assert (thoughts["type"], answer["content"][0]["text"]) == ("reasoning", '{"a":1}')
    assert response.json()["usage"]["output_tokens_details"]["reasoning_tokens"] > 0
    [request] = engine.requests
    assert obeys(request, '<think>\nhm\n</think>\n\n{"a":1}')
    assert not obeys(request, '<think>\nhm\n</think>\n\n{"a":2}')


def test_grammar_that_covers_the_thoughts_is_about_the_whole_answer(
    client: httpx.Client, engine: FakeEngine
) -> None:
    engine.script = lambda request: spell("<think>hm</think>\n\n42")
    answer = message(client, guided_grammar='root ::= "<think>" [a-z]{2} "</think>\\n\\n" [0-9]+')
    assert (answer["reasoning_content"], answer["content"]) == ("hm", "42")
    [request] = engine.requests
    assert obeys(request, "<think>hm</think>\n\n42")
    assert not obeys(request, "<think>hmm</think>\n\n42")


def test_thinking_token_budget(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: spell(THOUGHTFUL)
    message(client, thinking_token_budget=0)
    message(client, thinking_token_budget=-1)
    assert engine.requests[0].grammar is not None
    assert engine.requests[1].grammar is None


@pytest.mark.parametrize("effort", ["minimal", "high", "max"])
def test_reasoning_effort_reaches_the_template(client: httpx.Client, engine: FakeEngine, effort: str) -> None:
    ask(client, reasoning_effort=effort)
    assert f"effort: {effort}\n" in prompt_text(engine.requests[0].prompt_token_ids)
    ask(client, reasoning_effort=effort, chat_template_kwargs={"enable_thinking": False})
    assert prompt_text(engine.requests[1].prompt_token_ids).endswith("</think>\n\n")


def test_the_effort_of_a_response(client: httpx.Client, engine: FakeEngine) -> None:
    for effort in ("high", "none"):
        body = {"input": "hi", "reasoning": {"effort": effort}}
        assert client.post("/v1/responses", json=body).status_code == 200
    high, none = (prompt_text(request.prompt_token_ids) for request in engine.requests)
    assert "effort: high\n" in high
    assert none.endswith("</think>\n\n")


def test_tools_are_called_after_the_thoughts(client: httpx.Client, engine: FakeEngine) -> None:
    written = '<think>hm</think>\n\n<tool_call>\n{"name": "time", "arguments": {}}\n</tool_call>'
    engine.script = lambda request: spell(written)
    tools = [{"type": "function", "function": {"name": "time"}}]
    answer = message(client, tools=tools, tool_choice="required")
    assert answer["reasoning_content"] == "hm"
    assert answer["tool_calls"][0]["function"]["name"] == "time"
    [request] = engine.requests
    assert obeys(request, written)
    assert not obeys(request, "<think>hm</think>\n\nno call")


def test_thoughts_of_earlier_turns_reach_the_template(client: httpx.Client, engine: FakeEngine) -> None:
    earlier = {"role": "assistant", "content": "42", "reasoning_content": "hm", "reasoning": "hm"}
    ask(client, messages=[*HELLO, earlier, *HELLO])
    assert "<think>hm</think>42" in prompt_text(engine.requests[0].prompt_token_ids)


def test_openai_client_sees_the_thoughts(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: spell(THOUGHTFUL)
    with OpenAI(base_url=str(client.base_url.join("/v1")), api_key="unused", max_retries=0) as openai:
        completion = openai.chat.completions.create(model=MODEL_NAME, messages=HELLO)
    assert completion.choices[0].message.content == "42"
    assert completion.choices[0].message.model_extra == {
        "reasoning_content": "\nLet me see.\n",
        "reasoning": "\nLet me see.\n",
    }


def test_messages_of_thoughts_and_answer(of_messages: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: spell(MESSAGES)
    answer = message(of_messages)
    assert (answer["reasoning_content"], answer["content"]) == ("hm", "42")
    assert message(of_messages, include_reasoning=False)["content"] == "42"
    [request, _] = engine.requests
    assert request.grammar is None
    assert set(request.shown_tokens.values()) == {token.encode() for token in MESSAGE_TOKENS}


def test_constraint_is_about_the_final_message(of_messages: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: spell(MESSAGES)
    assert message(of_messages, guided_regex="[0-9]+")["content"] == "42"
    message(of_messages, guided_choice=["42", "<|channel|>x"])
    covered, covering = engine.requests
    assert obeys(covered, f"{MESSAGES}<|return|>")
    assert not obeys(covered, MESSAGES.replace("42", "no") + "<|return|>")
    assert not obeys(covered, "42")
    assert obeys(covering, "42")


def test_calls_are_messages(of_messages: httpx.Client, engine: FakeEngine) -> None:
    header = "<|channel|>commentary to=functions.time <|constrain|>json<|message|>"
    engine.script = lambda request: spell(f"{header}{{}}")
    response = ask(of_messages, tools=[{"type": "function", "function": {"name": "time"}}])
    [choice] = response["choices"]
    assert choice["message"]["tool_calls"][0]["function"] == {"name": "time", "arguments": "{}"}
    assert choice["finish_reason"] == "tool_calls"


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"reasoning_effort": "huge"}, "reasoning_effort"),
        ({"thinking_token_budget": -2}, "thinking_token_budget"),
        ({"include_reasoning": 1}, "include_reasoning"),
    ],
)
def test_refusals(client: httpx.Client, fields: dict[str, Any], param: str) -> None:
    response = client.post(URL, json={"messages": HELLO, **fields})
    assert response.status_code == 400
    assert response.json()["error"]["param"] == param


def test_model_that_does_not_think_refuses_a_budget(base_url: str) -> None:
    with httpx.Client(base_url=base_url) as plain:
        response = plain.post(URL, json={"messages": HELLO, "thinking_token_budget": 5})
        assert response.status_code == 400
        assert response.json()["error"]["param"] == "thinking_token_budget"


def test_effort_without_a_place_in_the_template_is_refused() -> None:
    request = parse_chat_request({"messages": HELLO, "reasoning_effort": "high"})
    with pytest.raises(ApiError, match="cannot be told how much to think"):
        template_kwargs(request, "{{ messages }}")
    none = parse_chat_request({"messages": HELLO, "reasoning_effort": "none"})
    assert template_kwargs(none, "{{ messages }}") == {}
