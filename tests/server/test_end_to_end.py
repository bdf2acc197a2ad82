"""The whole path: real clients, the real server, the native grammar engine and the embedded model."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from langchain_openai import ChatOpenAI
from openai import OpenAI
from pydantic import SecretStr

from grammar_core import Grammar, GrammarCompiler
from server.app import create_app
from server.backend import Backend
from server.engine import Engine
from server.settings import ServerSettings
from tests.oracle import Oracle
from tests.server.running_server import running_server, wait_until

# The first of these tests may have to fetch and convert the model.
pytestmark = pytest.mark.timeout(600)

REPOSITORY = Path(__file__).parents[2]
URL = "/v1/chat/completions"


def shipped(name: str) -> str:
    return (REPOSITORY / "configs" / "grammars" / name).read_text("utf-8")


GRAMMARS = {
    "three strings": shipped("three_strings.ebnf"),
    "email": shipped("email.ebnf"),
    "emoji": shipped("emoji.ebnf"),
    "arithmetic": 'root ::= sum\nsum ::= sum "+" term | term\nterm ::= [0-9]{1,3} | "(" sum ")"',
    "cyrillic": 'root ::= [а-яё]{3,9} (" " [а-яё]{3,9}){0,3} "."',
}
MIGRATION = shipped("yaml_migration.ebnf")


@dataclass(frozen=True)
class Served:
    url: str
    app: FastAPI

    @property
    def backend(self) -> Backend:
        backend: Backend = self.app.state.backend
        return backend

    @property
    def running(self) -> int:
        """Requests that are being generated."""
        assert isinstance(self.backend.engine, Engine)
        return self.backend.engine.running


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    app = create_app(ServerSettings(device="cpu", max_batch_size=32, grammar_timeout_s=30, access_log=False))
    with running_server(app, start_limit_s=500) as url:
        yield Served(url, app)


@pytest.fixture
def client(served: Served) -> Iterator[httpx.Client]:
    limits = httpx.Limits(max_connections=64)
    with httpx.Client(base_url=served.url, timeout=300, limits=limits) as client:
        yield client


def request(prompt: str = "Answer.", **fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": prompt}], "max_tokens": 600, **fields}


def answer(client: httpx.Client, body: dict[str, Any]) -> tuple[str, str]:
    """Text and finish reason."""
    response = client.post(URL, json=body)
    assert response.status_code == 200, response.text
    [choice] = response.json()["choices"]
    return choice["message"]["content"], choice["finish_reason"]


def oracle_of(grammar: str) -> Oracle:
    parsed = Grammar.from_ebnf(grammar)
    return Oracle(parsed.rules, parsed.root)


def assert_in_language(grammar: str, text: str, finish_reason: str = "stop") -> None:
    oracle = oracle_of(grammar)
    assert "\ufffd" not in text
    if finish_reason == "stop":
        assert oracle.accepts(text.encode()), text
    else:
        assert oracle.is_viable(text.encode()), text


# --- one request


@pytest.mark.parametrize("name", GRAMMARS)
def test_answer_is_in_the_grammars_language(client: httpx.Client, name: str) -> None:
    body = request(guided_grammar=GRAMMARS[name], temperature=1.0, max_tokens=100)
    text, finish_reason = answer(client, body)
    assert_in_language(GRAMMARS[name], text, finish_reason)


def test_complete_grammar_ends_the_answer(client: httpx.Client) -> None:
    assert answer(client, request(guided_grammar='root ::= "yes"')) == ("yes", "stop")


def test_empty_answer_is_an_answer(client: httpx.Client) -> None:
    assert answer(client, request(guided_grammar='root ::= ""')) == ("", "stop")


def test_cut_answer_is_the_beginning_of_a_sentence(client: httpx.Client) -> None:
    grammar = GRAMMARS["three strings"]
    text, finish_reason = answer(client, request(guided_grammar=grammar, max_tokens=5))
    assert finish_reason == "length"
    assert_in_language(grammar, text, finish_reason)


def test_stop_string_ends_the_answer_before_the_grammar_does(client: httpx.Client) -> None:
    text, finish_reason = answer(client, request(guided_grammar='root ::= "abcdef"', stop="de"))
    assert (text, finish_reason) == ("abc", "stop")


def test_unconstrained_answer(client: httpx.Client) -> None:
    text, _ = answer(client, request("What is the capital of France?", max_tokens=20, temperature=0))
    assert text.strip()


# --- rule options


TWO_TEMPERATURES = r"""
root ::= plan idea
plan[temperature=0, capture] ::= "I will " [a-z ]{8,16} "."
idea[temperature=1.5, capture="second"] ::= " And " [a-z ]{8,16} "!"
"""


def test_rules_have_their_own_temperatures(client: httpx.Client) -> None:
    bodies = [
        request(guided_grammar=TWO_TEMPERATURES, seed=seed, temperature=temperature, max_tokens=40)
        for seed in range(3)
        for temperature in (0, 2)
    ]
    with ThreadPoolExecutor(len(bodies)) as pool:
        texts = [text for text, _ in pool.map(lambda body: answer(client, body), bodies)]
    for text in texts:
        assert_in_language(TWO_TEMPERATURES, text)
    assert len({text.partition(".")[0] for text in texts}) == 1
    # The request's temperature acts nowhere, so equal seeds agree and different ones do not.
    seconds = [text.partition(".")[2] for text in texts]
    assert seconds[::2] == seconds[1::2]
    assert len(set(seconds)) > 1


def test_a_thinking_budget_holds(client: httpx.Client) -> None:
    """Token by token: what lies between the marks was sampled as at most 32 tokens."""
    grammar = 'root ::= "<think>" thoughts "</think>" [0-9]{1,3}\nthoughts[max_tokens=32] ::= [^<]*\n'
    prompt = "Think long and hard about the number of days in a year."
    body = request(prompt, guided_grammar=grammar, temperature=1.0, max_tokens=200)
    response = client.post(URL, json=body).json()
    text = response["choices"][0]["message"]["content"]
    assert response["choices"][0]["finish_reason"] == "stop"
    assert text.startswith("<think>")
    assert text.rpartition("</think>")[2].isdigit()
    # The marks, the digits and the stop token take at most 7, 8, 3 and 1 tokens.
    assert response["usage"]["completion_tokens"] <= 32 + 7 + 8 + 3 + 1


def parts(text: str) -> list[dict[str, str]]:
    """The captures of TWO_TEMPERATURES in a complete answer."""
    plan, _, second = text.partition(".")
    return [{"name": "plan", "text": plan + "."}, {"name": "second", "text": second}]


def test_captures_through_the_openai_client(served: Served) -> None:
    options: dict[str, Any] = {
        "model": served.backend.model_name,
        "messages": [{"role": "user", "content": "A plan."}],
        "extra_body": {"guided_grammar": TWO_TEMPERATURES, "return_captures": True},
        "seed": 1,
    }
    with OpenAI(base_url=f"{served.url}/v1", api_key="unused", max_retries=0) as openai_client:
        [choice] = openai_client.chat.completions.create(**options).choices
        assert choice.model_extra is not None
        assert choice.model_extra["captures"] == parts(choice.message.content or "")

        chunks = list(openai_client.chat.completions.create(**options, stream=True))
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        extras = [chunk.choices[0].model_extra or {} for chunk in chunks]
        assert extras[-1]["captures"] == parts(text) == choice.model_extra["captures"]
        assert not any("captures" in extra for extra in extras[:-1])

        [cut] = openai_client.chat.completions.create(**options, max_tokens=9).choices
        assert cut.finish_reason == "length"
        assert cut.model_extra is not None
        is_plan_complete = "." in (cut.message.content or "")
        assert cut.model_extra["captures"] == parts(text)[: int(is_plan_complete)]


def test_captures_of_bytes_and_of_lazy_rules(client: httpx.Client, served: Served) -> None:
    assert isinstance(served.backend.compiler, GrammarCompiler)
    vocabulary = served.backend.compiler.tokenizer_info.decoded_vocab
    first_half, second_half = (vocabulary.index(bytes([byte])) for byte in "é".encode())
    grammar = f"""
root ::= line line letter
line[lazy, capture] ::= [a-z ;]{{0,20}} ";"
letter[capture] ::= Token({first_half}) rest
rest[capture] ::= Token({second_half})
"""
    response = client.post(URL, json=request(guided_grammar=grammar, return_captures=True, max_tokens=120))
    [choice] = response.json()["choices"]
    assert choice["finish_reason"] == "stop"
    first, second, end = choice["message"]["content"].split(";")
    assert end == "é"
    assert choice["captures"] == [
        {"name": "line", "text": f"{first};"},
        {"name": "line", "text": f"{second};"},
        {"name": "rest", "base64": "qQ=="},
        {"name": "letter", "text": "é"},
    ]


# --- clients and examples


def chat(served: Served, grammar: str) -> ChatOpenAI:
    return ChatOpenAI(
        model=served.backend.model_name,
        max_completion_tokens=1000,
        temperature=1.0,
        base_url=f"{served.url}/v1",
        api_key=SecretStr("unused"),
        extra_body={
            "guided_grammar": grammar,
            "top_k": 20,
            "chat_template_kwargs": {"enable_thinking": False},
        },
    )


def assert_three_strings(text: str) -> None:
    strings = json.loads(text)
    assert len(strings) == 3
    assert all(isinstance(string, str) for string in strings)


def test_langchain_whole_and_streamed(served: Served) -> None:
    model = chat(served, GRAMMARS["three strings"])
    prompt = "Three ways to ask how to delete all rows from a table, as a JSON array."
    assert_three_strings(str(model.invoke(prompt).content))
    pieces = [str(chunk.content) for chunk in model.stream(prompt)]
    assert_three_strings("".join(pieces))
    assert len(pieces) > 5


def test_streamed_emoji_are_never_cut(served: Served) -> None:
    pieces = [str(chunk.content) for chunk in chat(served, GRAMMARS["emoji"]).stream("A story.")]
    assert not any("\ufffd" in piece for piece in pieces)
    assert_in_language(GRAMMARS["emoji"], "".join(pieces))


def test_migration(client: httpx.Client) -> None:
    prompt = "Generate a data model for an application that sells horror books."
    text, finish_reason = answer(client, request(prompt, guided_grammar=MIGRATION, max_tokens=300))
    assert_in_language(MIGRATION, text, finish_reason)


@pytest.mark.parametrize(
    "command",
    [
        [sys.executable, "-W", "error", "examples/langchain_guided_grammar.py"],
        ["bash", "examples/curl.sh"],
    ],
    ids=["langchain", "curl"],
)
def test_example_runs(served: Served, command: list[str]) -> None:
    result = subprocess.run(
        [*command, f"{served.url}/v1"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("== Three ways")
    if command[0] == "bash":
        assert "line 2, column 5" in result.stdout


# --- many requests


def test_32_requests_of_six_kinds_in_one_batch(client: httpx.Client) -> None:
    kinds: list[str | None] = [*GRAMMARS.values(), None]
    grammars = [kinds[index % len(kinds)] for index in range(32)]
    random.Random(1).shuffle(grammars)
    bodies = [
        request(f"Question {index}.", max_tokens=150 if grammar else 20, temperature=1.0, seed=index)
        | ({"guided_grammar": grammar} if grammar else {})
        for index, grammar in enumerate(grammars)
    ]
    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(lambda body: answer(client, body), bodies))
    for grammar, (text, finish_reason) in zip(grammars, answers, strict=True):
        if grammar is not None:
            assert_in_language(grammar, text, finish_reason)


def test_equal_seeds_give_equal_answers_alone_and_in_a_batch(client: httpx.Client) -> None:
    body = request("An address.", guided_grammar=GRAMMARS["email"], seed=11, max_tokens=60)
    alone = answer(client, body)
    others = [request(f"Say {index}.", max_tokens=40, seed=index) for index in range(5)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda one: answer(client, one), [body, *others, body]))
    assert answers[0] == answers[-1] == alone


def test_reader_that_leaves_frees_its_place(client: httpx.Client, served: Served) -> None:
    body = request("Count to a thousand.", stream=True, max_tokens=5000, guided_grammar="root ::= [0-9 ]*")
    with client.stream("POST", URL, json=body) as response:
        lines = (line for line in response.iter_lines() if line)
        next(lines)
        next(lines)
        assert served.running == 1
    wait_until(lambda: served.running == 0)
    with pytest.raises(httpx.ReadTimeout):
        client.post(URL, json=body | {"stream": False}, timeout=1)
    wait_until(lambda: served.running == 0)


# --- hostile grammars


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "grammar",
    ['root ::= "a', "root ::= nothing", "", 'root ::= "a"{5,2}'],
    ids=["unterminated", "undefined", "empty", "range"],
)
def test_bad_grammar_is_a_400(client: httpx.Client, grammar: str, stream: bool) -> None:
    response = client.post(URL, json=request(guided_grammar=grammar, stream=stream))
    assert response.status_code == 400
    error = response.json()["error"]
    assert (error["param"], error["code"]) == ("guided_grammar", "invalid_grammar")
    assert client.get("/health").status_code == 200


def chained(count: int) -> str:
    rules = [f"r{index} ::= r{index + 1}" for index in range(count)]
    return "\n".join(["root ::= r0", *rules, f'r{count} ::= "end"'])


@pytest.mark.parametrize(
    "grammar",
    [
        "root ::= root",
        chained(20_000),
        'root ::= "' + "a" * 5_000_000 + '"',
        "root ::= " + "(" * 100_000 + '"a"' + ")" * 100_000,
        'root ::= root root | "a" | ""',
        'root ::= "a"{0,5000000000}',
    ],
    ids=["endless", "chain", "5 MB", "parentheses", "ambiguous", "count"],
)
def test_hostile_grammar_ends_in_an_answer_or_a_400(client: httpx.Client, grammar: str) -> None:
    began = time.monotonic()
    response = client.post(URL, json=request(guided_grammar=grammar, max_tokens=4))
    seconds = time.monotonic() - began
    assert response.status_code in (200, 400), response.text
    if response.status_code == 400:
        assert response.json()["error"]["param"] == "guided_grammar"
    assert client.get("/health").status_code == 200
    # Twice the goal: the machine may be busy with something else.
    assert seconds < 4
