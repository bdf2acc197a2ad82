"""The tour of litellm, as it speaks to any server of OpenAI's API and to one of vLLM's kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import litellm
import pytest
from litellm.exceptions import BadRequestError, NotFoundError

from tests.server.clients.conftest import CountAnswers
from tests.server.clients.requests import (
    ENDS_EARLY,
    GRAMMAR,
    GUIDED,
    HELLO,
    MODEL,
    PICK_FORMAT,
    TWO_CALLS,
    Pick,
    tool,
)

# Of its own models, as pydantic reads them.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Items? .* using the `ReadOnly` qualifier:UserWarning"),
    pytest.mark.filterwarnings(
        "ignore:Accessing the 'model_(computed_)?fields' attribute:DeprecationWarning"
    ),
]

litellm.suppress_debug_info = True
Ask = Callable[..., Any]
PROVIDERS = ["openai", "hosted_vllm"]


@pytest.fixture(params=PROVIDERS)
def ask(request: pytest.FixtureRequest, api_url: str) -> Ask:
    def completion(**fields: Any) -> Any:
        known = {"model": f"{request.param}/{MODEL}", "messages": HELLO, "api_base": api_url, "api_key": "u"}
        return litellm.completion(**(known | fields))

    return completion


@pytest.fixture
def at_server(api_url: str) -> dict[str, Any]:
    return {"model": f"openai/{MODEL}", "api_base": api_url, "api_key": "unused"}


@pytest.mark.parametrize("fields", GUIDED)
def test_every_constraint(ask: Ask, fields: dict[str, Any]) -> None:
    assert ask(extra_body=fields).choices[0].message.content in ("a", "b")


def test_streamed_chat(ask: Ask) -> None:
    chunks = list(
        ask(stream=True, stream_options={"include_usage": True}, extra_body={"guided_grammar": GRAMMAR})
    )
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text in ("yes", "no")
    whole: Any = litellm.stream_chunk_builder(chunks)
    assert 0 < whole.usage.completion_tokens < 10


@pytest.mark.parametrize("form", [PICK_FORMAT, Pick], ids=["schema", "model"])
def test_response_format(ask: Ask, form: Any) -> None:
    Pick.model_validate_json(ask(response_format=form).choices[0].message.content)


def test_tools(ask: Ask) -> None:
    [choice] = ask(tools=[tool("f")], tool_choice="required", logit_bias=ENDS_EARLY).choices
    assert choice.finish_reason == "tool_calls"
    [call] = choice.message.tool_calls
    Pick.model_validate_json(call.function.arguments)
    named = {"type": "function", "function": {"name": "g"}}
    [choice] = ask(tools=[tool("f"), tool("g")], tool_choice=named).choices
    assert choice.message.tool_calls[0].function.name == "g"


def test_streamed_parallel_tools(ask: Ask) -> None:
    fields = {"tools": [tool("f")], "tool_choice": "required", "logit_bias": ENDS_EARLY}
    chunks = list(ask(stream=True, extra_body=TWO_CALLS, **fields))
    whole: Any = litellm.stream_chunk_builder(chunks)
    calls = whole.choices[0].message.tool_calls
    assert len(calls) >= 2
    for call in calls:
        Pick.model_validate_json(call.function.arguments)


def test_sampling_and_output(ask: Ask) -> None:
    fields = {"n": 2, "seed": 1, "stop": ["cd"], "logprobs": True, "top_logprobs": 2}
    completion = ask(extra_body={"guided_regex": "abcdef"}, **fields)
    assert [choice.message.content for choice in completion.choices] == ["ab", "ab"]
    assert [entry.token for entry in completion.choices[0].logprobs.content[:2]] == ["a", "b"]
    assert completion.usage.prompt_tokens_details.cached_tokens == 0


def test_completions(at_server: dict[str, Any]) -> None:
    at_server["model"] = f"text-completion-openai/{MODEL}"
    completion: Any = litellm.text_completion(prompt="a", extra_body={"guided_grammar": GRAMMAR}, **at_server)
    assert completion.choices[0].text in ("yes", "no")


def test_responses(at_server: dict[str, Any]) -> None:
    first: Any = litellm.responses(input="hi", extra_body={"guided_grammar": GRAMMAR}, **at_server)
    assert first.output[0].content[0].text in ("yes", "no")
    second: Any = litellm.responses(
        input="again", previous_response_id=first.id, extra_body={"guided_grammar": GRAMMAR}, **at_server
    )
    assert second.usage.input_tokens > first.usage.input_tokens
    stream: Any = litellm.responses(
        input="hi", stream=True, extra_body={"guided_grammar": GRAMMAR}, **at_server
    )
    assert [event.type for event in stream][-1] == "response.completed"


def test_errors(ask: Ask, at_server: dict[str, Any], answers: CountAnswers) -> None:
    before = answers()
    with pytest.raises(BadRequestError, match="line 1, column 10"):
        ask(extra_body={"guided_grammar": "root ::= oops"}, num_retries=0)
    with pytest.raises(BadRequestError, match="guided_grammer"):
        ask(extra_body={"guided_grammer": GRAMMAR}, stream=True)
    with pytest.raises(NotFoundError):
        litellm.embedding(input=["hi"], **at_server)
    assert answers() - before == 3


async def test_async(at_server: dict[str, Any]) -> None:
    fields: dict[str, Any] = {"messages": HELLO, "extra_body": {"guided_grammar": GRAMMAR}}
    completion: Any = await litellm.acompletion(**at_server, **fields)
    assert completion.choices[0].message.content in ("yes", "no")
    stream: Any = await litellm.acompletion(**at_server, **fields, stream=True)
    assert "".join([chunk.choices[0].delta.content or "" async for chunk in stream]) in ("yes", "no")
