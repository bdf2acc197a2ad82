"""The tour of langchain-openai."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import openai
import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from tests.server.clients.conftest import CountAnswers
from tests.server.clients.requests import (
    ENDS_EARLY,
    GRAMMAR,
    GUIDED,
    MODEL,
    PICK_SCHEMA,
    TWO_CALLS,
    Pick,
    tool,
)

MakeChat = Callable[..., ChatOpenAI]
F, G = tool("f"), tool("g")


@pytest.fixture
def make_chat(api_url: str) -> MakeChat:
    """With the client's own retries."""

    def make(**fields: Any) -> ChatOpenAI:
        return ChatOpenAI(model=MODEL, base_url=api_url, api_key=SecretStr("unused"), **fields)

    return make


@pytest.mark.parametrize("fields", GUIDED)
def test_every_constraint(make_chat: MakeChat, fields: dict[str, Any]) -> None:
    assert make_chat(extra_body=fields).invoke("hi").content in ("a", "b")


def test_streams_and_batches(make_chat: MakeChat) -> None:
    chat = make_chat(extra_body={"guided_grammar": GRAMMAR}, stream_usage=True)
    chunks = list(chat.stream("hi"))
    assert "".join(str(chunk.content) for chunk in chunks) in ("yes", "no")
    total = sum(chunk.usage_metadata["output_tokens"] for chunk in chunks if chunk.usage_metadata)
    assert total > 0
    assert {str(answer.content) for answer in chat.batch(["a", "b"])} <= {"yes", "no"}


async def test_async(make_chat: MakeChat) -> None:
    chat = make_chat(extra_body={"guided_grammar": GRAMMAR})
    assert (await chat.ainvoke("hi")).content in ("yes", "no")
    assert "".join([str(chunk.content) async for chunk in chat.astream("hi")]) in ("yes", "no")


# LangChain itself dumps the client's events with the model's class in them.
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning")
@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
def test_structured_output(make_chat: MakeChat, method: Any) -> None:
    chat = make_chat().with_structured_output(Pick, method=method)
    assert isinstance(chat.invoke("hi"), Pick)
    assert isinstance(list(chat.stream("hi"))[-1], Pick)


def test_structured_output_of_a_schema(make_chat: MakeChat) -> None:
    schema = {"title": "pick", "description": "One.", **PICK_SCHEMA}
    answer = make_chat().with_structured_output(schema, method="json_schema").invoke("hi")
    Pick.model_validate(answer)


def test_json_mode_with_a_schema(make_chat: MakeChat) -> None:
    """JSON mode is any object: the answer is JSON, and its fields are those of the model only by luck."""
    chat = make_chat(logit_bias={"125": 100}).with_structured_output(None, method="json_mode")
    assert isinstance(chat.invoke("JSON"), dict)


@pytest.mark.parametrize(("choice", "names"), [("any", {"f", "g"}), ("g", {"g"})])
def test_tools(make_chat: MakeChat, choice: str, names: set[str]) -> None:
    bound = make_chat(logit_bias=ENDS_EARLY).bind_tools([F, G], tool_choice=choice)
    answer = bound.invoke("hi")
    assert isinstance(answer, AIMessage)
    [call] = answer.tool_calls
    assert call["name"] in names
    Pick.model_validate(call["args"])


def test_streamed_parallel_calls(make_chat: MakeChat) -> None:
    chat = make_chat(logit_bias=ENDS_EARLY, extra_body=TWO_CALLS)
    chunks = list(chat.bind_tools([F, G], tool_choice="any").stream("hi"))
    total = chunks[0]
    for chunk in chunks[1:]:
        total += chunk  # type: ignore[assignment]
    assert isinstance(total, AIMessageChunk)
    assert len(total.tool_calls) >= 2
    assert not total.invalid_tool_calls
    for call in total.tool_calls:
        Pick.model_validate(call["args"])


def test_calls_and_their_results_come_back(make_chat: MakeChat) -> None:
    chat = make_chat(logit_bias=ENDS_EARLY)
    asked = chat.bind_tools([F], tool_choice="any").invoke("hi")
    assert isinstance(asked, AIMessage)
    result = ToolMessage("3", tool_call_id=asked.tool_calls[0]["id"])
    again = make_chat(extra_body={"guided_grammar": GRAMMAR}).invoke([("user", "hi"), asked, result])
    assert again.content in ("yes", "no")


def test_sampling_and_output(make_chat: MakeChat) -> None:
    chat = make_chat(
        n=2,
        seed=1,
        stop_sequences=["cd"],
        logprobs=True,
        top_logprobs=2,
        extra_body={"guided_regex": "abcdef"},
    )
    result = chat.generate([[HumanMessage("hi")]])
    assert [generation.text for generation in result.generations[0]] == ["ab", "ab"]
    entries = chat.invoke("hi").response_metadata["logprobs"]["content"]
    assert [entry["token"] for entry in entries[:2]] == ["a", "b"]


def test_the_responses_api(make_chat: MakeChat) -> None:
    chat = make_chat(use_responses_api=True, extra_body={"guided_grammar": GRAMMAR})
    answer = chat.invoke("hi")
    assert answer.text in ("yes", "no")
    again = chat.invoke("hi", previous_response_id=answer.response_metadata["id"])
    assert again.text in ("yes", "no")
    assert "".join(chunk.text for chunk in chat.stream("hi")) in ("yes", "no")


def test_errors(make_chat: MakeChat, answers: CountAnswers) -> None:
    before = answers()
    with pytest.raises(openai.BadRequestError, match="line 1, column 10"):
        make_chat(extra_body={"guided_grammar": "root ::= oops"}).invoke("hi")
    with pytest.raises(openai.BadRequestError, match="guided_grammer"):
        list(make_chat(extra_body={"guided_grammer": GRAMMAR}).stream("hi"))
    with pytest.raises(openai.NotFoundError):
        ChatOpenAI(model="other", base_url=make_chat().openai_api_base, api_key=SecretStr("u")).invoke("hi")
    assert answers() - before == 3
