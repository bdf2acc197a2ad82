"""The application on a scripted engine, and a client of it."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from server.app import create_app
from server.settings import ServerSettings
from tests.server.fakes import FakeCompiler, FakeEngine, fake_backend
from tests.server.running_server import running_server


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def compiler() -> FakeCompiler:
    return FakeCompiler()


@pytest.fixture
def grammar_timeout_s() -> float:
    """Tests of the time-out itself set it short."""
    return 60


@pytest.fixture
def settings(grammar_timeout_s: float) -> ServerSettings:
    return ServerSettings(
        grammar_timeout_s=grammar_timeout_s, grammar_max_bytes=5000, max_body_bytes=200_000, access_log=False
    )


@pytest.fixture
def base_url(settings: ServerSettings, engine: FakeEngine, compiler: FakeCompiler) -> Iterator[str]:
    app = create_app(settings, open_backend=lambda _: fake_backend(engine, compiler))
    with running_server(app) as url:
        yield url
        compiler.gate.set()


@pytest.fixture
def client(base_url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=base_url, timeout=10) as client:
        yield client
