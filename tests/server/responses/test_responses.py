"""``/v1/responses`` over HTTP: whole and streamed answers, conversations, background, refusals."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from openai import OpenAI

from server.engine import TextDelta
from server.settings import ServerSettings
from tests.server.fakes import FakeCompiler, FakeEngine, prompt_text, spell
from tests.server.running_server import wait_until
from tests.server.test_chat_completions import refusal
from tests.server.test_chat_output import with_logprobs

URL = "/v1/responses"


def post(client: httpx.Client, content: Any = "hi", **fields: Any) -> httpx.Response:
    return client.post(URL, json={"input": content, **fields})


def good(client: httpx.Client, content: Any = "hi", **fields: Any) -> dict[str, Any]:
    response = post(client, content, **fields)
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


def events(client: httpx.Client, content: Any = "hi", **fields: Any) -> list[dict[str, Any]]:
    response = post(client, content, stream=True, **fields)
    assert response.status_code == 200, response.text
    *texts, rest = response.text.split("\n\n")
    assert rest == ""
    parsed = []
    for text in texts:
        name, data = text.split("\n")
        parsed.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {parsed[-1]['type']}"
    assert [event["sequence_number"] for event in parsed] == list(range(len(parsed)))
    return parsed


def text_of(response: dict[str, Any]) -> str:
    return "".join(
        part["text"] for item in response["output"] if item["type"] == "message" for part in item["content"]
    )


def prompts(engine: FakeEngine) -> list[str]:
    return [prompt_text(request.prompt_token_ids) for request in engine.requests]


# --- answers


def test_whole_response(client: httpx.Client) -> None:
    body = good(client, instructions="Be brief.", temperature=0.5, metadata={"a": "b"})
    assert body["id"].startswith("resp_")
    assert (body["object"], body["status"], body["error"]) == ("response", "completed", None)
    [message] = body["output"]
    assert message["id"].startswith("msg_")
    assert (message["role"], message["status"]) == ("assistant", "completed")
    assert message["content"] == [
        {"type": "output_text", "text": "Hello, wörld!", "annotations": [], "logprobs": []}
    ]
    usage = body["usage"]
    assert (usage["output_tokens"], usage["output_tokens_details"]) == (6, {"reasoning_tokens": 0})
    assert usage["total_tokens"] == usage["input_tokens"] + 6
    assert (body["instructions"], body["temperature"], body["metadata"]) == ("Be brief.", 0.5, {"a": "b"})


def test_streamed_response(client: httpx.Client) -> None:
    parts = events(client)
    kinds = [event["type"].removeprefix("response.") for event in parts]
    assert kinds == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        *["output_text.delta"] * 5,
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    assert "".join(e["delta"] for e in parts if e["type"].endswith("text.delta")) == "Hello, wörld!"
    item_id = parts[2]["item"]["id"]
    assert {e["item_id"] for e in parts if "item_id" in e} == {item_id}
    last = parts[-1]["response"]
    assert (last["status"], text_of(last)) == ("completed", "Hello, wörld!")
    assert parts[0]["response"]["output"] == []


def test_through_the_openai_client(base_url: str) -> None:
    with OpenAI(base_url=f"{base_url}/v1", api_key="unused", max_retries=0) as openai_client:
        response = openai_client.responses.create(model="fake/model", input="hi")
        assert response.output_text == "Hello, wörld!"
        with openai_client.responses.stream(model="fake/model", input="hi") as stream:
            kinds = [event.type for event in stream]
            assert stream.get_final_response().output_text == "Hello, wörld!"
        assert kinds[-1] == "response.completed"
        kept = openai_client.responses.retrieve(response.id)
        assert kept.output_text == response.output_text
        openai_client.responses.delete(response.id)


def test_an_answer_that_is_cut(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: spell("cut", finish_reason="length")
    body = good(client, max_output_tokens=5)
    assert (body["status"], body["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})
    assert body["output"][0]["status"] == "incomplete"
    assert events(client)[-1]["type"] == "response.incomplete"
    assert engine.requests[0].max_tokens == 5


def test_an_empty_answer_is_an_empty_message(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: [TextDelta("", (2,), "stop")]
    assert text_of(good(client)) == ""
    assert [e["type"] for e in events(client)][-1] == "response.completed"


def test_logprobs(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = with_logprobs
    fields = {"include": ["message.output_text.logprobs"], "top_logprobs": 2}
    part = good(client, **fields)["output"][0]["content"][0]
    assert [entry["bytes"] for entry in part["logprobs"]] == [[97], [0xC3], [0xA9], [2]]
    deltas = [e["logprobs"] for e in events(client, **fields) if e["type"] == "response.output_text.delta"]
    assert [len(entries) for entries in deltas] == [1, 2]


def test_a_schema(client: httpx.Client, engine: FakeEngine, compiler: FakeCompiler) -> None:
    form = {"type": "json_schema", "name": "n", "schema": {"type": "integer"}, "strict": True}
    body = good(client, text={"format": form})
    [source] = compiler.compiled
    assert source.startswith('{"type":"integer"}')
    assert engine.requests[0].grammar is not None
    assert body["text"]["format"]["schema"] == {"type": "integer"}


def test_constraints_and_sampling_fields(client: httpx.Client, engine: FakeEngine) -> None:
    good(client, guided_grammar='root ::= "a"', top_k=5, seed=3, stop="x", min_tokens=1)
    [request] = engine.requests
    assert request.grammar is not None
    assert (request.sampling.top_k, request.sampling.seed, request.stop) == (5, 3, ("x",))


TOOLS = [{"type": "function", "name": "f", "parameters": {"type": "object"}}]


def test_calls_become_items(client: httpx.Client, engine: FakeEngine) -> None:
    [offered] = good(client, tools=TOOLS)["tools"]
    assert offered["name"] == "f"
    assert "f" in prompts(engine)[0]


# --- conversations


def test_items_of_every_kind(client: httpx.Client, engine: FakeEngine) -> None:
    good(
        client,
        [
            {"role": "developer", "content": "Brief."},
            {"role": "user", "content": [{"type": "input_text", "text": "a"}]},
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {
                "type": "message",
                "role": "assistant",
                "id": "msg_1",
                "status": "completed",
                "content": [{"type": "output_text", "text": "b", "annotations": []}],
            },
            {"role": "user", "content": "c"},
        ],
        instructions="Kind.",
    )
    assert prompts(engine) == [
        "<|system|>Kind.\n<|system|>Brief.\n<|user|>a\n<|assistant|>b\n<|user|>c\n<|assistant|>"
    ]


def test_a_response_can_be_continued(client: httpx.Client, engine: FakeEngine) -> None:
    first = good(client, "one", instructions="Only here.")
    second = good(client, "two", previous_response_id=first["id"])
    good(client, "three", previous_response_id=second["id"])
    assert second["previous_response_id"] == first["id"]
    answer = "<|assistant|>Hello, wörld!\n"
    assert prompts(engine)[1] == f"<|user|>one\n{answer}<|user|>two\n<|assistant|>"
    assert prompts(engine)[2] == f"<|user|>one\n{answer}<|user|>two\n{answer}<|user|>three\n<|assistant|>"
    items = client.get(f"{URL}/{second['id']}/input_items").json()
    assert [item["content"] for item in items["data"]] == ["two"]


def test_input_items_come_in_pages(client: httpx.Client, base_url: str) -> None:
    own = [{"role": "user", "content": str(number), "id": f"msg_{number}"} for number in range(5)]
    path = f"{URL}/{good(client, own)['id']}/input_items"

    def page(**options: Any) -> tuple[list[str], bool]:
        body = client.get(path, params=options).json()
        ids = [item["id"] for item in body["data"]]
        assert (body["first_id"], body["last_id"]) == ((ids[0], ids[-1]) if ids else (None, None))
        return ids, body["has_more"]

    assert page() == ([f"msg_{number}" for number in (4, 3, 2, 1, 0)], False)
    assert page(order="asc", limit=2) == (["msg_0", "msg_1"], True)
    assert page(order="asc", limit=3, after="msg_1") == (["msg_2", "msg_3", "msg_4"], False)
    assert page(after="msg_0") == ([], False)
    with OpenAI(base_url=f"{base_url}/v1", api_key="unused") as openai_client:
        listed = openai_client.responses.input_items.list(path.split("/")[-2], limit=2)
        assert [item.id for item in listed] == ["msg_4", "msg_3", "msg_2", "msg_1", "msg_0"]


@pytest.mark.parametrize(
    ("path", "param"),
    [
        ("/input_items?limit=0", "limit"),
        ("/input_items?limit=many", "limit"),
        ("/input_items?order=up", "order"),
        ("/input_items?after=nobody", "after"),
        ("/input_items?before=x", "before"),
        ("?stream=true", "stream"),
        ("?include[]=message.output_text.logprobs", "include[]"),
    ],
)
def test_options_in_the_url_are_honoured_or_refused(client: httpx.Client, path: str, param: str) -> None:
    response = client.get(f"{URL}/{good(client)['id']}{path}")
    assert refusal(response)["param"] == param


def test_streamed_responses_are_kept_too(client: httpx.Client) -> None:
    response_id = events(client)[-1]["response"]["id"]
    assert text_of(client.get(f"{URL}/{response_id}").json()) == "Hello, wörld!"


def test_what_is_not_stored_is_gone(client: httpx.Client) -> None:
    body = good(client, store=False)
    assert body["store"] is False
    assert refusal(client.get(f"{URL}/{body['id']}"), 404)["code"] == "response_not_found"
    error = refusal(post(client, previous_response_id=body["id"]), 404)
    assert error["param"] == "previous_response_id"


def test_delete(client: httpx.Client) -> None:
    response_id = good(client)["id"]
    deleted = client.delete(f"{URL}/{response_id}").json()
    assert deleted == {"id": response_id, "object": "response", "deleted": True}
    assert client.delete(f"{URL}/{response_id}").status_code == 404


class TestOwners:
    @pytest.fixture
    def settings(self) -> ServerSettings:
        return ServerSettings(api_key=["a", "b"], access_log=False)

    def test_nobody_sees_another_s_responses(self, client: httpx.Client) -> None:
        alice, bob = ({"Authorization": f"Bearer {key}"} for key in "ab")
        response_id = client.post(URL, json={"input": "hi"}, headers=alice).json()["id"]
        path = f"{URL}/{response_id}"
        assert client.get(path, headers=alice).status_code == 200
        assert client.get(path, headers=bob).status_code == 404
        assert client.delete(path, headers=bob).status_code == 404
        assert client.post(f"{path}/cancel", headers=bob).status_code == 404
        body = {"input": "hi", "previous_response_id": response_id}
        assert client.post(URL, json=body, headers=bob).status_code == 404


# --- in the background


def test_a_response_in_the_background(client: httpx.Client, engine: FakeEngine) -> None:
    engine.step_s = 0.02
    body = good(client, background=True)
    assert (body["status"], body["background"]) == ("in_progress", True)
    path = f"{URL}/{body['id']}"
    assert refusal(post(client, previous_response_id=body["id"]))["param"] == "previous_response_id"
    wait_until(lambda: client.get(path).json()["status"] == "completed")
    assert text_of(client.get(path).json()) == "Hello, wörld!"
    assert client.post(f"{path}/cancel").json()["status"] == "completed"


@pytest.mark.parametrize("how", ["cancel", "delete"])
def test_a_response_in_the_background_can_be_ended(
    client: httpx.Client, engine: FakeEngine, how: str
) -> None:
    engine.step_s = 60
    path = f"{URL}/{good(client, background=True)['id']}"
    wait_until(lambda: engine.running == 1)
    if how == "cancel":
        assert client.post(f"{path}/cancel").json()["status"] == "cancelled"
        assert client.get(path).json()["status"] == "cancelled"
    else:
        assert client.delete(path).status_code == 200
        assert client.get(path).status_code == 404
    wait_until(lambda: engine.running == 0)


def test_others_cannot_be_cancelled(client: httpx.Client) -> None:
    response_id = good(client)["id"]
    assert refusal(client.post(f"{URL}/{response_id}/cancel"))["param"] == "response_id"


def test_a_fault_in_the_background(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: [TextDelta("", (), "error", error="row 3 is broken")]
    path = f"{URL}/{good(client, background=True)['id']}"
    wait_until(lambda: client.get(path).json()["status"] == "failed")
    assert client.get(path).json()["error"]["code"] == "internal_error"


# --- refusals and faults


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"input": []}, "input"),
        ({"input": 5}, "input"),
        ({"input": [{"type": "image"}]}, "input[0]"),
        ({"input": [{"role": "user", "content": [{"type": "input_image"}]}]}, "input[0].content"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "input[0]"),
        ({"input": "x" * 3000}, "input"),
        ({"messages": []}, "messages"),
        ({"max_tokens": 5}, "max_tokens"),
        ({"response_format": {"type": "text"}}, "response_format"),
        ({"n": 2}, "n"),
        ({"top_logprobs": 2}, "top_logprobs"),
        ({"include": ["file_search_call.results"]}, "include[0]"),
        ({"truncation": "auto"}, "truncation"),
        ({"tools": [{"type": "web_search"}]}, "tools[0]"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"text": {"format": {"type": "json_schema", "name": "a", "schema": {"type": "nothing"}}}},
         "text.format.schema"),
        ({"guided_grammar": "root ::="}, "guided_grammar"),
        ({"guided_grammar": 'root ::= "a"', "text": {"format": {"type": "json_object"}}}, "text.format"),
        ({"reasoning": {"summary": "auto"}}, "reasoning.summary"),
        ({"return_captures": True, "guided_regex": "a"}, "return_captures"),
        ({"background": True, "store": False}, "background"),
        ({"metadata": {"a": 5}}, "metadata.a"),
        ({"conversation": "c"}, "conversation"),
    ],
)  # fmt: skip
def test_refusals(
    client: httpx.Client, engine: FakeEngine, fields: dict[str, Any], param: str, stream: bool
) -> None:
    response = client.post(URL, json={"input": "hi", "stream": stream, **fields})
    assert refusal(response)["param"] == param
    assert engine.requests == []


def test_a_stream_cannot_be_in_the_background(client: httpx.Client) -> None:
    assert refusal(post(client, stream=True, background=True))["param"] == "background"


def test_a_fault_in_the_middle_of_a_stream(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: [TextDelta("ab", (1,)), TextDelta("", (), "error", error="broken")]
    *_, error, failed = events(client)
    assert (error["type"], error["code"]) == ("error", "internal_error")
    assert (failed["type"], failed["response"]["status"]) == ("response.failed", "failed")
    assert refusal(post(client), 500)["code"] == "internal_error"


def test_a_fault_of_the_grammar(client: httpx.Client, engine: FakeEngine) -> None:
    engine.script = lambda request: [
        TextDelta("", (), "error", error="Too hard.", error_code="grammar_limit")
    ]
    error = refusal(post(client, text={"format": {"type": "json_object"}}))
    assert (error["param"], error["code"]) == ("text.format", "grammar_limit")


def test_leaving_ends_the_generation(client: httpx.Client, engine: FakeEngine) -> None:
    engine.step_s = 60
    for stream in (False, True):
        with pytest.raises(httpx.ReadTimeout):
            client.post(URL, json={"input": "hi", "stream": stream}, timeout=0.3)
        wait_until(lambda: engine.running == 0)


def test_overload(client: httpx.Client, engine: FakeEngine) -> None:
    engine.overloaded = True
    assert refusal(post(client), 503)["code"] == "overloaded"
