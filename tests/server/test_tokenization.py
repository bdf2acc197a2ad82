"""``POST /tokenize`` and ``POST /detokenize``."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.server.fakes import MODEL_NAME, FakeEngine, prompt_text
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
