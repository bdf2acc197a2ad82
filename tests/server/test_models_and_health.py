"""``GET /v1/models`` and ``GET /health``."""

from __future__ import annotations

import httpx

from tests.server.fakes import MODEL_NAME, FakeEngine


def test_models(client: httpx.Client, engine: FakeEngine) -> None:
    body = client.get("/v1/models").json()
    assert body["object"] == "list"
    [card] = body["data"]
    assert (card["id"], card["object"], card["owned_by"]) == (MODEL_NAME, "model", "syntagma")
    assert card["max_model_len"] == engine.max_context
    assert client.get(f"/v1/models/{MODEL_NAME}").json() == card


def test_unknown_model(client: httpx.Client) -> None:
    response = client.get("/v1/models/nope/nope")
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "model_not_found"


def test_health(client: httpx.Client, engine: FakeEngine) -> None:
    assert client.get("/health").status_code == client.head("/health").status_code == 200
    assert client.head("/health").content == b""
    engine.is_healthy = False
    assert client.get("/health").status_code == client.head("/health").status_code == 503


def test_engine_lives_as_long_as_the_application(client: httpx.Client, engine: FakeEngine) -> None:
    assert engine.is_healthy
