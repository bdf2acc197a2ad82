"""Ranges of the fields that all generating endpoints share, and how they go together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from server.errors import ApiError
from server.schemas.chat_request import parse_chat_request
from server.schemas.completion_request import parse_completion_request
from server.schemas.sampling_fields import MAX_BAD_WORDS, MAX_BIASES, MAX_CHOICES

Parse = Callable[..., Any]


def parse_chat(**fields: Any) -> Any:
    return parse_chat_request({"messages": [{"role": "user", "content": "hi"}], **fields})


def parse_completion(**fields: Any) -> Any:
    return parse_completion_request({"prompt": "hi", **fields})


both = pytest.mark.parametrize("parse", [parse_chat, parse_completion], ids=["chat", "completions"])

BAD: list[tuple[dict[str, Any], str]] = [
    ({"n": 0}, "n"),
    ({"n": MAX_CHOICES + 1}, "n"),
    ({"n": True}, "n"),
    ({"presence_penalty": 2.1}, "presence_penalty"),
    ({"frequency_penalty": -2.1}, "frequency_penalty"),
    ({"repetition_penalty": 0}, "repetition_penalty"),
    ({"repetition_penalty": -1.0}, "repetition_penalty"),
    ({"min_p": 1.1}, "min_p"),
    ({"seed": 2**63}, "seed"),
    ({"logit_bias": {"a": 1}}, "logit_bias"),
    ({"logit_bias": {"-1": 1}}, "logit_bias"),
    ({"logit_bias": {"1.5": 1}}, "logit_bias"),
    ({"logit_bias": {"1": 101}}, "logit_bias.1"),
    ({"logit_bias": [1]}, "logit_bias"),
    ({"logit_bias": {str(i): 1 for i in range(MAX_BIASES + 1)}}, "logit_bias"),
    ({"allowed_token_ids": []}, "allowed_token_ids"),
    ({"allowed_token_ids": [-1]}, "allowed_token_ids[0]"),
    ({"allowed_token_ids": ["a"]}, "allowed_token_ids[0]"),
    ({"bad_words": [""]}, "bad_words[0]"),
    ({"bad_words": "word"}, "bad_words"),
    ({"bad_words": ["a"] * (MAX_BAD_WORDS + 1)}, "bad_words"),
    ({"bad_words": [f"{i}" + "x" * 250 for i in range(17)]}, "bad_words"),
    ({"min_tokens": -1}, "min_tokens"),
    ({"min_tokens": 5, "max_tokens": 4}, "min_tokens"),
    ({"ignore_eos": 1}, "ignore_eos"),
    ({"stop_token_ids": [-1]}, "stop_token_ids[0]"),
    ({"include_stop_str_in_output": "no"}, "include_stop_str_in_output"),
    ({"skip_special_tokens": 0}, "skip_special_tokens"),
    ({"truncate_prompt_tokens": -2}, "truncate_prompt_tokens"),
    ({"truncate_prompt_tokens": 5, "truncation_side": "middle"}, "truncation_side"),
    ({"truncation_side": "left"}, "truncation_side"),
    ({"priority": 2**63}, "priority"),
    ({"request_id": ""}, "request_id"),
    ({"request_id": "a b"}, "request_id"),
    ({"cache_salt": ""}, "cache_salt"),
    ({"stream_options": {"include_usage": True}}, "stream_options"),
    ({"stream": True, "stream_options": {"include_obfuscation": True}}, "stream_options.include_obfuscation"),
    ({"stream": True, "prompt_logprobs": 1}, "prompt_logprobs"),
    ({"prompt_logprobs": -1}, "prompt_logprobs"),
    ({"logprobs_mode": "processed_logprobs"}, "logprobs_mode"),
    ({"logprobs_mode": "raw_logits", "prompt_logprobs": 1}, "logprobs_mode"),
    ({"return_tokens_as_token_ids": True}, "return_tokens_as_token_ids"),
    ({"return_token_ids": "yes"}, "return_token_ids"),
]


@both
@pytest.mark.parametrize(("fields", "param"), BAD)
def test_bad_fields_are_refused_by_name(parse: Parse, fields: dict[str, Any], param: str) -> None:
    with pytest.raises(ApiError) as caught:
        parse(**fields)
    assert (caught.value.status, caught.value.param) == (400, param)


@both
@pytest.mark.parametrize(
    "fields",
    [
        {"n": MAX_CHOICES},
        {"presence_penalty": -2, "frequency_penalty": 2, "repetition_penalty": 1e9},
        {"logit_bias": {"0": -100, "15": 100.0}},
        {"allowed_token_ids": [0, 5]},
        {"bad_words": []},
        {"min_tokens": 4, "max_tokens": 4},
        {"stop": "a", "stop_token_ids": [], "include_stop_str_in_output": True, "ignore_eos": True},
        {"skip_special_tokens": False, "spaces_between_special_tokens": False},
        {"truncate_prompt_tokens": -1, "truncation_side": "right"},
        {"priority": -5},
        {"request_id": "a-1.2_3:x", "cache_salt": "salt", "user": "u"},
        {"stream": True, "stream_options": {"include_usage": True, "continuous_usage_stats": True}},
        {"prompt_logprobs": 0, "return_tokens_as_token_ids": True, "logprobs_mode": "raw_logprobs"},
        {"return_token_ids": True, "echo": True},
    ],
)
def test_good_fields_pass(parse: Parse, fields: dict[str, Any]) -> None:
    request = parse(**fields)
    for name, value in fields.items():
        if not isinstance(value, dict) and name != "stop":
            assert getattr(request, name) == value


@both
def test_every_field_may_be_null(parse: Parse) -> None:
    fields = type(parse()).model_fields
    assert parse(**{name: None for name in fields if name not in ("messages", "prompt")})


CHAT_ONLY: list[tuple[dict[str, Any], str]] = [
    ({"top_logprobs": 2}, "top_logprobs"),
    ({"logprobs": True, "top_logprobs": -1}, "top_logprobs"),
    ({"logprobs": 1}, "logprobs"),
    ({"continue_final_message": True}, "continue_final_message"),
    ({"continue_final_message": True, "add_generation_prompt": True}, "continue_final_message"),
    ({"chat_template": 5}, "chat_template"),
    ({"documents": [{"text": 5}]}, "documents[0].text"),
    ({"min_tokens": 5, "max_tokens": 9, "max_completion_tokens": 4}, "min_tokens"),
]


@pytest.mark.parametrize(("fields", "param"), CHAT_ONLY)
def test_bad_fields_of_chat(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(ApiError) as caught:
        parse_chat(**fields)
    assert (caught.value.status, caught.value.param) == (400, param)


COMPLETIONS_ONLY: list[tuple[dict[str, Any], str]] = [
    ({"prompt": []}, "prompt"),
    ({"prompt": [[]]}, "prompt"),
    ({"prompt": 5}, "prompt"),
    ({"prompt": [1, "a"]}, "prompt"),
    ({"prompt": [-1]}, "prompt"),
    ({"prompt": [True]}, "prompt"),
    ({"prompt": [[1], [2.5]]}, "prompt"),
    ({"prompt": None}, "prompt"),
    ({"logprobs": True}, "logprobs"),
    ({"logprobs": -1}, "logprobs"),
    ({"max_tokens": 0}, "max_tokens"),
    ({"best_of": 2, "n": 3}, "best_of"),
    ({"best_of": 0}, "best_of"),
    ({"best_of": 3, "stream": True}, "best_of"),
    ({"echo": True, "logprobs": 1, "stream": True}, "echo"),
    ({"suffix": "x"}, "suffix"),
    ({"messages": []}, "messages"),
    ({"min_tokens": 17}, "min_tokens"),
    ({"prompt": ["a"] * 1025}, "prompt"),
]


@pytest.mark.parametrize(("fields", "param"), COMPLETIONS_ONLY)
def test_bad_fields_of_completions(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(ApiError) as caught:
        parse_completion(**fields)
    assert (caught.value.status, caught.value.param) == (400, param)


@pytest.mark.parametrize(
    ("prompt", "prompts"),
    [
        ("a", ["a"]),
        ("", [""]),
        (["a", "b"], ["a", "b"]),
        ([1, 2], [[1, 2]]),
        ([[1], [2, 3]], [[1], [2, 3]]),
        (["a", [2, 3]], ["a", [2, 3]]),
    ],
)
def test_prompts(prompt: Any, prompts: list[Any]) -> None:
    assert parse_completion(prompt=prompt).prompts == prompts
