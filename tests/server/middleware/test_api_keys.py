"""Who may ask."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from server.middleware.api_keys import ApiKeyFileError, api_key, read_api_keys
from server.settings import ServerSettings
from tests.server.fakes import FakeEngine
from tests.server.test_chat_completions import HELLO, refusal

URL = "/v1/chat/completions"


@pytest.fixture
def settings(tmp_path: Path) -> ServerSettings:
    file = tmp_path / "keys"
    file.write_text("# the team\nalice key-a\n\nkey-b\n")
    return ServerSettings(api_key=["first", "second"], api_key_file=file, access_log=False)


def ask(client: httpx.Client, authorization: str | None) -> httpx.Response:
    headers = {} if authorization is None else {"Authorization": authorization}
    return client.post(URL, json={"messages": HELLO}, headers=headers)


@pytest.mark.parametrize("key", ["first", "second", "key-a", "key-b"])
@pytest.mark.parametrize("scheme", ["Bearer", "bearer"])
def test_every_key_opens(client: httpx.Client, key: str, scheme: str) -> None:
    assert ask(client, f"{scheme} {key}").status_code == 200


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "first", "Basic first", "Bearer firs", "Bearer first2", "Bearer alice",
     "Bearer " + "x" * 5000],
)  # fmt: skip
def test_anything_else_does_not(client: httpx.Client, engine: FakeEngine, authorization: str | None) -> None:
    response = ask(client, authorization)
    error = refusal(response, 401)
    assert (error["code"], error["type"]) == ("invalid_api_key", "invalid_request_error")
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert engine.requests == []


@pytest.mark.parametrize("path", ["/v1/models", "/tokenize", "/load", "/nothing"])
def test_other_paths_need_a_key_too(client: httpx.Client, path: str) -> None:
    assert client.get(path).status_code == 401


@pytest.mark.parametrize("path", ["/health", "/ping", "/version", "/metrics"])
def test_probes_need_none(client: httpx.Client, path: str) -> None:
    assert client.get(path).status_code == 200


def test_keys_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("alice a\n  b  \n")
    alice, other = read_api_keys(file)
    assert (alice.name, alice.digest) == ("alice", api_key("a").digest)
    assert other == api_key("b")
    assert other.name == f"key-{other.digest.hex()[:8]}"


@pytest.mark.parametrize(
    ("content", "problem"), [("", "no API keys"), ("a b c", "line 1"), (None, "cannot read")]
)
def test_files_that_cannot_be_used(tmp_path: Path, content: str | None, problem: str) -> None:
    file = tmp_path / "keys"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ApiKeyFileError, match=problem):
        read_api_keys(file)


def test_keys_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNTAGMA_API_KEY", "a, b,")
    assert ServerSettings().api_key == ["a", "b"]
