"""The clients people use, against the running server."""

from __future__ import annotations

from collections.abc import Iterator

import openai
import pytest
from langchain_openai import ChatOpenAI
from openai import OpenAI
from openai.types.chat import ChatCompletionUserMessageParam
from pydantic import SecretStr

from server.engine import TextDelta
from tests.server.fakes import MODEL_NAME, FakeCompiler, FakeEngine, prompt_text

HELLO: list[ChatCompletionUserMessageParam] = [{"role": "user", "content": "hi"}]
GRAMMAR = 'root ::= "Hello, w" "ö" "rld!"'


@pytest.fixture
def openai_client(base_url: str) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{base_url}/v1", api_key="unused", max_retries=0) as client:
        yield client


@pytest.fixture
def chat(base_url: str) -> ChatOpenAI:
    return ChatOpenAI(
        model=MODEL_NAME,
        max_completion_tokens=100,
        temperature=0.6,
        base_url=f"{base_url}/v1",
        api_key=SecretStr("unused"),
        extra_body={
            "guided_grammar": GRAMMAR,
            "top_k": 20,
            "chat_template_kwargs": {"enable_thinking": False},
        },
    )


def test_openai_whole_answer(openai_client: OpenAI) -> None:
    completion = openai_client.chat.completions.create(model=MODEL_NAME, messages=HELLO, seed=1)
    assert completion.choices[0].message.content == "Hello, wörld!"
    assert completion.choices[0].finish_reason == "stop"
    assert completion.usage
    assert completion.usage.completion_tokens == 6


def test_openai_stream(openai_client: OpenAI) -> None:
    stream = openai_client.chat.completions.create(
        model=MODEL_NAME, messages=HELLO, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == "Hello, wörld!"
    assert chunks[-1].usage
    assert chunks[-1].usage.completion_tokens == 6


def test_openai_models(openai_client: OpenAI) -> None:
    assert [model.id for model in openai_client.models.list()] == [MODEL_NAME]
    assert openai_client.models.retrieve(MODEL_NAME).owned_by == "syntagma"
    with pytest.raises(openai.NotFoundError):
        openai_client.models.retrieve("nope")


def test_openai_errors(openai_client: OpenAI, engine: FakeEngine) -> None:
    create = openai_client.chat.completions.create
    with pytest.raises(openai.BadRequestError, match="line 1, column 10") as caught:
        create(model=MODEL_NAME, messages=HELLO, extra_body={"guided_grammar": "root ::= oops"})
    assert (caught.value.param, caught.value.code) == ("guided_grammar", "invalid_grammar")
    with pytest.raises(openai.NotFoundError):
        create(model="nope", messages=HELLO)
    engine.script = lambda request: [TextDelta("ab", (1,)), TextDelta("", (), "error", error="broken")]
    with pytest.raises(openai.APIError, match="broken"):
        list(create(model=MODEL_NAME, messages=HELLO, stream=True))


def test_openai_retries_an_overload(base_url: str, engine: FakeEngine) -> None:
    engine.overloaded = True
    with (
        OpenAI(base_url=f"{base_url}/v1", api_key="unused", max_retries=1) as client,
        pytest.raises(openai.InternalServerError),
    ):
        client.chat.completions.create(model=MODEL_NAME, messages=HELLO)


def test_langchain_whole_answer(chat: ChatOpenAI, engine: FakeEngine, compiler: FakeCompiler) -> None:
    answer = chat.invoke("hi")
    assert answer.content == "Hello, wörld!"
    assert answer.response_metadata["finish_reason"] == "stop"
    assert compiler.compiled == [GRAMMAR]
    [request] = engine.requests
    assert (request.sampling.temperature, request.sampling.top_k, request.max_tokens) == (0.6, 20, 100)
    assert prompt_text(request.prompt_token_ids).endswith("no-think")


def test_langchain_stream(chat: ChatOpenAI) -> None:
    pieces = [str(chunk.content) for chunk in chat.stream("hi")]
    assert "".join(pieces) == "Hello, wörld!"
    assert len([piece for piece in pieces if piece]) == 5


def test_langchain_batch(chat: ChatOpenAI, compiler: FakeCompiler) -> None:
    answers = chat.batch(["a", "b", "c"])
    assert [answer.content for answer in answers] == ["Hello, wörld!"] * 3


async def test_langchain_async(chat: ChatOpenAI) -> None:
    assert (await chat.ainvoke("hi")).content == "Hello, wörld!"
    assert "".join([str(chunk.content) async for chunk in chat.astream("hi")]) == "Hello, wörld!"
