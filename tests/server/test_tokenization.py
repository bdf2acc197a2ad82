"""``POST /tokenize`` and ``POST /detokenize``."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

import httpx
import pytest
from tokenizers import processors

from server.app import create_app
from server.settings import ServerSettings
from tests.server.fakes import MODEL_NAME, FakeEngine, byte_tokenizer, fake_backend, prompt_text
from tests.server.running_server import running_server
from tests.server.test_chat_completions import HELLO, refusal


@pytest.mark.parametrize("path", ["/tokenize", "/v1/tokenize"])
def test_a_text(client: httpx.Client, engine: FakeEngine, path: str) -> None:
    body = client.post(path, json={"prompt": "héllo", "model": MODEL_NAME}).json()
    assert prompt_text(body["tokens"]) == "héllo"
    assert (body["count"], body["max_model_len"], body["token_strs"]) == (6, engine.max_context, None)


def test_token_texts(client: httpx.Client, engine: FakeEngine) -> None:
    body = client.post("/tokenize", json={"prompt": "ab", "return_token_strs": True}).json()
    assert body["token_strs"] == [engine.token_bytes[i].decode(errors="replace") for i in body["tokens"]]


def test_an_empty_text(client: httpx.Client) -> None:
    assert client.post("/tokenize", json={"prompt": ""}).json()["tokens"] == []


def test_a_conversation(client: httpx.Client) -> None:
    def text(**fields: Any) -> str:
        response = client.post("/tokenize", json={"messages": HELLO, **fields})
        assert response.status_code == 200, response.text
        return prompt_text(response.json()["tokens"])

    assert text() == "<|user|>hi\n<|assistant|>"
    assert text(add_generation_prompt=False) == "<|user|>hi\n"
    assert text(chat_template_kwargs={"enable_thinking": False}).endswith("no-think")
    begun = [*HELLO, {"role": "assistant", "content": "Well"}]
    assert text(messages=begun, continue_final_message=True) == "<|user|>hi\n<|assistant|>Well"


def test_tools_of_a_conversation(client: httpx.Client) -> None:
    tools = [{"type": "function", "function": {"name": name}} for name in ("first", "second")]

    def told(**fields: Any) -> list[bool]:
        response = client.post("/tokenize", json={"messages": HELLO, "tools": tools, **fields})
        assert response.status_code == 200, response.text
        text = prompt_text(response.json()["tokens"])
        return [name in text for name in ("first", "second")]

    only_second = {"mode": "auto", "tools": [{"type": "function", "function": {"name": "second"}}]}
    assert told() == told(parallel_tool_calls=False) == [True, True]
    assert told(tool_choice="none") == [False, False]
    assert told(tool_choice={"type": "allowed_tools", "allowed_tools": only_second}) == [False, True]


def test_documents_need_a_place(client: httpx.Client) -> None:
    body = {"messages": HELLO, "documents": [{"text": "a"}]}
    assert refusal(client.post("/tokenize", json=body))["param"] == "documents"


def test_special_tokens_of_the_tokenizer() -> None:
    tokenizer = byte_tokenizer()
    core: Any = tokenizer.backend_tokenizer
    core.post_processor = processors.TemplateProcessing(single="! $A", special_tokens=[("!", 0)])
    engine = FakeEngine()
    backend = dataclasses.replace(fake_backend(engine), tokenizer=cast(Any, tokenizer))
    app = create_app(ServerSettings(access_log=False), open_backend=lambda _: backend)
    with running_server(app) as url, httpx.Client(base_url=url) as client:
        lengths = []
        for path, field in (("/tokenize", None), ("/tokenize", True), ("/tokenize", False)):
            body = {"prompt": "ab", "add_special_tokens": field}
            lengths.append(client.post(path, json=body).json()["count"])
        for wanted in (True, False):
            client.post("/v1/completions", json={"prompt": "ab", "add_special_tokens": wanted})
    assert lengths == [3, 3, 2]
    assert [len(request.prompt_token_ids) for request in engine.requests] == [3, 2]


@pytest.mark.parametrize("path", ["/detokenize", "/v1/detokenize"])
def test_round_trip(client: httpx.Client, path: str) -> None:
    tokens = client.post("/tokenize", json={"prompt": "héllo\n"}).json()["tokens"]
    assert client.post(path, json={"tokens": tokens}).json() == {"prompt": "héllo\n"}
    assert client.post(path, json={"tokens": []}).json() == {"prompt": ""}


@pytest.mark.parametrize(
    ("path", "body", "param"),
    [
        ("/tokenize", {}, "prompt"),
        ("/tokenize", {"prompt": "a", "messages": HELLO}, "prompt"),
        ("/tokenize", {"prompt": 5}, "prompt"),
        ("/tokenize", {"prompt": "a", "tools": []}, "tools"),
        ("/tokenize", {"prompt": "a", "chat_template_kwargs": {}}, "chat_template_kwargs"),
        ("/tokenize", {"messages": HELLO, "add_special_tokens": True}, "add_special_tokens"),
        ("/tokenize", {"prompt": "a", "promt": "b"}, "promt"),
        ("/tokenize", {"prompt": "x" * 3000}, "prompt"),
        ("/tokenize", {"messages": [{"role": "user", "content": "x" * 3000}]}, "messages"),
        ("/tokenize", {"messages": HELLO, "chat_template": "x"}, "chat_template"),
        ("/detokenize", {}, "tokens"),
        ("/detokenize", {"tokens": [256]}, "tokens"),
        ("/detokenize", {"tokens": [-1]}, "tokens[0]"),
        ("/detokenize", {"tokens": "a"}, "tokens"),
    ],
)
def test_refusals(client: httpx.Client, path: str, body: dict[str, Any], param: str) -> None:
    assert refusal(client.post(path, json=body))["param"] == param


@pytest.mark.parametrize("path", ["/tokenize", "/detokenize"])
def test_unknown_model(client: httpx.Client, path: str) -> None:
    body = {"prompt": "a", "model": "x"} if path == "/tokenize" else {"tokens": [1], "model": "x"}
    assert refusal(client.post(path, json=body), 404)["code"] == "model_not_found"
