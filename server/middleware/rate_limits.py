"""How much one client may ask for: requests a minute, and requests at the same time."""

from __future__ import annotations

import math
import time
from collections import Counter

from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter
from starlette.types import ASGIApp, Receive, Scope, Send

from server.errors import ApiError
from server.metrics import HttpMetrics

_LIMITED_PREFIXES = ("/v1/", "/tokenize", "/detokenize")


class RateLimitMiddleware:
    """Clients are told apart by the names of their API keys, or by their addresses if there are no keys.

    requests_per_minute and concurrent_requests: for each client; None is no limit. More get a 429.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        metrics: HttpMetrics,
        requests_per_minute: int | None,
        concurrent_requests: int | None,
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._rate = RateLimitItemPerMinute(requests_per_minute) if requests_per_minute else None
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._most = concurrent_requests
        self._running: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(_LIMITED_PREFIXES):
            await self._app(scope, receive, send)
            return
        client = _client_of(scope)
        refusal = await self._refusal(client)
        if refusal is not None:
            self._metrics.refused("rate_limit")
            await refusal.response()(scope, receive, send)
            return
        self._running[client] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._running[client] -= 1
            if not self._running[client]:
                del self._running[client]

    async def _refusal(self, client: str) -> ApiError | None:
        if self._most is not None and self._running[client] >= self._most:
            return _too_many(f"{self._most} requests at the same time", retry_after_s=1)
        if self._rate is None or await self._limiter.hit(self._rate, client):
            return None
        stats = await self._limiter.get_window_stats(self._rate, client)
        wait_s = max(math.ceil(stats.reset_time - time.time()), 1)
        return _too_many(f"{self._rate.amount} requests a minute", retry_after_s=wait_s)


def _client_of(scope: Scope) -> str:
    key_name = scope.get("state", {}).get("api_key_name")
    if key_name is not None:
        return f"key:{key_name}"
    client = scope.get("client")
    return f"address:{client[0]}" if client else "unknown"


def _too_many(limit: str, *, retry_after_s: int) -> ApiError:
    return ApiError(
        429,
        f"This client has reached its limit of {limit}; try again later.",
        type="rate_limit_error",
        code="rate_limit_exceeded",
        retry_after_s=retry_after_s,
    )
