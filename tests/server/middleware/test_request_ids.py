"""Every answer names its request, and the log tells of it."""

from __future__ import annotations

import httpx
import pytest
import structlog
from structlog.testing import LogCapture

from server.settings import ServerSettings
from tests.server.fakes import FakeEngine
from tests.server.running_server import wait_until
from tests.server.test_chat_completions import post, refusal

HEADER = "X-Request-Id"


@pytest.mark.parametrize("given", ["abc-123", "x" * 128, "ünï".encode().decode("latin-1")])
def test_a_request_id_is_echoed_if_it_is_plain(client: httpx.Client, given: str) -> None:
    answered = client.get("/health", headers={HEADER.encode(): given.encode("latin-1")}).headers[HEADER]
    assert (answered == given) == given.isascii()


def test_requests_without_an_id_get_one_each(client: httpx.Client) -> None:
    first, second = (client.get("/health").headers[HEADER] for _ in range(2))
    assert first != second
    assert len(first) == 32


@pytest.mark.parametrize("given", ["", "a b", "x" * 129])
def test_ids_that_are_no_ids_are_replaced(client: httpx.Client, given: str) -> None:
    assert len(client.get("/health", headers={HEADER: given}).headers[HEADER]) == 32


def test_errors_and_streams_have_ids_too(client: httpx.Client) -> None:
    headers = {HEADER: "mine"}
    bad = client.post("/v1/chat/completions", json={}, headers=headers)
    missing = client.get("/nothing", headers=headers)
    body = {"messages": [{"role": "user", "content": "hi"}], "stream": True}
    stream = client.post("/v1/chat/completions", json=body, headers=headers)
    assert [r.headers[HEADER] for r in (bad, missing, stream)] == ["mine"] * 3


def test_a_fault_is_a_500_with_an_id_and_no_traceback(
    client: httpx.Client, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "submit", lambda request: 1 / 0)
    response = post(client)
    assert refusal(response, 500)["code"] == "internal_error"
    assert response.headers[HEADER]
    assert "division" not in response.text
    assert "Traceback" not in response.text


class TestLog:
    @pytest.fixture
    def settings(self) -> ServerSettings:
        return ServerSettings(access_log=True)

    def test_one_event_for_each_answer(self, client: httpx.Client) -> None:
        capture = LogCapture()
        merge = structlog.contextvars.merge_contextvars
        structlog.configure(processors=[merge, capture])
        try:
            client.post("/v1/chat/completions", json={}, headers={HEADER: "mine"})
            client.get("/health")
            client.get("/nothing")
            # An answer is logged after it was sent.
            wait_until(lambda: len(capture.entries) == 2)
        finally:
            structlog.reset_defaults()
        events = capture.entries
        assert all(event["event"] == "answered" for event in events)
        assert [(e["method"], e["path"], e["status"]) for e in events] == [
            ("POST", "/v1/chat/completions", 400),
            ("GET", "/nothing", 404),
        ]
        assert events[0]["request_id"] == "mine"
        assert events[0]["seconds"] >= 0
