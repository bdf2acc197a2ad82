"""The fields of the API together with real grammars, on the embedded model, through the openai client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from openai import OpenAI

from server.app import create_app
from server.settings import ServerSettings
from tests.server.running_server import running_server

KEYS = 'root ::= "{" pair ("," pair){3} "}"\npair ::= "\\"k\\":" [0-9]'
HELLO: Any = [{"role": "user", "content": "Say something."}]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    settings = ServerSettings(device="cpu", max_batch_size=16, access_log=False, grammar_timeout_s=30)
    with running_server(create_app(settings), start_limit_s=500) as base:
        yield base


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{url}/v1", api_key="unused", max_retries=0, timeout=120) as client:
        yield client


@pytest.fixture(scope="module")
def model(client: OpenAI) -> str:
    return client.models.list().data[0].id


def chat(client: OpenAI, model: str, **fields: Any) -> Any:
    extra = {name: fields.pop(name) for name in list(fields) if name in EXTRA}
    return client.chat.completions.create(
        model=model, messages=fields.pop("messages", HELLO), extra_body=extra, **({"max_tokens": 60} | fields)
    )


EXTRA = {
    "guided_grammar", "guided_regex", "min_tokens", "ignore_eos", "bad_words", "allowed_token_ids",
    "repetition_penalty", "stop_token_ids", "include_stop_str_in_output", "prompt_logprobs",
    "return_token_ids", "skip_special_tokens", "logprobs_mode", "continue_final_message", "echo",
}  # fmt: skip


def test_penalties_do_not_break_repeated_keys(client: OpenAI, model: str) -> None:
    penalties = {"frequency_penalty": 2, "presence_penalty": 2, "repetition_penalty": 10.0}
    [choice] = chat(client, model, guided_grammar=KEYS, **penalties).choices
    assert choice.message.content.count('"k":') == 4
    assert choice.finish_reason == "stop"


def test_choices_obey_the_grammar_each_for_itself(client: OpenAI, model: str) -> None:
    answer = chat(client, model, guided_regex="[a-z]{3}-[0-9]{3}", n=6, temperature=2, seed=1)
    texts = [choice.message.content for choice in answer.choices]
    assert all(len(text) == 7 and text[3] == "-" for text in texts)
    assert len(set(texts)) > 1


def test_logprobs_under_a_mask_are_numbers(client: OpenAI, model: str) -> None:
    for mode in ("raw_logprobs", "processed_logprobs"):
        [choice] = chat(
            client, model, guided_regex="(yes|no)!", logprobs=True, top_logprobs=20, logprobs_mode=mode
        ).choices
        entries = choice.logprobs.content
        assert all(-9999 <= top.logprob <= 0 for entry in entries for top in entry.top_logprobs)
        text = bytes(byte for entry in entries[:-1] for byte in entry.bytes).decode()
        assert text == choice.message.content


def test_a_finished_grammar_ends_the_answer_whatever_the_request_says(client: OpenAI, model: str) -> None:
    for fields in ({"min_tokens": 50}, {"ignore_eos": True}, {"logit_bias": {"0": 100, "2": -100}}):
        [choice] = chat(client, model, guided_regex="(yes|no)", **fields).choices
        assert choice.message.content in ("yes", "no")
        assert choice.finish_reason == "stop"


def test_min_tokens_keeps_an_open_grammar_going(client: OpenAI, model: str) -> None:
    fields: dict[str, Any] = {"guided_regex": "[a-z ]*", "min_tokens": 20, "logit_bias": {"2": 100}}
    answer = chat(client, model, **fields)
    assert answer.usage.completion_tokens >= 20


def test_stop_inside_a_string_of_json(client: OpenAI, model: str) -> None:
    grammar = 'root ::= "{\\"a\\": \\"one two three\\"}"'
    [cut] = chat(client, model, guided_grammar=grammar, stop="two").choices
    assert (cut.message.content, cut.finish_reason) == ('{"a": "one ', "stop")
    assert cut.model_extra["stop_reason"] == "two"
    [kept] = chat(client, model, guided_grammar=grammar, stop="two", include_stop_str_in_output=True).choices
    assert kept.message.content == '{"a": "one two'


def test_bad_words_and_grammar_hold_together(client: OpenAI, model: str) -> None:
    fields = {"guided_regex": "[ab]{30}", "bad_words": ["aa", "bbb"], "temperature": 2, "n": 4}
    for choice in chat(client, model, **fields).choices:
        text = choice.message.content
        assert len(text) == 30
        assert "aa" not in text
        assert "bbb" not in text


def test_control_tokens_can_be_shown(client: OpenAI, model: str) -> None:
    shown = {"guided_regex": "yes", "include_stop_str_in_output": True, "skip_special_tokens": False}
    [choice] = chat(client, model, **shown).choices
    assert choice.message.content.startswith("yes<|")


def test_prompt_logprobs_and_token_ids(client: OpenAI, model: str) -> None:
    answer = chat(client, model, prompt_logprobs=1, return_token_ids=True, max_tokens=2)
    prompt_ids = answer.model_extra["prompt_token_ids"]
    entries = answer.model_extra["prompt_logprobs"]
    assert len(entries) == len(prompt_ids) == answer.usage.prompt_tokens
    assert all(str(token) in entry for token, entry in zip(prompt_ids[1:], entries[1:], strict=True))


def test_a_continued_message(client: OpenAI, model: str) -> None:
    messages = [*HELLO, {"role": "assistant", "content": "The answer is "}]
    fields = {"messages": messages, "continue_final_message": True, "echo": True, "guided_regex": "[0-9]{2}"}
    [choice] = chat(client, model, **fields).choices
    assert choice.message.content.removeprefix("The answer is ").isdigit()


# --- completions and responses


def test_completions(client: OpenAI, model: str) -> None:
    answer = client.completions.create(
        model=model, prompt=["One, two,", "A, b,"], n=2, temperature=1, max_tokens=8, logprobs=2, echo=True
    )
    assert [choice.text[:4] for choice in answer.choices] == ["One,", "One,", "A, b", "A, b"]
    for choice in answer.choices:
        assert choice.logprobs is not None
        assert choice.logprobs.tokens is not None
        assert len(choice.logprobs.tokens) == len(choice.logprobs.token_logprobs or ())
        assert (choice.logprobs.token_logprobs or [0])[0] is None


def test_completions_obey_a_grammar(client: OpenAI, model: str) -> None:
    stream = client.completions.create(
        model=model, prompt="x", stream=True, max_tokens=30, extra_body={"guided_grammar": KEYS}
    )
    text = "".join(chunk.choices[0].text for chunk in stream)
    assert text.count('"k":') == 4


def test_responses_obey_a_schema(client: OpenAI, model: str) -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 9}},
        "required": ["n"],
        "additionalProperties": False,
    }
    form: Any = {"format": {"type": "json_schema", "name": "n", "schema": schema}}
    first = client.responses.create(model=model, input="A number.", text=form, max_output_tokens=80)
    assert 1 <= json.loads(first.output_text)["n"] <= 9
    second = client.responses.create(
        model=model, input="Another.", previous_response_id=first.id, extra_body={"guided_regex": "[0-9]"}
    )
    assert second.output_text.isdigit()
    assert second.usage is not None
    assert first.usage is not None
    assert second.usage.input_tokens > first.usage.input_tokens
