"""The order in which the parts of the middleware stand around the application."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from server.metrics import HttpMetrics
from server.middleware.access import AccessMiddleware
from server.middleware.api_keys import ApiKey, ApiKeyMiddleware
from server.middleware.faults import FaultMiddleware
from server.middleware.rate_limits import RateLimitMiddleware
from server.middleware.request_ids import HEADER, RequestIdMiddleware


@dataclass(frozen=True)
class Protection:
    """`keys`: without any, everybody may ask. `cors_origins`: web pages that may."""

    keys: tuple[ApiKey, ...] = ()
    requests_per_minute: int | None = None
    concurrent_requests: int | None = None
    cors_origins: tuple[str, ...] = ()


def install_middleware(
    app: FastAPI, protection: Protection, metrics: HttpMetrics, *, logs_access: bool
) -> None:
    """What is added last stands outermost."""
    if protection.requests_per_minute or protection.concurrent_requests:
        app.add_middleware(
            RateLimitMiddleware,
            metrics=metrics,
            requests_per_minute=protection.requests_per_minute,
            concurrent_requests=protection.concurrent_requests,
        )
    if protection.keys:
        app.add_middleware(ApiKeyMiddleware, keys=protection.keys)
    if protection.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=protection.cors_origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],
            expose_headers=[HEADER, "Retry-After"],
        )
    app.add_middleware(FaultMiddleware)
    app.add_middleware(AccessMiddleware, metrics=metrics, logs=logs_access)
    app.add_middleware(RequestIdMiddleware)
