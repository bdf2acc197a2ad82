"""Many clients at once, of all kinds: ones that leave at any moment, wrong grammars, right ones."""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter
from typing import Any

import httpx

URL = "/v1/chat/completions"
WRONG = ["root ::=", 'root ::= "a" | nothing', "root ::= [z-a]", 'root ::= "a"{3,1}', 'root ::= "a']


async def soak_round(url: str, *, leaving: int, wrong: int, right: int, seed: int) -> Counter[str]:
    """How the clients fared. Every right grammar's answer is checked."""
    chance = random.Random(seed)
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=url, timeout=120, limits=limits, trust_env=False) as client:
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
