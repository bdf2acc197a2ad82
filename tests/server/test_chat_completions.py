"""``POST /v1/chat/completions`` over HTTP: whole answers, and everything that is refused."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from server.engine import TextDelta
from server.settings import ServerSettings
from tests.server.fakes import MODEL_NAME, FakeCompiler, FakeEngine, prompt_text, spell
from tests.server.running_server import wait_until

URL = "/v1/chat/completions"
HELLO = [{"role": "user", "content": "hi"}]


def post(client: httpx.Client, **fields: Any) -> httpx.Response:
    return client.post(URL, json={"messages": HELLO, **fields})


def refusal(response: httpx.Response, status: int = 400) -> dict[str, Any]:
    assert response.status_code == status, response.text
    body = response.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"message", "type", "param", "code"}
    error: dict[str, Any] = body["error"]
    return error


# --- answers


def test_whole_answer_has_the_shape_of_the_api(client: httpx.Client) -> None:
    body = post(client, model=MODEL_NAME).json()
    assert body["id"].startswith("chatcmpl-")
    assert (body["object"], body["model"]) == ("chat.completion", MODEL_NAME)
    [choice] = body["choices"]
    assert choice == {
        "index": 0,
        "message": {"role": "assistant", "content": "Hello, wörld!", "refusal": None},
        "logprobs": None,
        "finish_reason": "stop",
        "stop_reason": None,
    }
    prompt_tokens = len(b"<|user|>hi\n<|assistant|>")
    assert body["usage"] == {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": 6,
        "total_tokens": prompt_tokens + 6,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def test_length_and_stop_reason_are_reported(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: spell("cut", finish_reason="length")
    assert post(client).json()["choices"][0]["finish_reason"] == "length"
    engine.script = lambda request: [TextDelta("x", (1,), "stop", stop_reason="END")]
    assert post(client).json()["choices"][0]["stop_reason"] == "END"


def test_fields_reach_the_engine(client: httpx.Client, engine: FakeEngine) -> None:
    fields = {"temperature": 0.5, "top_p": 0.9, "top_k": 20, "min_p": 0.1, "seed": -3, "stop": "END"}
    assert post(client, **fields, max_tokens=9, max_completion_tokens=8).status_code == 200
    [request] = engine.requests
    sampling = request.sampling
    assert (sampling.temperature, sampling.top_p, sampling.top_k) == (0.5, 0.9, 20)
    assert (sampling.min_p, sampling.seed) == (0.1, -3)
    assert (request.stop, request.max_tokens, request.grammar) == (("END",), 8, None)


def test_absent_fields_mean_the_defaults(client: httpx.Client, engine: FakeEngine) -> None:
    post(client, temperature=None, top_k=-1, stop=None)
    [request] = engine.requests
    assert (request.sampling.temperature, request.sampling.top_k, request.sampling.seed) == (1.0, 0, None)
    assert (request.stop, request.max_tokens) == ((), engine.max_context)


def test_grammar_is_compiled_and_passed_on(
    client: httpx.Client, engine: FakeEngine, compiler: FakeCompiler
) -> None:
    assert post(client, guided_grammar='root ::= "a"').status_code == 200
    assert compiler.compiled == ['root ::= "a"']
    assert engine.requests[0].grammar is not None


CAPTURES = (("word", "é".encode()), ("byte", b"\xc3"), ("word", b""))
CAPTURES_IN_JSON = [
    {"name": "word", "text": "é"},
    {"name": "byte", "base64": "ww=="},
    {"name": "word", "text": ""},
]


@pytest.mark.parametrize("reason", ["stop", "length"])
def test_captures_are_on_the_choice(client: httpx.Client, engine: FakeEngine, reason: Any) -> None:
    engine.script = lambda request: [TextDelta("é", (1,)), TextDelta("", (2,), reason, captures=CAPTURES)]
    response = post(client, guided_grammar='root ::= "é"', return_captures=True)
    assert response.json()["choices"][0]["captures"] == CAPTURES_IN_JSON
    assert engine.requests[0].return_captures


def test_no_captures_is_an_empty_list(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: [TextDelta("a", (1,), "stop", captures=())]
    response = post(client, guided_grammar='root ::= "a"', return_captures=True)
    assert response.json()["choices"][0]["captures"] == []


def test_captures_are_absent_unless_asked_for(client: httpx.Client, engine: FakeEngine) -> None:
    for wanted in (False, None):
        response = post(client, guided_grammar='root ::= "a"', return_captures=wanted)
        assert "captures" not in response.json()["choices"][0]
    assert not any(request.return_captures for request in engine.requests)


def test_conversation_is_rendered_with_the_template(client: httpx.Client, engine: FakeEngine) -> None:
    messages = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "assistant", "content": "c", "refusal": None, "annotations": [], "tool_calls": None},
        {"role": "user", "content": "d"},
    ]
    response = client.post(
        URL, json={"messages": messages, "chat_template_kwargs": {"enable_thinking": False}}
    )
    assert response.status_code == 200, response.text
    expected = "<|system|>Be brief.\n<|user|>a\nb\n<|assistant|>c\n<|user|>d\n<|assistant|>no-think"
    assert prompt_text(engine.requests[0].prompt_token_ids) == expected


# --- refusals


@pytest.mark.parametrize("stream", [False, True])
def test_bad_field_is_refused_by_name(client: httpx.Client, engine: FakeEngine, stream: bool) -> None:
    error = refusal(post(client, guided_grammer='root ::= "a"', stream=stream))
    assert error["param"] == "guided_grammer"
    assert "Did you mean 'guided_grammar'?" in error["message"]
    assert error["type"] == "invalid_request_error"
    assert engine.requests == []


@pytest.mark.parametrize("stream", [False, True])
def test_captures_without_a_grammar_are_refused(client: httpx.Client, stream: bool) -> None:
    error = refusal(post(client, return_captures=True, stream=stream))
    assert error["param"] == "return_captures"
    assert "guided_grammar" in error["message"]


def test_unknown_model(client: httpx.Client) -> None:
    error = refusal(post(client, model="gpt-4"), 404)
    assert (error["param"], error["code"]) == ("model", "model_not_found")


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'"x"', b"\xff\xfe", b'{"a": NaN}', b"[" * 100_000, b'{"messages": "\\ud800"}'],
    ids=["empty", "cut", "list", "string", "bytes", "nan", "deep", "surrogate"],
)
def test_body_that_is_not_a_json_object(client: httpx.Client, body: bytes) -> None:
    response = client.post(URL, content=body, headers={"Content-Type": "application/json"})
    assert refusal(response)["code"] == "invalid_json"


@pytest.mark.parametrize(
    "body",
    [
        b'{"guided_grammar": "root ::= \\"a\\"", "messages": [], "guided_grammar": null}',
        b'{"messages": [{"role": "user", "content": "a", "rol\\u0065": "system"}]}',
        b'{"messages": [], "chat_template_kwargs": {"x": [1, {"a": 1, "b": 2.5, "a": 1}]}}',
    ],
    ids=["top", "escaped", "deep"],
)
def test_a_key_that_is_there_twice(client: httpx.Client, engine: FakeEngine, body: bytes) -> None:
    response = client.post(URL, content=body, headers={"Content-Type": "application/json"})
    error = refusal(response)
    assert error["code"] == "invalid_json"
    assert "twice" in error["message"]
    assert engine.requests == []


def test_other_content_type(client: httpx.Client) -> None:
    response = client.post(URL, content=b"{}", headers={"Content-Type": "text/plain"})
    assert refusal(response)["code"] == "invalid_content_type"


def test_body_that_is_too_large(client: httpx.Client, settings: ServerSettings) -> None:
    error = refusal(post(client, user="x" * settings.max_body_bytes), 413)
    assert f"{settings.max_body_bytes:,}" in error["message"]


class TestSlowBody:
    @pytest.fixture
    def settings(self) -> ServerSettings:
        return ServerSettings(body_timeout_s=0.2, access_log=False)

    def test_body_that_takes_too_long(self, client: httpx.Client) -> None:
        def drip() -> Iterator[bytes]:
            yield b'{"messages"'
            time.sleep(0.6)
            yield b": []}"

        response = client.post(URL, content=drip(), headers={"Content-Type": "application/json"})
        assert refusal(response, 408)["code"] == "request_timeout"


@pytest.mark.parametrize("stream", [False, True])
def test_invalid_grammar_names_line_and_column(
    client: httpx.Client, engine: FakeEngine, stream: bool
) -> None:
    error = refusal(post(client, guided_grammar='root ::= "a"\n  | nothing', stream=stream))
    assert (error["param"], error["code"]) == ("guided_grammar", "invalid_grammar")
    assert "line 2, column 5" in error["message"]
    assert engine.requests == []
    assert client.get("/health").status_code == 200


def test_grammar_that_is_too_large(client: httpx.Client, settings: ServerSettings) -> None:
    error = refusal(post(client, guided_grammar="#" * (settings.grammar_max_bytes + 1)))
    assert error["code"] == "grammar_too_large"


@pytest.mark.parametrize("grammar_timeout_s", [0.3])
def test_grammar_that_takes_too_long(client: httpx.Client, compiler: FakeCompiler) -> None:
    compiler.gate.clear()
    error = refusal(post(client, guided_grammar='root ::= "a"'))
    assert (error["param"], error["code"]) == ("guided_grammar", "grammar_timeout")
    assert client.get("/health").status_code == 200


@pytest.mark.parametrize("stream", [False, True])
def test_prompt_without_room_for_an_answer(client: httpx.Client, stream: bool) -> None:
    error = refusal(post(client, messages=[{"role": "user", "content": "x" * 1000}], stream=stream))
    assert (error["param"], error["code"]) == ("messages", "context_length_exceeded")


@pytest.mark.parametrize("stream", [False, True])
def test_template_error(client: httpx.Client, stream: bool) -> None:
    error = refusal(post(client, chat_template_kwargs={"wanted_error": "no such luck"}, stream=stream))
    assert error["code"] == "chat_template_error"
    assert "no such luck" in error["message"]


@pytest.mark.parametrize("name", ["tokenize", "chat_template", "tools", "messages"])
def test_template_arguments_may_not_replace_the_servers_own(client: httpx.Client, name: str) -> None:
    error = refusal(post(client, chat_template_kwargs={name: True}))
    assert error["param"] == f"chat_template_kwargs.{name}"


def test_return_captures_needs_a_constraint(client: httpx.Client) -> None:
    assert refusal(post(client, return_captures=True))["param"] == "return_captures"


@pytest.mark.parametrize("stream", [False, True])
def test_overload(client: httpx.Client, engine: FakeEngine, stream: bool) -> None:
    engine.overloaded = True
    response = post(client, stream=stream)
    assert refusal(response, 503)["code"] == "overloaded"
    assert int(response.headers["Retry-After"]) >= 1


def test_messages_that_cannot_fit_are_refused_before_they_are_rendered(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.prompt.PromptRenderer._render", lambda *_: pytest.fail("rendered"))
    # The fake model's context has 1000 tokens of at most 2 bytes.
    for content in ("x" * 2001, "é" * 1001):
        error = refusal(post(client, messages=[{"role": "user", "content": content}]))
        assert (error["param"], error["code"]) == ("messages", "context_length_exceeded")
    two = refusal(post(client, messages=[{"role": "user", "content": "x" * 1500}] * 2))
    assert two["code"] == "context_length_exceeded"


def test_rendered_text_that_cannot_fit_is_refused(client: httpx.Client) -> None:
    error = refusal(post(client, messages=[{"role": "user", "content": "x"}] * 400))
    assert error["code"] == "context_length_exceeded"
    assert "bytes of text" in error["message"]


# --- faults


@pytest.mark.parametrize("code", ["grammar_dead_end", "grammar_limit"])
def test_a_fault_of_the_grammar_is_a_400(client: httpx.Client, engine: FakeEngine, code: Any) -> None:
    engine.script = lambda request: [
        TextDelta("a", (1,)),
        TextDelta("", (), "error", error="This is too hard.", error_code=code),
    ]
    error = refusal(post(client, guided_grammar='root ::= "ab"'))
    assert error == {
        "message": "This is too hard.",
        "type": "invalid_request_error",
        "param": "guided_grammar",
        "code": code,
    }


def test_engine_error_is_a_500_without_a_traceback(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: [TextDelta("", (), "error", error="row 3 is broken")]
    error = refusal(post(client), 500)
    assert error["type"] == "server_error"
    assert "Traceback" not in error["message"]


def test_unexpected_exception_is_a_500_without_details(
    client: httpx.Client, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(request: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(engine, "submit", explode)
    response = post(client)
    assert refusal(response, 500)["code"] == "internal_error"
    assert "secret" not in response.text


def test_aborted_generation_is_a_503(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: [TextDelta("", (), "abort")]
    assert refusal(post(client), 503)["code"] == "overloaded"


def test_unknown_path_and_method(client: httpx.Client) -> None:
    assert refusal(client.get("/v2/nothing"), 404)["code"] == "unknown_url"
    assert refusal(client.get(URL), 405)["code"] == "unknown_url"


# --- leaving


def test_client_that_leaves_cancels_its_whole_answer(client: httpx.Client, engine: FakeEngine) -> None:
    engine.step_s = 60
    with pytest.raises(httpx.ReadTimeout):
        client.post(URL, json={"messages": HELLO}, timeout=0.3)
    wait_until(lambda: engine.cancelled)
    assert engine.cancelled == [engine.requests[0].request_id]


def test_client_that_leaves_a_compiling_grammar_leaves_nothing_running(
    client: httpx.Client, engine: FakeEngine, compiler: FakeCompiler
) -> None:
    compiler.gate.clear()
    engine.step_s = 60
    with pytest.raises(httpx.ReadTimeout):
        client.post(URL, json={"messages": HELLO, "guided_grammar": 'root ::= "a"'}, timeout=0.2)
    time.sleep(0.1)
    compiler.gate.set()
    time.sleep(0.1)
    assert len(engine.requests) == len(engine.cancelled)


def test_requests_are_answered_while_grammars_compile(client: httpx.Client, compiler: FakeCompiler) -> None:
    compiler.gate.clear()
    answers: list[int] = []
    grammar = {"messages": HELLO, "guided_grammar": 'root ::= "a"'}

    def ask() -> None:
        answers.append(httpx.post(client.base_url.join(URL), json=grammar, timeout=60).status_code)

    waiting = [threading.Thread(target=ask) for _ in range(4)]
    for thread in waiting:
        thread.start()
    wait_until(lambda: compiler.compiled)
    assert post(client).status_code == 200
    compiler.gate.set()
    for thread in waiting:
        thread.join()
    assert answers == [200] * 4


def test_answer_is_utf8_json(client: httpx.Client) -> None:
    response = post(client)
    assert response.headers["content-type"] == "application/json"
    assert json.loads(response.content)["choices"][0]["message"]["content"] == "Hello, wörld!"
