"""``POST /v1/completions``: whole and streamed answers to prompts of every shape."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from models.logprobs import LogprobsWanted, TokenLogprobs
from server.engine import GenerationRequest, TextDelta
from tests.server.fakes import MODEL_NAME, FakeCompiler, FakeEngine, prompt_text, spell
from tests.server.running_server import wait_until
from tests.server.test_chat_completions import refusal
from tests.server.test_chat_output import ENTRIES, with_logprobs

URL = "/v1/completions"


def post(client: httpx.Client, prompt: Any = "Say it", **fields: Any) -> httpx.Response:
    return client.post(URL, json={"prompt": prompt, **fields})


def good(client: httpx.Client, prompt: Any = "Say it", **fields: Any) -> dict[str, Any]:
    response = post(client, prompt, **fields)
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


def chunks(client: httpx.Client, prompt: Any = "Say it", **fields: Any) -> list[dict[str, Any]]:
    response = post(client, prompt, stream=True, **fields)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    *texts, done, rest = response.text.split("\n\n")
    assert (done, rest) == ("data: [DONE]", "")
    return [json.loads(text.removeprefix("data: ")) for text in texts]


def echo_prompt(request: GenerationRequest) -> list[TextDelta]:
    return spell(f"<{prompt_text(request.prompt_token_ids)}|{request.sampling.seed}>")


def test_whole_answer_has_the_shape_of_the_api(client: httpx.Client, engine: FakeEngine) -> None:
    body = good(client, model=MODEL_NAME)
    assert body["id"].startswith("cmpl-")
    assert (body["object"], body["model"]) == ("text_completion", MODEL_NAME)
    assert body["choices"] == [
        {
            "index": 0,
            "text": "Hello, wörld!",
            "logprobs": None,
            "finish_reason": "stop",
            "stop_reason": None,
        }
    ]
    assert body["usage"] == {
        "prompt_tokens": 6,
        "completion_tokens": 6,
        "total_tokens": 12,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }
    [request] = engine.requests
    assert (request.max_tokens, request.grammar, request.logprobs) == (16, None, None)


def test_stream_has_the_shape_of_the_api(client: httpx.Client) -> None:
    *parts, last, usage = chunks(client, stream_options={"include_usage": True})
    assert [part["choices"][0]["text"] for part in parts] == ["Hel", "lo,", " wö", "rld", "!"]
    for part in (*parts, last, usage):
        assert (part["object"], part["id"]) == ("text_completion", usage["id"])
    assert parts[0]["choices"] == [
        {"index": 0, "text": "Hel", "logprobs": None, "finish_reason": None, "stop_reason": None}
    ]
    assert last["choices"][0]["finish_reason"] == "stop"
    assert all(part["usage"] is None for part in (*parts, last))
    assert (usage["choices"], usage["usage"]["completion_tokens"]) == ([], 6)


@pytest.mark.parametrize(
    ("prompt", "texts"),
    [
        ("ab", ["ab"]),
        (["ab", "c"], ["ab", "c"]),
        ([97, 98], ["ab"]),
        ([[97, 98], [99]], ["ab", "c"]),
    ],
)
def test_prompts_of_every_shape(
    client: httpx.Client, engine: FakeEngine, prompt: Any, texts: list[str]
) -> None:
    # Ids of this tokenizer are in the order of its alphabet; the prompt with ids is given by ids.
    ids = {text: [ord(c) for c in text] for text in texts}
    body = good(client, prompt)
    assert [choice["index"] for choice in body["choices"]] == list(range(len(texts)))
    for request, text in zip(engine.requests, texts, strict=True):
        if isinstance(prompt, str) or isinstance(prompt[0], str):
            assert prompt_text(request.prompt_token_ids) == text
        else:
            assert request.prompt_token_ids == ids[text]
    assert body["usage"]["prompt_tokens"] == sum(map(len, texts))


def test_choices_of_several_prompts(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = echo_prompt
    body = good(client, ["a", "b"], n=2, seed=5)
    assert [choice["text"] for choice in body["choices"]] == ["<a|5>", "<a|6>", "<b|5>", "<b|6>"]
    streamed: dict[int, str] = {}
    for part in chunks(client, ["a", "b"], n=2, seed=5):
        [choice] = part["choices"]
        streamed[choice["index"]] = streamed.get(choice["index"], "") + choice["text"]
    assert [streamed[index] for index in range(4)] == ["<a|5>", "<a|6>", "<b|5>", "<b|6>"]


def test_best_of_gives_the_likeliest(client: httpx.Client, engine: FakeEngine) -> None:
    def script(request: GenerationRequest) -> list[TextDelta]:
        seed = request.sampling.seed or 0
        logprob = (-3.0, -1.0, -2.0)[seed]
        return [TextDelta(f"{seed}", (97,), "stop", logprobs=(TokenLogprobs(97, logprob, 1),))]

    engine.script = script
    body = good(client, best_of=3, n=2, seed=0)
    assert [choice["text"] for choice in body["choices"]] == ["1", "2"]
    assert [choice["index"] for choice in body["choices"]] == [0, 1]
    assert body["choices"][0]["logprobs"] is None
    assert body["usage"]["completion_tokens"] == 3
    assert engine.requests[0].logprobs == LogprobsWanted(0)


# --- logprobs and echo


def test_logprobs(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = with_logprobs
    [choice] = good(client, logprobs=2)["choices"]
    assert choice["logprobs"] == {
        "text_offset": [0, 1, 1, 2],
        "token_logprobs": [-0.5, -9999.0, -2.0, -3.0],
        "tokens": ["a", "bytes:\\xc3", "bytes:\\xa9", "\x02"],
        "top_logprobs": [
            {"a": -0.5, "bytes:\\xc3": -1.5},
            {"a": -0.25, "b": -9999.0, "bytes:\\xc3": -9999.0},
            {"bytes:\\xa9": -2.0},
            {"\x02": -3.0},
        ],
    }
    assert engine.requests[0].logprobs == LogprobsWanted(2)
    [bare] = good(client, logprobs=0)["choices"]
    assert bare["logprobs"]["top_logprobs"] == [None] * 4


def test_streamed_logprobs(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = with_logprobs
    logprobs = [part["choices"][0]["logprobs"] for part in chunks(client, logprobs=1)]
    assert [entry["tokens"] for entry in logprobs] == [["a"], ["bytes:\\xc3", "bytes:\\xa9"], ["\x02"]]
    assert [entry["text_offset"] for entry in logprobs] == [[0], [1, 1], [2]]


def test_echo(client: httpx.Client, engine: FakeEngine) -> None:
    assert good(client, "Say: ", echo=True)["choices"][0]["text"] == "Say: Hello, wörld!"
    assert "".join(part["choices"][0]["text"] for part in chunks(client, "Say: ", echo=True)) == (
        "Say: Hello, wörld!"
    )
    ids = engine.requests[0].prompt_token_ids
    assert good(client, ids, echo=True)["choices"][0]["text"] == "Say: Hello, wörld!"
    cut = good(client, "Say: ", echo=True, truncate_prompt_tokens=2)
    assert cut["choices"][0]["text"] == ": Hello, wörld!"


def judged(request: GenerationRequest) -> list[TextDelta]:
    prompt = tuple(TokenLogprobs(token, -1.0, 1) for token in request.prompt_token_ids[1:])
    return [TextDelta("x", (97,), "length", logprobs=ENTRIES[:1], prompt_logprobs=prompt)]


@pytest.mark.parametrize("stream", [False, True])
def test_a_prompt_alone(client: httpx.Client, engine: FakeEngine, stream: bool) -> None:
    engine.script = judged
    if stream:
        text = "".join(part["choices"][0]["text"] for part in chunks(client, "abc", echo=True, max_tokens=0))
        assert text == "abc"
        return
    body = good(client, "abc", echo=True, max_tokens=0, logprobs=0)
    [choice] = body["choices"]
    assert (choice["text"], choice["finish_reason"]) == ("abc", "length")
    assert choice["logprobs"]["token_logprobs"] == [None, -1.0, -1.0]
    assert body["usage"]["completion_tokens"] == 0
    assert engine.requests[0].prompt_logprobs == 0


def test_logprobs_of_prompt_and_answer(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = judged
    [choice] = good(client, "abc", echo=True, logprobs=1)["choices"]
    assert choice["logprobs"]["token_logprobs"] == [None, -1.0, -1.0, -0.5]
    assert choice["logprobs"]["text_offset"][:3] == [0, 1, 2]


def test_prompt_logprobs_and_token_ids(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = judged
    first, second, *_ = good(client, ["ab", "c"], n=2, prompt_logprobs=1, return_token_ids=True)["choices"]
    assert first["prompt_logprobs"] == second["prompt_logprobs"]
    assert first["prompt_logprobs"][0] is None
    assert len(first["prompt_logprobs"]) == 2
    assert (first["token_ids"], len(first["prompt_token_ids"])) == ([97], 2)
    *_, last = chunks(client, "ab", return_token_ids=True)
    assert last["choices"][0]["token_ids"] == [97]


# --- constraints and refusals


def test_grammar_and_captures(client: httpx.Client, engine: FakeEngine, compiler: FakeCompiler) -> None:
    engine.script = lambda request: [TextDelta("a", (1,), "stop", captures=(("x", b"a"),))]
    fields = {"guided_grammar": 'root ::= "a"', "return_captures": True}
    [choice] = good(client, **fields)["choices"]
    assert choice["captures"] == [{"name": "x", "text": "a"}]
    assert compiler.compiled == ['root ::= "a"']
    assert chunks(client, **fields)[-1]["choices"][0]["captures"] == [{"name": "x", "text": "a"}]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"guided_grammar": "root ::="}, "guided_grammar"),
        ({"guided_grammar": 'root ::= "a"', "guided_regex": "a"}, "guided_regex"),
        ({"guided_grammer": "x"}, "guided_grammer"),
        ({"tools": []}, "tools"),
        ({"prompt": "x" * 1000}, "prompt"),
        ({"prompt": "x" * 100_000}, "prompt"),
        ({"prompt": [256]}, "prompt"),
        ({"prompt": ""}, "prompt"),
        ({"logprobs": 21}, "logprobs"),
        ({"n": 2, "temperature": 0}, "n"),
        ({"n": 128, "prompt": ["a", "b"]}, "n"),
        ({"suffix": "x"}, "suffix"),
    ],
)
def test_refusals_come_before_the_answer(
    client: httpx.Client, engine: FakeEngine, fields: dict[str, Any], param: str, stream: bool
) -> None:
    assert refusal(post(client, stream=stream, **fields))["param"] == param
    assert engine.requests == [] or param == "prompt"


def test_missing_prompt_and_unknown_model(client: httpx.Client) -> None:
    assert refusal(client.post(URL, json={}))["code"] == "missing_required_parameter"
    assert refusal(post(client, model="gpt-4"), 404)["code"] == "model_not_found"


@pytest.mark.parametrize("stream", [False, True])
def test_overload(client: httpx.Client, engine: FakeEngine, stream: bool) -> None:
    engine.overloaded = True
    assert refusal(post(client, stream=stream), 503)["code"] == "overloaded"


def test_faults(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: [TextDelta("a", (1,)), TextDelta("", (), "error", error="broken")]
    assert refusal(post(client), 500)["type"] == "server_error"
    *_, failure = chunks(client)
    assert failure["error"]["type"] == "server_error"
    engine.script = lambda request: [
        TextDelta("", (), "error", error="Too hard.", error_code="grammar_limit")
    ]
    assert refusal(post(client, guided_grammar='root ::= "a"'))["param"] == "guided_grammar"


def test_leaving_cancels_everything(client: httpx.Client, engine: FakeEngine) -> None:
    engine.step_s = 60
    with pytest.raises(httpx.ReadTimeout):
        client.post(URL, json={"prompt": ["a", "b"], "n": 2}, timeout=0.3)
    wait_until(lambda: engine.running == 0)
    assert len(engine.requests) == 4
