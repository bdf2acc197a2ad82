"""Chat completions with several choices, logprobs, token ids and the other fields about the output."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import httpx
import pytest

from models.logprobs import LogprobsWanted, TokenLogprobs
from server.engine import GenerationRequest, TextDelta
from server.logprob_format import LEAST_LOGPROB
from server.settings import ServerSettings
from tests.server.fakes import FakeEngine, prompt_text, spell
from tests.server.running_server import wait_until
from tests.server.test_chat_completions import HELLO, URL, post, refusal
from tests.server.test_streaming import chunks

PROMPT = "<|user|>hi\n<|assistant|>"


def by_seed(request: GenerationRequest) -> list[TextDelta]:
    return spell(f"answer {request.sampling.seed}")


# --- several choices


def test_choices_have_their_own_seeds_and_numbers(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = by_seed
    body = post(client, n=3, seed=7).json()
    assert [choice["index"] for choice in body["choices"]] == [0, 1, 2]
    texts = [choice["message"]["content"] for choice in body["choices"]]
    assert texts == ["answer 7", "answer 8", "answer 9"]
    assert body["usage"]["completion_tokens"] == 3 * 4
    assert body["usage"]["prompt_tokens"] == len(PROMPT)


def test_seeds_wrap_at_their_greatest(client: httpx.Client, engine: FakeEngine) -> None:
    post(client, n=2, seed=2**63 - 1)
    assert [request.sampling.seed for request in engine.requests] == [2**63 - 1, -(2**63)]


def test_choices_share_the_grammar_and_nothing_else(client: httpx.Client, engine: FakeEngine) -> None:
    post(client, n=2, guided_grammar='root ::= "a"')
    first, second = engine.requests
    assert first.grammar is second.grammar is not None
    assert first.sampling.seed is None


def test_streamed_choices_are_told_apart(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = by_seed
    parts = chunks(client, n=3, seed=1, stream_options={"include_usage": True})
    texts = {0: "", 1: "", 2: ""}
    reasons = {}
    for chunk in parts[:-1]:
        [choice] = chunk["choices"]
        texts[choice["index"]] += choice["delta"].get("content", "")
        if choice["finish_reason"]:
            reasons[choice["index"]] = choice["finish_reason"]
    assert texts == {0: "answer 1", 1: "answer 2", 2: "answer 3"}
    assert reasons == dict.fromkeys(range(3), "stop")
    assert [chunk["choices"][0]["delta"].get("role") for chunk in parts[:3]] == ["assistant"] * 3
    assert parts[-1]["usage"]["completion_tokens"] == 3 * 4


def test_greedy_choices_would_all_be_the_same(client: httpx.Client) -> None:
    assert refusal(post(client, n=2, temperature=0))["param"] == "n"


def test_more_choices_than_the_server_ever_computes(client: httpx.Client, engine: FakeEngine) -> None:
    engine.max_pending = 3
    assert post(client, n=3).status_code == 200
    assert refusal(post(client, n=4))["param"] == "n"


@pytest.mark.parametrize("stream", [False, True])
def test_overload_in_the_middle_leaves_no_choice_behind(
    client: httpx.Client, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, stream: bool
) -> None:
    engine.step_s = 60
    submit = engine.submit

    def submit_two(request: GenerationRequest) -> Any:
        engine.overloaded = len(engine.requests) >= 2
        return submit(request)

    monkeypatch.setattr(engine, "submit", submit_two)
    assert refusal(post(client, n=4, stream=stream), 503)["code"] == "overloaded"
    wait_until(lambda: engine.running == 0)


def test_a_fault_of_one_choice_ends_all(client: httpx.Client, engine: FakeEngine) -> None:
    def fail_second(request: GenerationRequest) -> list[TextDelta]:
        if request.sampling.seed == 2:
            return [TextDelta("", (), "error", error="broken")]
        return spell("x" * 3000)

    engine.script, engine.step_s = fail_second, 0.01
    assert refusal(post(client, n=2, seed=1), 500)["code"] == "internal_error"
    wait_until(lambda: engine.running == 0)


def test_leaving_a_stream_ends_all_choices(client: httpx.Client, engine: FakeEngine) -> None:
    engine.step_s = 60
    with client.stream("POST", URL, json={"messages": HELLO, "stream": True, "n": 5}) as response:
        lines = response.iter_lines()
        next(lines)
        assert engine.running == 5
    wait_until(lambda: engine.running == 0)


# --- logprobs

ENTRIES = (
    TokenLogprobs(ord("a"), -0.5, 1, ((ord("a"), -0.5), (0xC3, -1.5))),
    TokenLogprobs(0xC3, -math.inf, 9, ((ord("a"), -0.25), (ord("b"), -math.inf))),
    TokenLogprobs(0xA9, -2.0, 2, ()),
    TokenLogprobs(2, -3.0, 1, ()),
)


def with_logprobs(request: GenerationRequest) -> list[TextDelta]:
    """Text that lags behind its tokens."""
    ends = (None, None, None, "stop")
    return [
        TextDelta(text, (entry.token_id,), reason, logprobs=(entry,))  # type: ignore[arg-type]
        for text, entry, reason in zip(("a", "", "é", ""), ENTRIES, ends, strict=True)
    ]


def test_logprobs_of_a_whole_answer(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = with_logprobs
    [choice] = post(client, logprobs=True, top_logprobs=2).json()["choices"]
    first, second, *_ = content = choice["logprobs"]["content"]
    assert len(content) == 4
    assert first == {
        "token": "a",
        "logprob": -0.5,
        "bytes": [97],
        "top_logprobs": [
            {"token": "a", "logprob": -0.5, "bytes": [97]},
            {"token": "\ufffd", "logprob": -1.5, "bytes": [0xC3]},
        ],
    }
    assert (second["logprob"], second["bytes"]) == (LEAST_LOGPROB, [0xC3])
    assert engine.requests[0].logprobs == LogprobsWanted(2, processed=False)
    assert bytes(byte for entry in content for byte in entry["bytes"]) == "aé\x02".encode()


def test_streamed_logprobs_go_with_the_text(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = with_logprobs
    _, a, e, last = [chunk["choices"][0] for chunk in chunks(client, logprobs=True)]
    names = [[entry["bytes"] for entry in choice["logprobs"]["content"]] for choice in (a, e, last)]
    assert names == [[[97]], [[0xC3], [0xA9]], [[2]]]


def test_no_logprobs_unless_wanted(client: httpx.Client, engine: FakeEngine) -> None:
    assert post(client, logprobs=False, top_logprobs=0).json()["choices"][0]["logprobs"] is None
    assert engine.requests[0].logprobs is None


def test_logprobs_after_the_mask_and_names_by_id(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = with_logprobs
    fields = {"logprobs_mode": "processed_logprobs", "return_tokens_as_token_ids": True}
    [choice] = post(client, logprobs=True, **fields).json()["choices"]
    assert [entry["token"] for entry in choice["logprobs"]["content"]][:2] == ["token_id:97", "token_id:195"]
    assert engine.requests[0].logprobs == LogprobsWanted(0, processed=True)


@pytest.mark.parametrize(
    ("fields", "param"),
    [({"logprobs": True, "top_logprobs": 21}, "top_logprobs"), ({"prompt_logprobs": 21}, "prompt_logprobs")],
)
def test_more_logprobs_than_the_server_gives(
    client: httpx.Client, fields: dict[str, Any], param: str, settings: ServerSettings
) -> None:
    error = refusal(post(client, **fields))
    assert error["param"] == param
    assert str(settings.max_logprobs) in error["message"]


def test_prompt_logprobs(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: [TextDelta("x", (1,), "stop", prompt_logprobs=ENTRIES[:2])]
    body = post(client, prompt_logprobs=2, n=2).json()
    first, second, third = body["prompt_logprobs"]
    assert first is None
    assert second["97"] == {"logprob": -0.5, "rank": 1, "decoded_token": "a"}
    assert third["195"]["rank"] == 9
    assert third["98"]["logprob"] == LEAST_LOGPROB
    assert [request.prompt_logprobs for request in engine.requests] == [2, None]
    assert "prompt_logprobs" not in post(client).json()


# --- token ids, usage, echo


def test_token_ids(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = with_logprobs
    body = post(client, return_token_ids=True).json()
    assert body["choices"][0]["token_ids"] == [97, 0xC3, 0xA9, 2]
    assert prompt_text(body["prompt_token_ids"]) == PROMPT
    plain = post(client).json()
    assert "token_ids" not in plain["choices"][0]
    assert "prompt_token_ids" not in plain


def test_streamed_token_ids(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = with_logprobs
    parts = chunks(client, return_token_ids=True)
    assert prompt_text(parts[0]["prompt_token_ids"]) == PROMPT
    assert not any("prompt_token_ids" in part for part in parts[1:])
    assert [part["choices"][0]["token_ids"] for part in parts] == [[], [97], [0xC3, 0xA9], [2]]


def test_running_usage(client: httpx.Client) -> None:
    options = {"continuous_usage_stats": True, "include_usage": True}
    counts = [chunk["usage"]["completion_tokens"] for chunk in chunks(client, stream_options=options)]
    assert counts == [0, 1, 2, 3, 4, 5, 6, 6]


@pytest.mark.parametrize("echo", [True, False])
def test_a_continued_message_can_be_echoed(client: httpx.Client, engine: FakeEngine, echo: bool) -> None:
    messages = [*HELLO, {"role": "assistant", "content": "Well, "}]
    fields = {"messages": messages, "continue_final_message": True, "echo": echo}
    text = post(client, **fields).json()["choices"][0]["message"]["content"]
    streamed = "".join(c["choices"][0]["delta"].get("content", "") for c in chunks(client, **fields))
    assert text == streamed == ("Well, " if echo else "") + "Hello, wörld!"
    assert prompt_text(engine.requests[0].prompt_token_ids) == "<|user|>hi\n<|assistant|>Well, "


def test_echo_of_another_s_message_adds_nothing(client: httpx.Client) -> None:
    assert post(client, echo=True).json()["choices"][0]["message"]["content"] == "Hello, wörld!"


# --- prompts


@pytest.mark.parametrize("path", ["chat/completions", "completions", "responses"])
def test_fields_that_change_nothing(client: httpx.Client, engine: FakeEngine, path: str) -> None:
    asked: dict[str, Any] = {"messages": HELLO}
    if path != "chat/completions":
        asked = {"prompt": "hi"} if path == "completions" else {"input": "hi"}
    for fields in (
        {},
        {"user": "u", "safety_identifier": "s", "prompt_cache_key": "k", "cache_salt": "c"},
        {"spaces_between_special_tokens": True},
        {"spaces_between_special_tokens": False},
    ):
        response = client.post(f"/v1/{path}", json={**asked, "seed": 1, **fields})
        assert response.status_code == 200, response.text
    same = [dataclasses.replace(request, request_id="") for request in engine.requests]
    assert len(same) == 4
    assert all(request == same[0] for request in same)


def test_a_prompt_without_the_beginning_of_an_answer(client: httpx.Client, engine: FakeEngine) -> None:
    post(client, add_generation_prompt=False)
    assert prompt_text(engine.requests[0].prompt_token_ids) == "<|user|>hi\n"


def test_truncated_prompts(client: httpx.Client, engine: FakeEngine) -> None:
    post(client, truncate_prompt_tokens=5)
    post(client, truncate_prompt_tokens=5, truncation_side="right")
    post(client, truncate_prompt_tokens=5000)
    long = [{"role": "user", "content": "x" * 1500}]
    assert post(client, messages=long, truncate_prompt_tokens=-1, max_tokens=10).status_code == 200
    prompts = [prompt_text(request.prompt_token_ids) for request in engine.requests]
    assert prompts[:3] == [PROMPT[-5:], PROMPT[:5], PROMPT]
    assert len(prompts[3]) == engine.max_context - 10
    assert refusal(post(client, truncate_prompt_tokens=0))["param"] == "truncate_prompt_tokens"


def test_documents_need_a_place(client: httpx.Client) -> None:
    error = refusal(post(client, documents=[{"text": "d"}]))
    assert (error["param"], error["code"]) == ("documents", "unsupported_parameter")


def test_a_template_of_the_request_is_refused(client: httpx.Client) -> None:
    error = refusal(post(client, chat_template="{{ messages }}"))
    assert (error["param"], error["code"]) == ("chat_template", "unsupported_parameter")


class TestWithMoreAllowed:
    @pytest.fixture
    def settings(self) -> ServerSettings:
        return ServerSettings(
            allow_request_chat_template=True,
            scheduling_policy="priority",
            max_answer_tokens=50,
            access_log=False,
        )

    def test_a_template_of_the_request(self, client: httpx.Client, engine: FakeEngine) -> None:
        template = "{% for d in documents %}[{{ d.text }}]{% endfor %}{{ messages[0].content }}"
        fields = {"chat_template": template, "documents": [{"text": "d"}, {"text": "e"}]}
        assert post(client, **fields).status_code == 200
        assert prompt_text(engine.requests[0].prompt_token_ids) == "[d][e]hi"

    def test_a_template_that_reaches_out_of_its_sandbox(self, client: httpx.Client) -> None:
        template = "{{ ''.__class__.__mro__[1].__subclasses__() }}"
        assert refusal(post(client, chat_template=template))["code"] == "chat_template_error"

    def test_priorities_reach_the_engine(self, client: httpx.Client, engine: FakeEngine) -> None:
        assert post(client, priority=-3).status_code == 200
        assert engine.requests[0].priority == -3

    def test_the_longest_answer(self, client: httpx.Client, engine: FakeEngine) -> None:
        assert post(client, max_tokens=50).status_code == 200
        assert post(client).status_code == 200
        assert [request.max_tokens for request in engine.requests] == [50, 50]
        assert refusal(post(client, max_tokens=51))["param"] == "max_tokens"


def test_priorities_are_refused_without_the_policy(client: httpx.Client) -> None:
    assert post(client, priority=0).status_code == 200
    assert refusal(post(client, priority=1))["param"] == "priority"


# --- what reaches the engine


def test_sampling_fields_reach_the_engine(client: httpx.Client, engine: FakeEngine) -> None:
    fields = {
        "presence_penalty": 0.5,
        "frequency_penalty": -0.5,
        "repetition_penalty": 1.25,
        "logit_bias": {"5": -100, "97": 1.5},
        "allowed_token_ids": [5, 97],
        "bad_words": ["no"],
        "min_tokens": 3,
        "ignore_eos": True,
        "stop_token_ids": [6],
        "include_stop_str_in_output": True,
        "skip_special_tokens": False,
        "request_id": "mine",
    }
    body = post(client, **fields).json()
    assert body["id"] == "chatcmpl-mine"
    [request] = engine.requests
    sampling = request.sampling
    assert (sampling.presence_penalty, sampling.frequency_penalty) == (0.5, -0.5)
    assert (sampling.repetition_penalty, sampling.logit_bias) == (1.25, ((5, -100), (97, 1.5)))
    assert (request.allowed_token_ids, request.bad_words, request.min_tokens) == ((5, 97), ("no",), 3)
    assert (request.ignore_eos, request.stop_token_ids, request.include_stop_text) == (True, (6,), True)
    assert request.shows_control_tokens


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"logit_bias": {"256": 1}}, "logit_bias"),
        ({"allowed_token_ids": [1, 256]}, "allowed_token_ids"),
        ({"stop_token_ids": [999]}, "stop_token_ids"),
    ],
)
def test_token_ids_that_the_model_does_not_have(
    client: httpx.Client, fields: dict[str, Any], param: str
) -> None:
    assert refusal(post(client, **fields))["param"] == param


def test_bans_that_leave_nothing_name_their_field(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: [
        TextDelta(
            "", (), "error", error="No token is left.", error_code="no_token_left", error_field="bad_words"
        )
    ]
    error = refusal(post(client, bad_words=["a"]))
    assert (error["param"], error["code"]) == ("bad_words", "no_token_left")
