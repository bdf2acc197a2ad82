"""Clients that leave, or wait in vain, while a real server compiles their grammar."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

import httpx
import pytest

from grammar_core import CompiledGrammar, Grammar, GrammarCompiler, TokenizerInfo
from grammar_core.compiler import GrammarSource
from grammar_core.deadline import Cancellation, CancelledError, check
from server.app import create_app
from server.constraints.sources import EbnfSource
from server.settings import ServerSettings
from tests.server.fakes import BYTE_VOCABULARY, fake_backend
from tests.server.running_server import running_server, wait_until

SLOW, QUICK = 'root ::= "slow"', 'root ::= "quick"'
LOOKED_UP = "syntagma:grammar_cache_lookups_total"


@dataclass(frozen=True)
class SlowSource(EbnfSource):
    """A grammar that computes, in Python and under the GIL, until `finish` is set."""

    finish: threading.Event = field(default_factory=threading.Event, compare=False)

    def build(self, tokenizer_info: TokenizerInfo) -> Grammar:
        while not self.finish.is_set():
            check()
        return super().build(tokenizer_info)


class SlowCompiler(GrammarCompiler):
    """Compiles for real; only the grammar SLOW takes until it is cancelled or `finish` is set."""

    def __init__(self) -> None:
        super().__init__(BYTE_VOCABULARY, compile_seconds=1000)
        self.finish = threading.Event()
        self.begun = threading.Semaphore(0)
        self.cancelled = threading.Semaphore(0)

    def compile_source(
        self, source: GrammarSource, cancellation: Cancellation | None = None
    ) -> CompiledGrammar:
        if source != EbnfSource(SLOW):
            return super().compile_source(source, cancellation)
        slow = SlowSource(SLOW, finish=self.finish)
        self.begun.release()
        try:
            return super().compile_source(slow, cancellation)
        except CancelledError:
            self.cancelled.release()
            raise


@pytest.fixture
def slow_compiler() -> SlowCompiler:
    return SlowCompiler()


@pytest.fixture
def url(slow_compiler: SlowCompiler, grammar_timeout_s: float) -> Iterator[str]:
    settings = ServerSettings(grammar_threads=1, grammar_timeout_s=grammar_timeout_s, access_log=False)
    backend = replace(fake_backend(), compiler=slow_compiler)
    with running_server(create_app(settings, open_backend=lambda _: backend)) as url:
        yield url
        slow_compiler.finish.set()


def body(grammar: str) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": "x"}], "guided_grammar": grammar}


def ask(url: str, grammar: str) -> httpx.Response:
    return httpx.post(f"{url}/v1/chat/completions", json=body(grammar), timeout=30)


def waiting_client(url: str, grammar: str) -> socket.socket:
    """A connection on which a request has been sent."""
    address = urlsplit(url)
    request = httpx.Request("POST", f"{url}/v1/chat/completions", json=body(grammar))
    head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    connection = socket.create_connection((address.hostname, address.port or 80))
    connection.sendall(f"POST {request.url.path} HTTP/1.1\r\n{head}\r\n".encode() + request.content)
    return connection


def measured(url: str, name: str) -> float:
    """The sum of a metric over its labels, but for what only asks for metrics."""
    lines = httpx.get(f"{url}/metrics", timeout=30).text.splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(name) and "/metrics" not in line)


def test_a_client_that_leaves_frees_the_thread(url: str, slow_compiler: SlowCompiler) -> None:
    """There is one thread, so the other grammar can only be compiled if that is free."""
    connection = waiting_client(url, SLOW)
    assert slow_compiler.begun.acquire(timeout=10)
    assert httpx.get(f"{url}/health", timeout=30).status_code == 200
    connection.close()
    assert slow_compiler.cancelled.acquire(timeout=10)
    assert ask(url, QUICK).status_code == 200


def test_one_of_two_clients_leaves(url: str, slow_compiler: SlowCompiler) -> None:
    leaver = waiting_client(url, SLOW)
    assert slow_compiler.begun.acquire(timeout=10)
    with ThreadPoolExecutor(1) as pool:
        stayer = pool.submit(ask, url, SLOW)
        wait_until(lambda: measured(url, LOOKED_UP) == 2)
        leaver.close()
        wait_until(lambda: measured(url, "http_requests_total") == 1)  # it has left
        slow_compiler.finish.set()
        assert stayer.result(30).status_code == 200
    assert not slow_compiler.cancelled.acquire(blocking=False)
    assert not slow_compiler.begun.acquire(blocking=False), "it was compiled twice"


@pytest.mark.parametrize("grammar_timeout_s", [0.3])
def test_a_grammar_that_takes_too_long_frees_the_thread(url: str, slow_compiler: SlowCompiler) -> None:
    response = ask(url, SLOW)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "grammar_timeout")
    assert slow_compiler.cancelled.acquire(timeout=10)
    wait_until(lambda: ask(url, QUICK).status_code == 200)
