"""Rounds of clients that leave, wrong grammars and right ones, against a server in a process of its own.

    python -m tests.server.soak 500 4

sends rounds of 500 leaving clients with 200 wrong and 200 right grammars among them. After each round every
place in the batch must be free again; after the last one, the server must have no more than 5 % more memory,
and no more open files, than after the first one. What is kept on purpose has reached its bound by then: the
cache of grammars is small, and every round brings new ones; oneDNN, which keeps the
kernels of a thousand shapes of matrices (130 MiB), is told to keep few.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
from prometheus_client.parser import text_string_to_metric_families

from server.app import create_app
from server.settings import ServerSettings
from tests.server.running_server import running_server
from tests.server.soak_clients import soak_round
from tests.server.tiny_backend import tiny_backend

_LARGEST_GROWTH = 1.05
_FEW_KERNELS = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "8", "LRU_CACHE_CAPACITY": "8"}
_SERVE = "serve"
_IDLE_LIMIT_S = 60.0
_BUSY = (
    "vllm:num_requests_running",
    "vllm:num_requests_waiting",
    "vllm:kv_cache_usage_perc",
    "syntagma:grammar_compiles_in_flight",
)


@dataclass(frozen=True)
class State:
    """Of an idle server: resident memory and that of the grammars in the cache, in bytes; open files."""

    memory: float
    cache: float
    files: float


def wait_until_idle(url: str) -> State:
    """
    Raises:
        TimeoutError: Some place is still taken after a minute.
    """
    deadline = time.monotonic() + _IDLE_LIMIT_S
    while True:
        found = _gauges(url)
        busy = {name: found[name] for name in _BUSY if found[name]}
        if not busy:
            return State(
                found["process_resident_memory_bytes"],
                found["syntagma:grammar_cache_bytes"],
                found["process_open_fds"],
            )
        if time.monotonic() > deadline:
            raise TimeoutError(f"still busy a minute after the last client has left: {busy}")
        time.sleep(0.1)


def judge(states: list[State]) -> str | None:
    """What has grown from the first round's end to the last one's; None if nothing has."""
    first, last = states[0], states[-1]
    if last.memory > _LARGEST_GROWTH * first.memory:
        return f"memory has grown from {first.memory / 2**20:.0f} to {last.memory / 2**20:.0f} MiB"
    if last.files > first.files:
        return f"open files have grown from {first.files:.0f} to {last.files:.0f}"
    return None


def _gauges(url: str) -> dict[str, float]:
    text = httpx.get(f"{url}/metrics", trust_env=False).text
    return {
        sample.name: sample.value
        for family in text_string_to_metric_families(text)
        if family.type == "gauge"
        for sample in family.samples
    }


@contextmanager
def _server_process() -> Iterator[str]:
    """The URL of a server that ends when its standard input does."""
    command = [sys.executable, "-m", "tests.server.soak", _SERVE]
    pipe = subprocess.PIPE
    environment = os.environ | _FEW_KERNELS
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


def _serve() -> None:
    settings = ServerSettings(
        max_batch_size=16,
        max_waiting=4000,
        access_log=False,
        grammar_max_pending=1000,
        grammar_timeout_s=120,
        grammar_cache_bytes=4 << 20,
    )
    with running_server(create_app(settings, open_backend=tiny_backend)) as url:
        print(url, flush=True)
        sys.stdin.read()


def main() -> None:
    """Prints each round's outcomes; exits with 1 if something was left behind."""
    leaving = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    states = []
    with _server_process() as url:
        for number in range(rounds):
            outcomes = asyncio.run(soak_round(url, leaving=leaving, wrong=200, right=200, seed=number))
            state = wait_until_idle(url)
            states.append(state)
            print(
                f"round {number + 1}: {dict(sorted(outcomes.items()))}; {state.memory / 2**20:.0f} MiB, "
                f"of which cached grammars {state.cache / 2**20:.1f}; {state.files:.0f} open files",
                flush=True,
            )
    sys.exit(judge(states))


if __name__ == "__main__":
    if sys.argv[1:] == [_SERVE]:
        _serve()
    else:
        main()
