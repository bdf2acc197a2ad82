"""How much one client may ask for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from server.settings import ServerSettings
from tests.server.fakes import FakeEngine
from tests.server.running_server import wait_until
from tests.server.test_chat_completions import HELLO, post, refusal

URL = "/v1/chat/completions"


class TestRate:
    @pytest.fixture
    def settings(self) -> ServerSettings:
        return ServerSettings(requests_per_minute=3, api_key=["a", "b"], access_log=False)

    def ask(self, client: httpx.Client, key: str) -> httpx.Response:
        return client.post(URL, json={"messages": HELLO}, headers={"Authorization": f"Bearer {key}"})

    def test_more_than_the_rate_is_a_429_for_that_client_only(self, client: httpx.Client) -> None:
        assert [self.ask(client, "a").status_code for _ in range(3)] == [200] * 3
        response = self.ask(client, "a")
        error = refusal(response, 429)
        assert (error["type"], error["code"]) == ("rate_limit_error", "rate_limit_exceeded")
        assert 1 <= int(response.headers["Retry-After"]) <= 61
        assert self.ask(client, "b").status_code == 200
        assert client.get("/health").status_code == 200
        counted = 'vllm:admission_rejections_total{reason="rate_limit"} 1.0'
        assert counted in client.get("/metrics").text

    def test_requests_without_a_key_do_not_count(self, client: httpx.Client) -> None:
        for _ in range(5):
            assert self.ask(client, "wrong").status_code == 401
        assert self.ask(client, "a").status_code == 200


class TestConcurrency:
    @pytest.fixture
    def settings(self) -> ServerSettings:
        return ServerSettings(concurrent_requests=2, access_log=False)

    def test_more_at_the_same_time_is_a_429(self, client: httpx.Client, engine: FakeEngine) -> None:
        engine.step_s = 0.1
        with ThreadPoolExecutor(2) as pool:
            running = [pool.submit(post, client) for _ in range(2)]
            wait_until(lambda: len(engine.requests) == 2)
            response = post(client)
            assert refusal(response, 429)["code"] == "rate_limit_exceeded"
            assert response.headers["Retry-After"] == "1"
            assert [future.result().status_code for future in running] == [200, 200]
        engine.step_s = 0
        assert post(client).status_code == 200

    def test_those_who_leave_give_their_place_back(self, client: httpx.Client, engine: FakeEngine) -> None:
        engine.step_s = 60
        for _ in range(2):
            with pytest.raises(httpx.ReadTimeout):
                client.post(URL, json={"messages": HELLO}, timeout=0.2)
        wait_until(lambda: engine.running == 0)
        engine.step_s = 0
        assert post(client).status_code == 200
