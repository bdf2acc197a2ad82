"""One server for all tours, on a model of a few thousand random weights: it says only what it must."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import partial

import httpx
import pytest

from server.app import create_app
from server.settings import ServerSettings
from tests.server.running_server import running_server
from tests.server.tiny_backend import tiny_backend

# litellm would fetch its table of prices when it is imported.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

CountAnswers = Callable[[], int]


@pytest.fixture(scope="package")
def server_url() -> Iterator[str]:
    # Descriptions of tools are long where each byte is a token.
    app = create_app(ServerSettings(access_log=False), open_backend=partial(tiny_backend, context=8192))
    with running_server(app) as url:
        yield url


@pytest.fixture
def api_url(server_url: str) -> str:
    return f"{server_url}/v1"


@pytest.fixture
def answers(server_url: str) -> CountAnswers:
    """How many answers the server has given to requests with a body, since it was started."""

    def count() -> int:
        text = httpx.get(f"{server_url}/metrics").text
        counts = re.findall(r'^http_requests_total\{.*method="POST".*\} ([0-9.e+]+)$', text, re.M)
        return int(sum(map(float, counts)))

    return count
