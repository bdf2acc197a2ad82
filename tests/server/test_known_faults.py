"""Faults of other servers, each asked for over HTTP; ``docs/known_faults.md`` has the list.

The model is tiny and random, so that only the constraint keeps an answer right.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from server.app import create_app
from server.settings import ServerSettings
from tests.models.tiny import EOS, TOKENIZER_SIZE, VOCAB_SIZE
from tests.server.tiny_backend import tiny_backend

URL = "/v1/chat/completions"


@asynccontextmanager
async def serving() -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(ServerSettings(access_log=False), open_backend=tiny_backend)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client,
    ):
        yield client


async def post(client: httpx.AsyncClient, **fields: Any) -> httpx.Response:
    return await client.post(URL, json={"messages": [{"role": "user", "content": "hi"}], **fields})


async def answer(client: httpx.AsyncClient, **fields: Any) -> str:
    response = await post(client, **fields)
    assert response.status_code == 200, response.text
    content: str = response.json()["choices"][0]["message"]["content"]
    return content


async def refusal(client: httpx.AsyncClient, **fields: Any) -> dict[str, Any]:
    """The error, of a whole answer as of a stream; the server goes on."""
    for stream in (False, True):
        response = await post(client, stream=stream, **fields)
        assert response.status_code == 400, response.text
    assert (await client.get("/health")).status_code == 200
    error: dict[str, Any] = response.json()["error"]
    return error


NEVER = {"type": "string", "enum": [1]}
NO_VALUE = {
    "type": "object",
    "required": ["a"],
    "properties": {"a": {"type": "object", "required": ["b"], "properties": {"b": NEVER}}},
}
ENDLESS = {
    "$ref": "#/$defs/a",
    "$defs": {"a": {"type": "object", "required": ["n"], "properties": {"n": {"$ref": "#/$defs/a"}}}},
}
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "two roots": ({"guided_grammar": 'root ::= "a"\nroot ::= "b"'}, "guided_grammar"),
    "two roots in a field that guesses": (
        {"structured_outputs": {"grammar": 'root ::= "a"\nroot ::= "b"'}},
        "structured_outputs.grammar",
    ),
    "a wrong regex": ({"guided_regex": "(a"}, "guided_regex"),
    "a wrong grammar in the field of llama.cpp": ({"grammar": "root ::= ("}, "grammar"),
    "a wrong pattern": ({"json_schema": {"type": "string", "pattern": "("}}, "json_schema"),
    "a root of another name": ({"grammar": 'Root ::= "a"'}, "grammar"),
    "a schema whose values would be endless": ({"guided_json": ENDLESS}, "guided_json"),
    "a misspelled field": ({"guided_grammer": 'root ::= "a"'}, "guided_grammer"),
    "fields of lazy grammars": ({"grammar": 'root ::= "a"', "grammar_lazy": True}, "grammar_lazy"),
    "counts in the wrong order": ({"guided_grammar": 'root ::= "a"{5,0}'}, "guided_grammar"),
    "beam search": ({"use_beam_search": True, "guided_regex": "a"}, "use_beam_search"),
    "a schema with nesting beyond the limit": (
        {"guided_json": '{"items":' * 50_000 + "{}" + "}" * 50_000},
        "guided_json",
    ),
}


@pytest.mark.parametrize("name", WRONG)
async def test_wrong_constraints_are_the_client_s_fault(name: str) -> None:
    fields, param = WRONG[name]
    async with serving() as client:
        assert await answer(client, guided_regex="ab") == "ab"
        assert (await refusal(client, **fields))["param"] == param
        assert await answer(client, guided_regex="ab") == "ab"


NAMED_SCHEMA = {"name": "n", "schema": NO_VALUE}
CONTENT = {"type": "json_schema", "json_schema": NO_VALUE}
NO_VALUES: dict[str, tuple[dict[str, Any], str]] = {
    "guided_json": ({"guided_json": NO_VALUE}, "guided_json"),
    "response_format": (
        {"response_format": {"type": "json_schema", "json_schema": NAMED_SCHEMA}},
        "response_format.json_schema.schema",
    ),
    "a structural tag": (
        {
            "response_format": {
                "type": "structural_tag",
                "format": {"type": "tag", "begin": "<a>", "content": CONTENT, "end": "</a>"},
            }
        },
        "response_format",
    ),
    "a tool": (
        {
            "tools": [{"type": "function", "function": {"name": "f", "parameters": NO_VALUE}}],
            "tool_choice": "required",
        },
        "tools[0].function.parameters",
    ),
}


@pytest.mark.parametrize("name", NO_VALUES)
async def test_a_schema_without_values_is_refused_with_the_place_to_blame(name: str) -> None:
    fields, param = NO_VALUES[name]
    async with serving() as client:
        error = await refusal(client, **fields)
        assert (error["type"], error["param"], error["code"]) == (
            "invalid_request_error",
            param,
            "invalid_grammar",
        )
        assert "allows no value" in error["message"]
        assert "/properties/a/properties/b)" in error["message"]


SELECT = r"""
root ::= "select " column " from " table " where " column " = " [0-9]
column ::= "a" | "b"
table ::= "t" | "u"
"""
LINKED = {
    "$defs": {
        "n": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}, "additionalProperties": False}
    },
    "$ref": "#/$defs/n",
}
ARRAYS = {
    "type": "object",
    "properties": {f"p{i}": {"type": "array", "items": {"type": "integer"}} for i in range(12)},
    "additionalProperties": False,
}
RIGHT: dict[str, tuple[dict[str, Any], str]] = {
    "a grammar of several rules": ({"guided_grammar": SELECT}, r"select [ab] from [tu] where [ab] = \d"),
    "a schema in the older field": ({"guided_json": {"const": "a"}}, '"a"'),
    "a schema that says nothing": (
        {"guided_json": {"abc": "def"}, "logit_bias": {"49": 100, str(EOS): 100}},
        "1+",
    ),
    "a schema within itself": ({"guided_json": LINKED, "logit_bias": {"125": 100}}, r"\{\s*\}"),
    "twelve optional arrays": ({"guided_json": ARRAYS, "logit_bias": {"125": 100}}, r"\{\s*\}"),
    "a count of thousands": (
        {"guided_grammar": 'root ::= "b"{0,2000} "a"', "logit_bias": {"97": 100}},
        "a",
    ),
    "a count beyond 32 bits": (
        {"guided_grammar": 'root ::= "b"{0,5000000000} "a"', "logit_bias": {"97": 100}},
        "a",
    ),
    "pattern and maxLength": (
        {"guided_json": {"type": "string", "pattern": "^[a-z]+$", "minLength": 3, "maxLength": 3}},
        r'"([a-z]|\\u00[67][0-9a-fA-F]){3}"',
    ),
    "a rule of any text": ({"guided_grammar": 'root ::= any "!"\nany ::= [^!\\n]{0,9}'}, r"[^!\n]{0,9}!"),
}


@pytest.mark.parametrize("name", RIGHT)
async def test_right_constraints_are_obeyed(name: str) -> None:
    fields, pattern = RIGHT[name]
    async with serving() as client:
        assert re.fullmatch(pattern, await answer(client, max_tokens=100, temperature=2, **fields))


async def test_no_control_token_comes_in_the_middle() -> None:
    """However likely they are: stop tokens, padding, ids that the tokenizer does not have."""
    likely = {str(token): 100 for token in (EOS, *range(EOS + 1, VOCAB_SIZE))}
    assert TOKENIZER_SIZE < VOCAB_SIZE
    async with serving() as client:
        text = await answer(
            client, guided_json={"type": "string", "minLength": 60, "maxLength": 60}, logit_bias=likely
        )
        assert len(json.loads(text)) == 60


async def test_line_breaks_of_any_kind_and_a_second_call() -> None:
    grammar = 'root ::= a b\r\na ::= "x" |\r\n "y"\r\nb ::= "z"\r\n'
    async with serving() as client:
        for _ in range(3):
            assert await answer(client, guided_grammar=grammar) in ("xz", "yz")


async def test_white_space_ends() -> None:
    """A model that likes nothing as much as white space still comes to an end."""
    one = {"type": "object", "properties": {"a": {"enum": [1]}}, "required": ["a"]}
    schema = {**one, "additionalProperties": False}
    likes = {str(ord(space)): 100 for space in " \n\t\r"}
    async with serving() as client:
        body = {"guided_json": schema, "logit_bias": likes, "max_tokens": 400}
        choice = (await post(client, **body)).json()["choices"][0]
        assert choice["finish_reason"] == "stop"
        assert json.loads(choice["message"]["content"]) == {"a": 1}
