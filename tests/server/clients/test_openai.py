"""The tour of the openai client."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI, OpenAI, pydantic_function_tool

from tests.server.clients.conftest import CountAnswers
from tests.server.clients.requests import (
    ENDS_EARLY,
    GRAMMAR,
    GUIDED,
    HELLO,
    MODEL,
    PICK_FORMAT,
    PICK_SCHEMA,
    TWO_CALLS,
    Pick,
    tool,
)


@pytest.fixture
def client(api_url: str) -> Iterator[OpenAI]:
    # With the client's own retries, so that a test would be slow, and counted, if there were any.
    with OpenAI(base_url=api_url, api_key="unused") as client:
        yield client


@pytest.fixture
async def async_client(api_url: str) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=api_url, api_key="unused") as client:
        yield client


def ask(client: OpenAI, **fields: Any) -> Any:
    return client.chat.completions.create(model=MODEL, messages=HELLO, **fields)


# --- models


def test_models(client: OpenAI) -> None:
    assert [model.id for model in client.models.list()] == [MODEL]
    assert client.models.retrieve(MODEL).id == MODEL
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("other")


# --- chat


def test_free_chat(client: OpenAI) -> None:
    completion = ask(client, max_tokens=5)
    assert completion.choices[0].finish_reason in ("length", "stop")
    usage = completion.usage
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert (usage.prompt_tokens_details.cached_tokens, usage.completion_tokens_details.reasoning_tokens) == (
        0,
        0,
    )


def test_streamed_chat(client: OpenAI) -> None:
    chunks = list(
        ask(
            client,
            stream=True,
            extra_body={"guided_grammar": GRAMMAR},
            stream_options={"include_usage": True},
        )
    )
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text in ("yes", "no")
    assert chunks[-1].usage.completion_tokens > 0
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"


@pytest.mark.parametrize("fields", GUIDED)
def test_every_constraint(client: OpenAI, fields: dict[str, Any]) -> None:
    assert ask(client, extra_body=fields).choices[0].message.content in ("a", "b")


def test_guided_json(client: OpenAI) -> None:
    completion = ask(client, extra_body={"guided_json": PICK_SCHEMA})
    Pick.model_validate_json(completion.choices[0].message.content)


def test_response_format(client: OpenAI) -> None:
    Pick.model_validate_json(ask(client, response_format=PICK_FORMAT).choices[0].message.content)


def test_parsed_models(client: OpenAI) -> None:
    completion = client.chat.completions.parse(model=MODEL, messages=HELLO, response_format=Pick)
    assert isinstance(completion.choices[0].message.parsed, Pick)


def test_streamed_models(client: OpenAI) -> None:
    with client.chat.completions.stream(model=MODEL, messages=HELLO, response_format=Pick) as stream:
        kinds = {event.type for event in stream}
        assert isinstance(stream.get_final_completion().choices[0].message.parsed, Pick)
    assert {"chunk", "content.delta", "content.done"} <= kinds


def test_a_model_that_is_cut(client: OpenAI) -> None:
    with pytest.raises(openai.LengthFinishReasonError):
        client.chat.completions.parse(model=MODEL, messages=HELLO, response_format=Pick, max_tokens=3)


# --- tools


def test_required_tools(client: OpenAI) -> None:
    completion = ask(client, tools=[tool("f"), tool("g")], tool_choice="required", logit_bias=ENDS_EARLY)
    [choice] = completion.choices
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content is None
    [call] = choice.message.tool_calls
    assert call.function.name in ("f", "g")
    Pick.model_validate_json(call.function.arguments)


def test_a_named_tool(client: OpenAI) -> None:
    named = {"type": "function", "function": {"name": "g"}}
    [choice] = ask(client, tools=[tool("f"), tool("g")], tool_choice=named).choices
    assert (choice.finish_reason, choice.message.tool_calls[0].function.name) == ("stop", "g")


def test_streamed_parallel_tools(client: OpenAI) -> None:
    """The answer may not end before its second call."""
    with client.chat.completions.stream(
        model=MODEL,
        messages=HELLO,
        tools=[pydantic_function_tool(Pick)],
        tool_choice="required",
        logit_bias=ENDS_EARLY,
        extra_body=TWO_CALLS,
    ) as stream:
        [choice] = stream.get_final_completion().choices
    calls = choice.message.tool_calls or []
    assert len(calls) >= 2
    assert len({call.id for call in calls}) == len(calls)
    assert all(isinstance(call.function.parsed_arguments, Pick) for call in calls)
    assert choice.finish_reason == "tool_calls"


def test_one_call_at_most(client: OpenAI) -> None:
    fields: dict[str, Any] = {"parallel_tool_calls": False, "extra_body": TWO_CALLS}
    [choice] = ask(client, tools=[tool("f")], tool_choice="required", **fields).choices
    assert len(choice.message.tool_calls) == 1


def test_a_custom_tool(client: OpenAI) -> None:
    grammar = {"type": "grammar", "grammar": {"syntax": "lark", "definition": 'start: "a" | "b"'}}
    custom = {"type": "custom", "custom": {"name": "q", "format": grammar}}
    named = {"type": "custom", "custom": {"name": "q"}}
    [choice] = ask(client, tools=[custom], tool_choice=named).choices
    assert choice.message.tool_calls[0].custom.input in ("a", "b")


def test_calls_and_their_results_come_back(client: OpenAI) -> None:
    asked: Any = (
        ask(client, tools=[tool("f")], tool_choice="required", logit_bias=ENDS_EARLY).choices[0].message
    )
    result: Any = {"role": "tool", "tool_call_id": asked.tool_calls[0].id, "content": "3"}
    completion = client.chat.completions.create(
        model=MODEL,
        messages=[*HELLO, asked.to_dict(), result],
        tools=[tool("f")],
        extra_body={"guided_grammar": GRAMMAR},
    )
    assert completion.choices[0].message.content in ("yes", "no")


# --- sampling and output


def test_logprobs(client: OpenAI) -> None:
    choice = ask(client, extra_body={"guided_regex": "ab"}, logprobs=True, top_logprobs=3).choices[0]
    tokens = choice.logprobs.content
    assert [token.token for token in tokens[:2]] == ["a", "b"]
    assert all(-9999 <= token.logprob <= 0 and len(token.top_logprobs) == 3 for token in tokens)


def test_several_choices(client: OpenAI) -> None:
    completion = ask(client, n=3, extra_body={"guided_grammar": GRAMMAR})
    assert [choice.index for choice in completion.choices] == [0, 1, 2]
    assert {choice.message.content for choice in completion.choices} <= {"yes", "no"}


def test_stop(client: OpenAI) -> None:
    choice = ask(client, stop=["cd"], extra_body={"guided_regex": "abcdef"}).choices[0]
    assert (choice.message.content, choice.finish_reason, choice.stop_reason) == ("ab", "stop", "cd")


def test_seed(client: OpenAI) -> None:
    def text(seed: int) -> str:
        content: str = (
            ask(client, seed=seed, extra_body={"guided_regex": "[a-z]{40}"}).choices[0].message.content
        )
        return content

    assert text(1) == text(1) != text(2)


# --- errors


def test_errors(client: OpenAI, answers: CountAnswers) -> None:
    before = answers()
    with pytest.raises(openai.BadRequestError) as bad_grammar:
        ask(client, extra_body={"guided_grammar": "root ::= oops"})
    with pytest.raises(openai.BadRequestError) as bad_field:
        ask(client, extra_body={"guided_grammer": GRAMMAR})
    with pytest.raises(openai.BadRequestError) as bad_stream:
        ask(client, stream=True, extra_body={"guided_json": {"type": "no type"}})
    with pytest.raises(openai.NotFoundError) as bad_model:
        client.chat.completions.create(model="other", messages=HELLO)
    with pytest.raises(openai.NotFoundError, match="/v1/embeddings"):
        client.embeddings.create(model=MODEL, input="hi")
    told = [
        (error.value.param, error.value.code) for error in (bad_grammar, bad_field, bad_stream, bad_model)
    ]
    assert told == [
        ("guided_grammar", "invalid_grammar"),
        ("guided_grammer", "unknown_parameter"),
        ("guided_json", "invalid_grammar"),
        ("model", "model_not_found"),
    ]
    assert answers() - before == 5  # nothing was tried again


# --- completions


def test_completions(client: OpenAI) -> None:
    completion = client.completions.create(
        model=MODEL, prompt=["a", "b"], echo=True, extra_body={"guided_grammar": GRAMMAR}
    )
    assert [choice.text[0] for choice in completion.choices] == ["a", "b"]
    assert all(choice.text[1:] in ("yes", "no") for choice in completion.choices)
    stream = client.completions.create(
        model=MODEL, prompt="a", logprobs=2, stream=True, extra_body={"guided_grammar": GRAMMAR}
    )
    assert "".join(chunk.choices[0].text for chunk in stream) in ("yes", "no")
    with pytest.raises(openai.BadRequestError, match="suffix"):
        client.completions.create(model=MODEL, prompt="a", suffix="b")


# --- responses


def test_responses(client: OpenAI) -> None:
    first = client.responses.create(model=MODEL, input="hi", extra_body={"guided_grammar": GRAMMAR})
    assert first.output_text in ("yes", "no")
    second = client.responses.create(
        model=MODEL, input="again", previous_response_id=first.id, extra_body={"guided_grammar": GRAMMAR}
    )
    assert second.usage
    assert first.usage
    assert second.usage.input_tokens > first.usage.input_tokens
    assert client.responses.retrieve(second.id).previous_response_id == first.id
    [item] = client.responses.input_items.list(second.id).data
    assert item.type == "message"
    client.responses.delete(first.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.create(model=MODEL, input="again", previous_response_id=first.id)


def test_parsed_responses(client: OpenAI) -> None:
    assert isinstance(client.responses.parse(model=MODEL, input="hi", text_format=Pick).output_parsed, Pick)


def test_streamed_responses(client: OpenAI) -> None:
    with client.responses.stream(model=MODEL, input="hi", text_format=Pick) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert isinstance(final.output_parsed, Pick)
    assert final.status == "completed"
    assert kinds[:4] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
    ]
    assert kinds[-4:] == [
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]


def test_tools_of_responses(client: OpenAI) -> None:
    flat: Any = {"type": "function", "name": "f", "parameters": PICK_SCHEMA, "strict": True}
    fields: dict[str, Any] = {"tools": [flat], "extra_body": {"logit_bias": ENDS_EARLY}}
    with client.responses.stream(model=MODEL, input="hi", tool_choice="required", **fields) as stream:
        kinds = [event.type for event in stream]
        [call] = stream.get_final_response().output
    assert call.type == "function_call"
    Pick.model_validate_json(call.arguments)
    assert "response.function_call_arguments.delta" in kinds
    assert kinds[-3:] == [
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed",
    ]


def test_custom_tools_of_responses(client: OpenAI) -> None:
    grammar = {"type": "grammar", "syntax": "regex", "definition": "a|b"}
    custom: Any = {"type": "custom", "name": "q", "format": grammar}
    response = client.responses.create(
        model=MODEL, input="hi", tools=[custom], tool_choice={"type": "custom", "name": "q"}
    )
    [call] = response.output
    assert call.type == "custom_tool_call"
    assert call.input in ("a", "b")


def test_responses_in_the_background(client: OpenAI) -> None:
    response = client.responses.create(
        model=MODEL, input="hi", background=True, extra_body={"guided_regex": "a{3000}"}
    )
    assert client.responses.cancel(response.id).status in ("cancelled", "completed")
    with pytest.raises(openai.BadRequestError, match="background"):
        client.responses.cancel(client.responses.create(model=MODEL, input="hi", max_output_tokens=1).id)


# --- asynchronous


async def test_async(async_client: AsyncOpenAI) -> None:
    completion = await async_client.chat.completions.parse(model=MODEL, messages=HELLO, response_format=Pick)
    assert isinstance(completion.choices[0].message.parsed, Pick)
    stream = await async_client.chat.completions.create(
        model=MODEL, messages=HELLO, stream=True, extra_body={"guided_grammar": GRAMMAR}
    )
    assert "".join([chunk.choices[0].delta.content or "" async for chunk in stream]) in ("yes", "no")
    async with async_client.responses.stream(model=MODEL, input="hi", text_format=Pick) as events:
        assert isinstance((await events.get_final_response()).output_parsed, Pick)
    with pytest.raises(openai.BadRequestError):
        await async_client.responses.create(model=MODEL, input="hi", extra_body={"guided_regex": "("})


def test_json_of_any_object(client: OpenAI) -> None:
    format_: Any = {"type": "json_object"}
    content = ask(client, response_format=format_, logit_bias={"125": 100}).choices[0].message.content
    assert isinstance(json.loads(content), dict)
