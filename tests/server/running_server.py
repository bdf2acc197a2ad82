"""A real server on a free loopback port, in a thread of the test process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from server.serving import bind, url_of


@contextmanager
def running_server(app: FastAPI, *, start_limit_s: float = 60.0) -> Iterator[str]:
    """Yields the URL of `app` under uvicorn and stops it afterwards."""
    config = uvicorn.Config(app, log_config=None, log_level="critical", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    with bind("127.0.0.1", 0) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            _wait_until_started(server, thread, start_limit_s)
            yield url_of(listener)
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive()


def _wait_until_started(server: uvicorn.Server, thread: threading.Thread, limit_s: float) -> None:
    deadline = time.monotonic() + limit_s
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        assert time.monotonic() < deadline, "the server is still starting"
        time.sleep(0.01)


def wait_until(condition: object, limit_s: float = 5.0) -> None:
    """Returns once the callable `condition` is true."""
    assert callable(condition)
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        time.sleep(0.01)
