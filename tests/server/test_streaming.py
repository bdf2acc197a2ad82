"""``POST /v1/chat/completions`` with ``stream: true``."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from server.engine import TextDelta
from server.settings import ServerSettings
from tests.server.fakes import MODEL_NAME, FakeEngine, spell
from tests.server.running_server import wait_until

URL = "/v1/chat/completions"
HELLO = [{"role": "user", "content": "hi"}]


def events(client: httpx.Client, **fields: Any) -> list[str]:
    response = client.post(URL, json={"messages": HELLO, "stream": True, **fields})
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    *texts, rest = response.text.split("\n\n")
    assert rest == ""
    assert all(text.startswith("data: ") for text in texts)
    return [text.removeprefix("data: ") for text in texts]


def chunks(client: httpx.Client, **fields: Any) -> list[dict[str, Any]]:
    *data, last = events(client, **fields)
    assert last == "[DONE]"
    return [json.loads(text) for text in data]


def test_stream_has_the_shape_of_the_api(client: httpx.Client) -> None:
    first, *middle, last = chunks(client, model=MODEL_NAME)
    assert first["choices"] == [
        {
            "index": 0,
            "delta": {"role": "assistant", "content": ""},
            "logprobs": None,
            "finish_reason": None,
        }
    ]
    assert [chunk["choices"][0]["delta"] for chunk in middle] == [
        {"content": text} for text in ("Hel", "lo,", " wö", "rld", "!")
    ]
    [choice] = last["choices"]
    assert (choice["delta"], choice["finish_reason"]) == ({}, "stop")
    assert "captures" not in choice
    for chunk in (first, *middle, last):
        assert chunk["id"] == first["id"]
        assert chunk["id"].startswith("chatcmpl-")
        assert (chunk["object"], chunk["model"]) == ("chat.completion.chunk", MODEL_NAME)
        assert "usage" not in chunk


def test_usage_comes_last_when_it_was_asked_for(client: httpx.Client) -> None:
    *others, last = chunks(client, stream_options={"include_usage": True})
    assert all(chunk["usage"] is None for chunk in others)
    prompt_tokens = len(b"<|user|>hi\n<|assistant|>")
    assert last["choices"] == []
    assert last["usage"] == {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": 6,
        "total_tokens": prompt_tokens + 6,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def test_deltas_without_text_are_not_sent(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: [
        TextDelta("", (1,)),
        TextDelta("é", (2,)),
        TextDelta("!", (3,), "length"),
    ]
    deltas = [chunk["choices"][0] for chunk in chunks(client)]
    assert [choice["delta"].get("content") for choice in deltas] == ["", "é", "!", None]
    assert deltas[-1]["finish_reason"] == "length"


def test_captures_are_on_the_last_choice(client: httpx.Client, engine: FakeEngine) -> None:
    captures = (("word", "é".encode()), ("byte", b"\xc3"))
    engine.script = lambda request: [TextDelta("é", (1,)), TextDelta("!", (2,), "length", captures=captures)]
    options = {"guided_grammar": 'root ::= "é!"', "return_captures": True}
    *others, last, usage = chunks(client, **options, stream_options={"include_usage": True})
    assert last["choices"][0]["finish_reason"] == "length"
    assert last["choices"][0]["captures"] == [
        {"name": "word", "text": "é"},
        {"name": "byte", "base64": "ww=="},
    ]
    assert not any("captures" in chunk["choices"][0] for chunk in others)
    assert usage["choices"] == []


def test_no_captures_is_an_empty_list(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: [TextDelta("a", (1,), "stop", captures=())]
    last = chunks(client, guided_grammar='root ::= "a"', return_captures=True)[-1]
    assert last["choices"][0]["captures"] == []


def test_text_arrives_before_the_answer_is_complete(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: spell("abc" * 1000)
    engine.step_s = 0.05
    with client.stream("POST", URL, json={"messages": HELLO, "stream": True}) as response:
        lines = (line for line in response.iter_lines() if line)
        assert '"content":""' in next(lines)
        assert '"content":"abc"' in next(lines)


def test_fault_in_the_middle_is_an_error_event(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: [
        TextDelta("ab", (1,)),
        TextDelta("", (), "error", error="row 3 is broken"),
    ]
    *_, text, failure, done = events(client)
    assert json.loads(text)["choices"][0]["delta"] == {"content": "ab"}
    assert json.loads(failure)["error"]["type"] == "server_error"
    assert done == "[DONE]"


def test_a_fault_of_the_grammar_is_an_error_event(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: [
        TextDelta("ab", (1,)),
        TextDelta("", (), "error", error="No token fits.", error_code="grammar_dead_end"),
    ]
    *_, failure, done = events(client, guided_regex="a")
    assert json.loads(failure)["error"] == {
        "message": "No token fits.",
        "type": "invalid_request_error",
        "param": "guided_regex",
        "code": "grammar_dead_end",
    }
    assert done == "[DONE]"


def test_unexpected_fault_in_the_middle_gives_no_details(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: [TextDelta("ab", (1,)), TextDelta(7)]  # type: ignore[arg-type]
    *_, failure, done = events(client)
    assert json.loads(failure)["error"]["code"] == "internal_error"
    assert "valid string" not in failure
    assert done == "[DONE]"


def test_reader_that_leaves_cancels_the_generation(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: [TextDelta("a", (1,)), *spell("never read")]
    engine.step_s = 0.2
    with client.stream("POST", URL, json={"messages": HELLO, "stream": True}) as response:
        next(response.iter_lines())
    wait_until(lambda: engine.cancelled)
    assert engine.cancelled == [engine.requests[0].request_id]


def test_reader_that_leaves_while_nothing_is_sent_cancels_too(
    client: httpx.Client, engine: FakeEngine
) -> None:
    engine.step_s = 60
    with client.stream("POST", URL, json={"messages": HELLO, "stream": True}) as response:
        next(response.iter_lines())
    wait_until(lambda: engine.cancelled)


def test_complete_stream_is_not_counted_as_cancelled(client: httpx.Client, engine: FakeEngine) -> None:
    chunks(client)
    assert engine.cancelled == []


@pytest.mark.parametrize("text", ['line\nbreaks\r\n and "quotes"', "\u2028 and 🧑🏽‍🚀", "data: [DONE]\n\n"])
def test_any_text_survives_the_event_format(client: httpx.Client, engine: FakeEngine, text: str) -> None:
    engine.script = lambda request: spell(text)
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks(client)]
    assert "".join(delta.get("content", "") for delta in deltas) == text


class TestKeepAlive:
    @pytest.fixture
    def settings(self) -> ServerSettings:
        return ServerSettings(keep_alive_s=0.1, access_log=False)

    def test_a_slow_stream_sends_comments(self, client: httpx.Client, engine: FakeEngine) -> None:
        engine.script = lambda request: [TextDelta("a", (1,)), TextDelta("b", (2,), "stop")]
        engine.step_s = 0.35
        response = client.post(URL, json={"messages": HELLO, "stream": True})
        parts = response.text.split("\n\n")
        assert parts.count(": keep-alive") >= 4
        events_only = [part for part in parts if not part.startswith(":")]
        assert len(events_only) == 5 + 1
        assert events_only[-2] == "data: [DONE]"

    def test_a_quick_stream_sends_none(self, client: httpx.Client) -> None:
        assert not any(text.startswith(":") for text in events(client))
