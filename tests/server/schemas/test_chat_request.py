"""Which bodies are requests, and which field a refusal names."""

from __future__ import annotations

from typing import Any

import pytest

from server.errors import ApiError
from server.schemas.chat_request import MAX_MESSAGES, ChatCompletionRequest, parse_chat_request
from server.schemas.field_policy import HARMLESS_VALUES
from server.schemas.messages import AssistantMessage, UserMessage

HELLO = [{"role": "user", "content": "hi"}]


def parse(**fields: Any) -> ChatCompletionRequest:
    return parse_chat_request({"messages": HELLO, **fields})


def refusal(**fields: Any) -> ApiError:
    with pytest.raises(ApiError) as caught:
        parse(**fields)
    return caught.value


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"temperature": 2.1}, "temperature"),
        ({"temperature": -0.1}, "temperature"),
        ({"temperature": "hot"}, "temperature"),
        ({"temperature": True}, "temperature"),
        ({"top_p": 0}, "top_p"),
        ({"top_p": 1.1}, "top_p"),
        ({"top_k": -2}, "top_k"),
        ({"top_k": 1.5}, "top_k"),
        ({"min_p": 1.5}, "min_p"),
        ({"seed": 2**63}, "seed"),
        ({"stop": ""}, "stop[0]"),
        ({"stop": ["a"] * 5}, "stop"),
        ({"stop": 7}, "stop"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_completion_tokens": -1}, "max_completion_tokens"),
        ({"stream": "yes"}, "stream"),
        ({"stream_options": {"include_usage": True}}, "stream_options"),
        ({"stream": True, "stream_options": {"include": True}}, "stream_options.include"),
        ({"guided_grammar": 7}, "guided_grammar"),
        ({"return_captures": 1, "guided_grammar": 'root ::= "a"'}, "return_captures"),
        ({"chat_template_kwargs": []}, "chat_template_kwargs"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "king", "content": "a"}]}, "messages[0]"),
        ({"messages": [{"content": "a"}]}, "messages[0]"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": None}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": "a", "mood": "good"}]}, "messages[0].mood"),
        ({"messages": [*HELLO, {"role": "tool", "content": "a"}]}, "messages[1].tool_call_id"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": 7}]}]}, "messages[0].content"),
        ({"n": True}, "n"),
        ({"use_beam_search": True}, "use_beam_search"),
        ({"best_of": 2}, "best_of"),
        ({"vllm_xargs": {"a": 1}}, "vllm_xargs"),
        ({"suffix": "x"}, "suffix"),
        ({"guided_grammer": 'root ::= "a"'}, "guided_grammer"),
        ({"guided_anything": None}, "guided_anything"),
    ],
)  # fmt: skip
def test_bad_fields_are_refused_by_name(fields: dict[str, Any], param: str) -> None:
    error = refusal(**fields)
    assert (error.status, error.param, error.type) == (400, param, "invalid_request_error")
    assert param.rpartition(".")[2].partition("[")[0] in error.message


def test_missing_messages() -> None:
    with pytest.raises(ApiError) as caught:
        parse_chat_request({"model": "m"})
    assert (caught.value.param, caught.value.code) == ("messages", "missing_required_parameter")


@pytest.mark.parametrize("typo", ["guided_grammer", "guide_grammar", "guided-grammar", "Guided_grammar"])
def test_typo_of_a_field_gets_a_suggestion(typo: str) -> None:
    error = refusal(**{typo: 'root ::= "a"'})
    assert "Did you mean 'guided_grammar'?" in error.message
    assert error.code == "unknown_parameter"


def test_long_unknown_name_is_cut() -> None:
    assert len(refusal(**{"x" * 1_000_000: 1}).message) < 1000


@pytest.mark.parametrize(
    "field",
    [
        {"n": 1},
        {"presence_penalty": 0},
        {"frequency_penalty": 0.0},
        {"logprobs": False},
        {"response_format": {"type": "text"}},
        {"tools": None},
        {"logit_bias": {}},
        {"store": False},
        {"user": "u1"},
        {"metadata": {"a": "b"}},
        {"guided_json": None},
        {"top_k": 0},
        {"stream": False},
        {"return_captures": False},
        {"stop": ["a", "b", "c", "d"]},
    ],
)
def test_values_that_ask_for_nothing_special_pass(field: dict[str, Any]) -> None:
    assert parse(**field).messages == [UserMessage(role="user", content="hi")]


def test_every_unsupported_field_may_be_null_but_not_something_else() -> None:
    for name in HARMLESS_VALUES:
        assert name not in ChatCompletionRequest.model_fields
        assert parse(**{name: None})
        assert refusal(**{name: "something else"}).code == "unsupported_parameter"


def test_messages_are_bounded_in_number() -> None:
    assert len(parse(messages=HELLO * MAX_MESSAGES).messages) == MAX_MESSAGES
    error = refusal(messages=HELLO * (MAX_MESSAGES + 1))
    assert error.param == "messages"
    assert f"{MAX_MESSAGES}" in error.message


def test_max_completion_tokens_wins() -> None:
    assert parse(max_tokens=5).token_limit == 5
    assert parse(max_tokens=5, max_completion_tokens=7).token_limit == 7
    assert parse().token_limit is None


def test_stop_is_a_list() -> None:
    assert parse(stop="a").stop == ["a"]
    assert parse(stop=["a", "b"]).stop == ["a", "b"]


def test_text_parts_are_joined() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    [message] = parse(messages=[{"role": "user", "content": parts}]).messages
    assert message.content == "a\nb"


def test_echoed_answer_is_a_message() -> None:
    echoed = {"role": "assistant", "content": "a", "refusal": None, "audio": None, "tool_calls": None}
    [message] = parse(messages=[{**echoed, "annotations": []}]).messages
    assert message == AssistantMessage(role="assistant", content="a")


def test_refusal_says_which_value_would_pass() -> None:
    assert "(other than as false)" in refusal(use_beam_search=True).message
    assert "(other than as 1)" in refusal(best_of=2).message
