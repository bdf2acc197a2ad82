"""Many clients at once, of all kinds: ones that leave at any moment, wrong grammars, right ones.

    python -m tests.server.soak 500 3

sends rounds of 500 leaving clients with 200 wrong and 200 right grammars among them, and prints what was
answered and how much memory the process has after each round.
"""

from __future__ import annotations

import asyncio
import gc
import random
import re
import resource
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from server.app import create_app
from server.engine import Engine
from server.settings import ServerSettings
from tests.server.running_server import running_server, wait_until
from tests.server.tiny_backend import tiny_backend

URL = "/v1/chat/completions"
WRONG = ["root ::=", 'root ::= "a" | nothing', "root ::= [z-a]", 'root ::= "a"{3,1}', 'root ::= "a']


def soak(app: FastAPI, url: str, *, leaving: int, wrong: int, right: int, seed: int) -> Counter[str]:
    """One round; how the clients fared. Every right grammar's answer is checked. Returns when the engine is
    idle again."""
    outcomes = asyncio.run(_round(url, leaving, wrong, right, seed))
    engine = app.state.backend.engine
    assert isinstance(engine, Engine)
    wait_until(lambda: engine.running + engine.waiting == 0, limit_s=60)
    return outcomes


async def _round(url: str, leaving: int, wrong: int, right: int, seed: int) -> Counter[str]:
    chance = random.Random(seed)
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=url, timeout=120, limits=limits) as client:
        clients: list[Any] = [_leave(client, chance) for _ in range(leaving)]
        clients += [_ask_wrongly(client, chance) for _ in range(wrong)]
        clients += [_ask(client, chance, number) for number in range(right)]
        chance.shuffle(clients)
        return Counter(await asyncio.gather(*clients))


def _body(chance: random.Random, **fields: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": "x" * chance.randint(1, 100)}]
    return {"messages": messages, "max_tokens": 60, "stream": chance.random() < 0.5, **fields}


async def _leave(client: httpx.AsyncClient, chance: random.Random) -> str:
    """Closes the connection at any moment: before the answer, within it, or after it."""
    grammar = {"guided_grammar": "root ::= [a-z]{1,200}"} if chance.random() < 0.5 else {}
    body = _body(chance, n=chance.randint(1, 3), **grammar)
    try:
        async with asyncio.timeout(chance.random() * 2):
            await client.post(URL, json=body)
    except TimeoutError:
        return "left"
    return "stayed"


async def _ask_wrongly(client: httpx.AsyncClient, chance: random.Random) -> str:
    response = await client.post(URL, json=_body(chance, guided_grammar=chance.choice(WRONG)))
    if response.status_code != 503:
        assert response.status_code == 400, response.text
        assert response.json()["error"]["code"] == "invalid_grammar"
    return f"wrong: {response.status_code}"


async def _ask(client: httpx.AsyncClient, chance: random.Random, number: int) -> str:
    length = chance.randint(1, 20)
    grammar = f'root ::= "n{number}:" [0-9]{{{length}}} "."'
    body = _body(chance, guided_grammar=grammar, stream=False)
    response = await client.post(URL, json=body)
    if response.status_code == 200:
        text = response.json()["choices"][0]["message"]["content"]
        assert re.fullmatch(rf"n{number}:[0-9]{{{length}}}\.", text), text
    else:
        assert response.status_code == 503, response.text
    return f"right: {response.status_code}"


def memory_bytes() -> int:
    """What the process has resident now."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def main() -> None:
    leaving = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    settings = ServerSettings(
        max_batch_size=16, max_waiting=4000, access_log=False, grammar_max_pending=1000, grammar_timeout_s=120
    )
    app = create_app(settings, open_backend=tiny_backend)
    with running_server(app) as url:
        for number in range(rounds):
            outcomes = soak(app, url, leaving=leaving, wrong=200, right=200, seed=number)
            memory = memory_bytes() / 2**20
            print(f"{dict(outcomes)}; {memory:.0f} MiB; {threading.active_count()} threads", flush=True)


if __name__ == "__main__":
    main()
