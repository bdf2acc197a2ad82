"""Every way to state a constraint, and tools, on the embedded model through the clients people use."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import httpx
import openai
import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from openai import OpenAI, pydantic_function_tool
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from server.app import create_app
from server.settings import ServerSettings
from tests.server.running_server import running_server

# The first of these tests may have to fetch and convert the model.
pytestmark = pytest.mark.timeout(600)

REPOSITORY = Path(__file__).parents[2]
URL = "/v1/chat/completions"
ASK: Any = [{"role": "user", "content": "Answer in one word: what colour is grass?"}]
COLOURS = ("red", "green", "blue")
EBNF = 'root ::= colour "!"\ncolour ::= "red" | "green" | "blue"'
LARK = 'start: colour "!"\ncolour: "red" | "green" | "blue"'
ANSWER = re.compile(r"(red|green|blue)!")
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "colour": {"enum": list(COLOURS)},
        "share": {"type": "integer", "minimum": 0, "maximum": 9},
    },
    "required": ["colour", "share"],
    "additionalProperties": False,
}
NAMED_SCHEMA = {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}}
BAD_NAMED_SCHEMA = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "x"}}}
BAD_PATTERN = {"type": "object", "properties": {"a": {"pattern": "("}}}
TAG = {
    "type": "structural_tag",
    "format": {
        "type": "tag",
        "begin": "<answer>",
        "content": {"type": "json_schema", "json_schema": SCHEMA},
        "end": "</answer>",
    },
}


class Answer(BaseModel):
    """An answer with one of three colours."""

    model_config = ConfigDict(extra="forbid")

    colour: Literal["red", "green", "blue"]
    share: int = Field(ge=0, le=9)


@tool
def paint(colour: Literal["red", "green", "blue"]) -> str:
    """Paint the wall."""
    return f"The wall is {colour}."


PAINT: Any = {
    "type": "function",
    "function": {
        "name": "paint",
        "parameters": {
            "type": "object",
            "properties": {"colour": {"enum": list(COLOURS)}},
            "required": ["colour"],
            "additionalProperties": False,
        },
    },
}
NO_ARGUMENTS: Any = {"type": "function", "function": {"name": "stop"}}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    grammars = {"three_strings": REPOSITORY / "configs" / "grammars" / "three_strings.ebnf"}
    settings = ServerSettings(
        device="cpu", max_batch_size=8, grammar_timeout_s=30, grammars=grammars, access_log=False
    )
    with running_server(create_app(settings), start_limit_s=500) as url:
        yield url


@pytest.fixture
def client(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, timeout=300) as client:
        yield client


@pytest.fixture
def openai_client(url: str) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{url}/v1", api_key="unused", max_retries=0) as client:
        yield client


@pytest.fixture
def model(openai_client: OpenAI) -> str:
    return openai_client.models.list().data[0].id


@pytest.fixture
def chat(url: str, model: str) -> ChatOpenAI:
    return ChatOpenAI(
        model=model,
        base_url=f"{url}/v1",
        api_key=SecretStr("unused"),
        max_retries=0,
        max_completion_tokens=150,
        temperature=0,
    )


def content(client: httpx.Client, **fields: Any) -> str:
    body = {"messages": ASK, "max_tokens": 120, "temperature": 1.0, "seed": 7, **fields}
    response = client.post(URL, json=body)
    assert response.status_code == 200, response.text
    choice = response.json()["choices"][0]
    assert choice["finish_reason"] == "stop", choice
    return str(choice["message"]["content"])


def check_json(text: str) -> None:
    value = json.loads(text)
    assert value["colour"] in COLOURS
    assert 0 <= value["share"] <= 9


def check_tag(text: str) -> None:
    assert text.startswith("<answer>")
    check_json(text.removeprefix("<answer>").removesuffix("</answer>"))


def check_text(text: str) -> None:
    assert ANSWER.fullmatch(text), text


def check_choice(text: str) -> None:
    assert text in COLOURS


def check_object(text: str) -> None:
    assert isinstance(json.loads(text), dict)


# --- every field


@pytest.mark.parametrize(
    ("fields", "check"),
    [
        ({"guided_grammar": EBNF}, check_text),
        ({"guided_lark": LARK}, check_text),
        ({"guided_lark": 'start: @c "!"', "named_grammars": {"c": 'start: "red"'}}, check_text),
        ({"guided_json": SCHEMA}, check_json),
        ({"guided_json": json.dumps(SCHEMA)}, check_json),
        ({"guided_json": Answer.model_json_schema()}, check_json),
        ({"guided_json": SCHEMA, "guided_whitespace_pattern": " ?"}, check_json),
        ({"guided_regex": "(red|green|blue)!"}, check_text),
        ({"guided_choice": list(COLOURS)}, check_choice),
        ({"structured_outputs": {"json": SCHEMA, "disable_any_whitespace": True}}, check_json),
        ({"structured_outputs": {"regex": "(red|blue)!"}}, check_text),
        ({"structured_outputs": {"choice": list(COLOURS)}}, check_choice),
        ({"structured_outputs": {"grammar": EBNF}}, check_text),
        ({"structured_outputs": {"grammar": LARK}}, check_text),
        ({"structured_outputs": {"structural_tag": json.dumps(TAG)}}, check_tag),
        ({"response_format": NAMED_SCHEMA}, check_json),
        ({"response_format": {"type": "json_object", "schema": SCHEMA}}, check_json),
        ({"response_format": TAG}, check_tag),
        ({"json_schema": json.dumps(SCHEMA)}, check_json),
        ({"regex": "(red|green|blue)!"}, check_text),
        ({"ebnf": EBNF}, check_text),
        ({"grammar": EBNF}, check_text),
        ({"grammar_ref": "three_strings", "grammar_rules": {"root": '"red!" | "blue!"'}}, check_text),
        ({"guided_grammar": EBNF, "grammar_rules": {"colour": ["red", "blue"]}}, check_text),
    ],
)  # fmt: skip
def test_answer_obeys(client: httpx.Client, fields: dict[str, Any], check: Any) -> None:
    check(content(client, **fields))


@pytest.mark.parametrize(
    "fields", [{"response_format": {"type": "json_object"}}, {"structured_outputs": {"json_object": True}}]
)
def test_any_json_object(client: httpx.Client, fields: dict[str, Any]) -> None:
    """An open object may be long, so what was cut is the beginning of one."""
    body = {"messages": ASK, "max_tokens": 25, "temperature": 0, **fields}
    choice = client.post(URL, json=body).json()["choices"][0]
    text = choice["message"]["content"]
    assert text.startswith("{")
    if choice["finish_reason"] == "stop":
        check_object(text)


@pytest.mark.parametrize(
    "fields", [{"guided_lark": LARK}, {"guided_json": SCHEMA}, {"guided_choice": list(COLOURS)}]
)
def test_streamed_answer_equals_the_whole_one(client: httpx.Client, fields: dict[str, Any]) -> None:
    body = {"messages": ASK, "max_tokens": 120, "temperature": 0, **fields}
    whole = client.post(URL, json=body).json()["choices"][0]["message"]["content"]
    response = client.post(URL, json={**body, "stream": True})
    events = [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: {")]
    assert "".join(event["choices"][0]["delta"].get("content", "") for event in events) == whole


def test_captures_of_a_lark_grammar(client: httpx.Client) -> None:
    grammar = 'start: colour "!"\ncolour[capture]: "red" | "green" | "blue"'
    body = {"messages": ASK, "guided_lark": grammar, "return_captures": True}
    choice = client.post(URL, json=body).json()["choices"][0]
    assert choice["captures"] == [{"name": "colour", "text": choice["message"]["content"][:-1]}]


# --- errors


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("fields", "param", "words"),
    [
        ({"guided_grammar": 'root ::= "a"\nroot ::= "b"'}, "guided_grammar", "line 2, column 1"),
        ({"guided_lark": "start: a\n  | b"}, "guided_lark", "line 1, column 8"),
        ({"guided_regex": "(a"}, "guided_regex", "column 1"),
        ({"guided_json": BAD_PATTERN}, "guided_json", "/properties/a/pattern"),
        ({"guided_json": {"type": "strin"}}, "guided_json", "/type"),
        ({"guided_json": "{"}, "guided_json", "not JSON"),
        ({"structured_outputs": {"grammar": "root ::= ("}}, "structured_outputs.grammar", "line 1"),
        ({"structured_outputs": {"structural_tag": "{}"}}, "structured_outputs.structural_tag", ""),
        ({"response_format": BAD_NAMED_SCHEMA}, "response_format.json_schema.schema", "/type"),
        ({"grammar_rules": {"colour": "x"}, "guided_grammar": EBNF}, "grammar_rules.colour", "column 1"),
        ({"grammar_rules": {"color": ["a"]}, "guided_grammar": EBNF}, "grammar_rules.color", "colour"),
        ({"guided_json": SCHEMA, "guided_regex": "a"}, "guided_regex", "'guided_json'"),
        ({"guided_jsn": SCHEMA}, "guided_jsn", "guided_json"),
        ({"ebnf": "root"}, "ebnf", "line 1"),
        ({"guided_json": SCHEMA, "guided_whitespace_pattern": "("}, "guided_whitespace_pattern", "column 1"),
    ],
)  # fmt: skip
def test_bad_constraint_is_a_400_before_the_answer(
    client: httpx.Client, fields: dict[str, Any], param: str, words: str, stream: bool
) -> None:
    response = client.post(URL, json={"messages": ASK, "stream": stream, **fields})
    assert response.status_code == 400, response.text
    error = response.json()["error"]
    assert error["param"] == param
    assert words in error["message"]
    assert client.get("/health").status_code == 200


def test_openai_client_sees_a_bad_request_once(openai_client: OpenAI, model: str) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        openai_client.chat.completions.create(
            model=model, messages=ASK, stream=True, extra_body={"guided_lark": "start: nothing"}
        )
    assert (caught.value.param, caught.value.code) == ("guided_lark", "invalid_grammar")


# --- the openai client


def test_openai_parse(openai_client: OpenAI, model: str) -> None:
    completion = openai_client.chat.completions.parse(
        model=model, messages=ASK, response_format=Answer, max_completion_tokens=100
    )
    assert isinstance(completion.choices[0].message.parsed, Answer)


def test_openai_stream_of_a_model(openai_client: OpenAI, model: str) -> None:
    with openai_client.chat.completions.stream(
        model=model, messages=ASK, response_format=Answer, max_completion_tokens=100
    ) as stream:
        completion = stream.get_final_completion()
    assert isinstance(completion.choices[0].message.parsed, Answer)


def test_openai_tools_of_models(openai_client: OpenAI, model: str) -> None:
    completion = openai_client.chat.completions.parse(
        model=model,
        messages=ASK,
        tools=[pydantic_function_tool(Answer)],
        tool_choice="required",
        parallel_tool_calls=False,
        max_completion_tokens=100,
    )
    [made] = completion.choices[0].message.tool_calls or []
    assert isinstance(made.function.parsed_arguments, Answer)
    assert completion.choices[0].finish_reason == "tool_calls"


@pytest.mark.parametrize("syntax", ["lark", "regex"])
def test_openai_custom_tool(openai_client: OpenAI, model: str, syntax: Literal["lark", "regex"]) -> None:
    definitions = {
        "lark": 'start: "paint \\"" ("red" | "blue") "\\"\\n"',
        "regex": 'paint "(red|blue)"\n',
    }
    grammar: Any = {"syntax": syntax, "definition": definitions[syntax]}
    completion = openai_client.chat.completions.create(
        model=model,
        messages=ASK,
        tools=[
            {
                "type": "custom",
                "custom": {
                    "name": "command",
                    "format": {"type": "grammar", "grammar": grammar},
                },
            }
        ],
        tool_choice={"type": "custom", "custom": {"name": "command"}},
        max_completion_tokens=100,
    )
    [made] = completion.choices[0].message.tool_calls or []
    assert made.type == "custom"
    assert re.fullmatch('paint "(red|blue)"\n', made.custom.input)
    assert completion.choices[0].finish_reason == "stop"


def test_streamed_parallel_calls(openai_client: OpenAI, model: str) -> None:
    """The grammar lets a model make any number of calls, so two are asked for by making the first one end."""
    with openai_client.chat.completions.stream(
        model=model,
        messages=ASK,
        tools=[PAINT, NO_ARGUMENTS],
        tool_choice="required",
        temperature=1.2,
        seed=3,
        max_completion_tokens=200,
    ) as stream:
        completion = stream.get_final_completion()
    [choice] = completion.choices
    calls = choice.message.tool_calls or []
    assert calls
    assert len({made.id for made in calls}) == len(calls)
    whole = calls if choice.finish_reason == "tool_calls" else calls[:-1]
    for made in whole:
        arguments = json.loads(made.function.arguments)
        assert arguments == {} if made.function.name == "stop" else arguments["colour"] in COLOURS


# --- LangChain


@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
def test_langchain_structured_output(chat: ChatOpenAI, method: Any) -> None:
    assert isinstance(chat.with_structured_output(Answer, method=method).invoke("What colour?"), Answer)


def test_langchain_json_mode(chat: ChatOpenAI) -> None:
    """Any object is right, so a small model may not end in time; what it writes is the beginning of one."""
    structured = chat.with_structured_output(None, method="json_mode", include_raw=True)
    try:
        raw: Any = structured.invoke("A JSON object with your answer, please.", max_tokens=20)
        text = raw["raw"].content
    except openai.LengthFinishReasonError as error:
        text = error.completion.choices[0].message.content
    assert text.startswith("{")


@pytest.mark.parametrize("tool_choice", ["any", "paint"])
def test_langchain_bind_tools(chat: ChatOpenAI, tool_choice: str) -> None:
    bound = chat.bind_tools([paint], tool_choice=tool_choice, parallel_tool_calls=False)
    answer = bound.invoke("Paint the wall.")
    assert isinstance(answer, AIMessage)
    [made] = answer.tool_calls
    assert made["name"] == "paint"
    assert made["args"]["colour"] in COLOURS
    result = paint.invoke(made)
    final = chat.invoke([("user", "Paint the wall."), answer, result], max_tokens=10)
    assert isinstance(final.content, str)


def test_langchain_bind_tools_auto(chat: ChatOpenAI) -> None:
    """A small model answers as it likes; whatever it calls is called properly."""
    answer = chat.bind_tools([paint]).invoke("Paint the wall green.", max_tokens=30)
    assert isinstance(answer, AIMessage)
    assert answer.content or answer.tool_calls
    for made in answer.tool_calls:
        assert made["name"] == "paint"
        assert made["args"]["colour"] in COLOURS


# --- examples


@pytest.mark.parametrize("name", ["langchain_structured_output.py", "langchain_tools.py"])
def test_example_runs(url: str, name: str) -> None:
    result = subprocess.run(
        [sys.executable, f"examples/{name}", f"{url}/v1"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("==") == 3
