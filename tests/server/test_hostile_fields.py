"""Every field of every body with values of every kind: an answer, or a 400 that names what is wrong.

What a body may have is what the OpenAPI document says, so a wrong value that is answered as if it were not
there is found. The engine is the real one, on a model of a few thousand weights.
"""

from __future__ import annotations

import copy
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import jsonschema
import pytest

from server.app import create_app
from server.settings import ServerSettings
from tests.server.tiny_backend import tiny_backend

JSON = {"Content-Type": "application/json"}
Path = tuple[str | int, ...]

# The name of the body in the OpenAPI document, and the smallest one.
BASES: dict[str, tuple[str, dict[str, Any]]] = {
    "/v1/chat/completions": (
        "ChatCompletionRequest",
        {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 2},
    ),
    "/v1/completions": ("CompletionRequest", {"prompt": "hi", "max_tokens": 2}),
    "/v1/responses": ("ResponsesRequest", {"input": "hi", "max_output_tokens": 2}),
    "/tokenize": ("TokenizeRequest", {"prompt": "hi"}),
    "/detokenize": ("DetokenizeRequest", {"tokens": [104, 105]}),
}
STREAMED = ("/v1/chat/completions", "/v1/completions", "/v1/responses")


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


def schema_tree(depth: int) -> Any:
    value: Any = {}
    for _ in range(depth):
        value = {"properties": {"a": value}}
    return value


VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 21, 10**9, 2**31, 2**63, -(2**63) - 1, 10**400, 0.5, 1.0, -0.0, 1e308,
    5e-324, "", " ", "a", "auto", "none", "required", "text", "\x00", "é\U0001f600\u202e\ufffe", "x" * 50_000,
    "(" * 5000,
    [], [None], [True], [0], [-1], [0.5], [""], ["a"], [{}], [[]], [["a"]], [[0]], ["a"] * 5000, [0] * 5000,
    {}, {"": None}, {"a": None}, {"a": 1}, {"a": "a"}, {"a": []}, {"a": {}}, {"type": "a"}, {"type": None},
    {"type": "text"}, {"type": "function"}, {"type": "json_object"}, {"type": "json_schema"},
    {"type": "any_text"}, {"0": 1}, {"999": 1}, {str(number): 1 for number in range(5000)},
    nested(150), schema_tree(60),
]  # fmt: skip
# For the many places inside of fields.
FEW_VALUES: list[Any] = [
    None, True, 1, -1, 2**70, 0.5, "", "a", "\x00", "(" * 500, [], [None], ["a"], [[]], {}, {"a": None},
    {"type": "a"}, nested(150),
]  # fmt: skip

F = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}
LARK = {"type": "grammar", "grammar": {"syntax": "lark", "definition": 'start: "a"'}}
CHAT_TOOLS = [F, {"type": "custom", "custom": {"name": "q", "description": "d", "format": LARK}}]
NAMED_F = {"type": "function", "function": {"name": "f"}}
ALLOWED = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [NAMED_F]}}
FLAT_FUNCTION = {"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": True}
REGEX = {"type": "grammar", "syntax": "regex", "definition": "a"}
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
CONVERSATION = [
    {"role": "system", "content": [{"type": "text", "text": "Brief."}]},
    {"role": "user", "content": "hi", "name": "n"},
    {"role": "assistant", "content": "a", "tool_calls": [CALL]},
    {"role": "tool", "content": "b", "tool_call_id": "c1"},
]
TAG = {"type": "structural_tag", "format": {"type": "const_string", "value": "a"}}
ITEMS = [
    {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
    {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "b"},
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "t"}]},
]
RICH: list[tuple[str, dict[str, Any]]] = [
    ("/v1/chat/completions", {"messages": CONVERSATION, "logit_bias": {"5": 1}, "metadata": {"a": "b"}}),
    ("/v1/chat/completions", {"tools": CHAT_TOOLS, "tool_choice": NAMED_F}),
    ("/v1/chat/completions", {"tools": [F], "tool_choice": ALLOWED}),
    (
        "/v1/chat/completions",
        {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "n", "description": "d", "strict": True, "schema": SCHEMA},
            },
            "stream": True,
            "stream_options": {"include_usage": True, "continuous_usage_stats": False},
        },
    ),
    ("/v1/chat/completions", {"response_format": TAG}),
    ("/v1/chat/completions", {"guided_grammar": 'root ::= a\na ::= "x"', "grammar_rules": {"a": ["b"]}}),
    ("/v1/chat/completions", {"structured_outputs": {"json": SCHEMA, "whitespace_pattern": " ?"}}),
    ("/v1/completions", {"prompt": ["a", [104]], "guided_json": SCHEMA, "guided_json_loosen": ["format"]}),
    ("/v1/completions", {"guided_lark": "start: @n", "named_grammars": {"n": 'root ::= "a"'}, "stop": ["b"]}),
    ("/v1/responses", {"input": ITEMS, "metadata": {"a": "b"}, "include": ["message.output_text.logprobs"]}),
    ("/v1/responses", {"text": {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}}}),
    (
        "/v1/responses",
        {
            "tools": [FLAT_FUNCTION, {"type": "custom", "name": "q", "format": REGEX}],
            "tool_choice": {"type": "function", "name": "f"},
            "reasoning": {"effort": None},
        },
    ),
    ("/tokenize", {"prompt": None, "messages": CONVERSATION, "tools": [F]}),
]  # fmt: skip


@asynccontextmanager
async def client_of_a_tiny_model() -> AsyncIterator[tuple[httpx.AsyncClient, dict[str, Any]]]:
    """A client, and the OpenAPI document."""
    app = create_app(ServerSettings(access_log=False, grammar_timeout_s=20), open_backend=tiny_backend)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test", timeout=30) as client,
    ):
        yield client, (await client.get("/openapi.json")).json()


class Judge:
    """Says what is wrong with an answer; "" is nothing."""

    def __init__(self, document: dict[str, Any], path: str) -> None:
        components = {"components": document["components"]}
        body = {"$ref": f"#/components/schemas/{BASES[path][0]}"}
        self._validator = jsonschema.Draft202012Validator(body | components)

    def complaint(self, body: dict[str, Any], response: httpx.Response, fields: set[str]) -> str:
        """`fields`: those that a refusal may name."""
        if response.status_code == 200:
            if not self._validator.is_valid(body):
                return "what the document forbids was accepted"
            return "an error in the stream" if '{"error"' in response.text else ""
        if response.status_code not in (400, 404):
            return f"the status is {response.status_code}"
        error = response.json()["error"]
        if set(error) != {"message", "type", "param", "code"} or not error["message"] or not error["code"]:
            return "not the body of an error"
        # Of fields that were understood: what they say together cannot be.
        if error["code"] in ("no_token_left", "context_length_exceeded"):
            return "" if error["param"] else "nothing is named"
        named = str(error["param"]).partition(".")[0].partition("[")[0]
        return "" if named in fields else f"the error is about {error['param']!r}"


async def complaints(path: str, bodies: Iterator[tuple[str, dict[str, Any], set[str]]]) -> list[str]:
    """What is wrong with the answers to `bodies`, each with its name and the fields it is about."""
    found = []
    async with client_of_a_tiny_model() as (client, document):
        judge = Judge(document, path)
        for name, body, fields in bodies:
            response = await client.post(path, content=json.dumps(body), headers=JSON)
            wrong = judge.complaint(body, response, fields)
            if wrong:
                found.append(f"{path} {name:.100}: {wrong}: {response.text[:300]}")
    return found


def replaced_fields(path: str, fields: list[str]) -> Iterator[tuple[str, dict[str, Any], set[str]]]:
    """Every second body asks for a stream, where there are streams."""
    _, base = BASES[path]
    for field in fields:
        for number, value in enumerate(VALUES):
            body = {**base, "stream": True} if path in STREAMED and number % 2 else dict(base)
            body[field] = value
            yield f"{field} = {json.dumps(value)}", body, {field}


def replaced_parts(path: str, fields: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], set[str]]]:
    for place in places_in(fields):
        for value in FEW_VALUES:
            changed = copy.deepcopy(fields)
            part: Any = changed
            for step in place[:-1]:
                part = part[step]
            part[place[-1]] = value
            body = {name: value for name, value in {**BASES[path][1], **changed}.items() if value is not None}
            yield f"{place} = {json.dumps(value)}", body, set(fields)


def places_in(fields: dict[str, Any]) -> Iterator[Path]:
    """All places of `fields` but those at the top; a new key in every object, too."""
    open_places: list[tuple[Path, Any]] = [((), fields)]
    while open_places:
        place, value = open_places.pop()
        if len(place) > 1:
            yield place
        if isinstance(value, dict):
            open_places += [((*place, key), inner) for key, inner in value.items()]
            if place:
                yield (*place, "unknown")
        elif isinstance(value, list):
            open_places += [((*place, number), inner) for number, inner in enumerate(value)]


@pytest.mark.parametrize("path", BASES)
async def test_every_field_with_every_value(path: str) -> None:
    app = create_app(ServerSettings(), open_backend=tiny_backend)
    fields = list(app.openapi()["components"]["schemas"][BASES[path][0]]["properties"])
    found = await complaints(path, replaced_fields(path, fields))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", sorted({path for path, _ in RICH}))
async def test_every_part_of_the_fields_with_parts(path: str) -> None:
    bodies = [fields for rich_path, fields in RICH if rich_path == path]
    for fields in bodies:
        found = await complaints(path, replaced_parts(path, fields))
        assert not found, "\n".join(found)


RAW = {
    "nothing": b"",
    "a list": b"[]",
    "a string": b'"a"',
    "null": b"null",
    "half": b'{"n": 1',
    "two": b"{} {}",
    "a comma too many": b'{"n": 1,}',
    "a comment": b'{"n": 1} // one',
    "not a number": b'{"temperature": NaN}',
    "infinity": b'{"temperature": Infinity}',
    "negative infinity": b'{"temperature": -Infinity}',
    "a number that is infinite": b'{"temperature": 1e999}',
    "a plus sign": b'{"temperature": +1}',
    "half a surrogate pair": b'{"user": "\\ud800"}',
    "surrogates in the wrong order": b'{"user": "\\udc00\\ud800"}',
    "bytes that are no UTF-8": b'{"user": "\xff"}',
    "a surrogate in UTF-8": b'{"user": "\xed\xa0\x80"}',
    "UTF-16": '{"n": 1}'.encode("utf-16"),
    "a raw control character": b'{"user": "a\nb"}',
    "a key twice": b'{"n": 1, "n": 2}',
    "an escaped key twice": b'{"n": 1, "\\u006e": 2}',
    "a key twice inside": b'{"metadata": {"a": "b", "a": "c"}}',
    "100,000 lists": b'{"n": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "100,000 objects": b'{"n": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001,
    "a number of 100,000 digits": b'{"n": ' + b"9" * 100_000 + b"}",
}


@pytest.mark.parametrize("path", BASES)
async def test_texts_that_are_no_request(path: str) -> None:
    async with client_of_a_tiny_model() as (client, _):
        for name, text in RAW.items():
            response = await client.post(path, content=text, headers=JSON)
            error = response.json()["error"]
            assert response.status_code == 400, name
            assert error["type"] == "invalid_request_error", name
            if name not in ("a number that is infinite", "a number of 100,000 digits"):
                assert error["code"] == "invalid_json", name
            if name.startswith("100,000"):
                assert "more than 201 levels deep" in error["message"]
