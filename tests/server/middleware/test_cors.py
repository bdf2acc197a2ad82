"""Web pages of other origins may ask only if the configuration says so."""

from __future__ import annotations

import httpx
import pytest

from server.settings import ServerSettings

PREFLIGHT = {
    "Origin": "https://page.example",
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization,content-type",
}


def test_off_by_default(client: httpx.Client) -> None:
    response = client.options("/v1/chat/completions", headers=PREFLIGHT)
    assert response.status_code == 405
    assert not any(name.startswith("access-control") for name in response.headers)
    assert "access-control-allow-origin" not in client.get("/health", headers=PREFLIGHT).headers


class TestConfigured:
    @pytest.fixture
    def settings(self) -> ServerSettings:
        return ServerSettings(cors_origin=["https://page.example"], api_key=["k"], access_log=False)

    def test_a_preflight_needs_no_key(self, client: httpx.Client) -> None:
        response = client.options("/v1/chat/completions", headers=PREFLIGHT)
        assert response.status_code == 200
        assert response.headers["access-control-allow-origin"] == "https://page.example"

    def test_refusals_can_be_read_by_the_page(self, client: httpx.Client) -> None:
        response = client.get("/v1/models", headers={"Origin": "https://page.example"})
        assert response.status_code == 401
        assert response.headers["access-control-allow-origin"] == "https://page.example"

    def test_other_origins_may_not(self, client: httpx.Client) -> None:
        response = client.options(
            "/v1/chat/completions", headers=PREFLIGHT | {"Origin": "https://evil.example"}
        )
        assert "access-control-allow-origin" not in response.headers
