"""The tour of instructor: models without a second try."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import instructor
import pytest
from instructor import Mode
from openai import AsyncOpenAI, OpenAI

from tests.server.clients.conftest import CountAnswers
from tests.server.clients.requests import HELLO, MODEL, Pick
from tests.server.fakes import MODEL_NAME as FAKE_MODEL
from tests.server.fakes import FakeEngine, spell

MODES = [Mode.TOOLS, Mode.JSON_SCHEMA]


@pytest.fixture
def openai_client(api_url: str) -> Iterator[OpenAI]:
    with OpenAI(base_url=api_url, api_key="unused") as client:
        yield client


@pytest.mark.parametrize("mode", MODES)
def test_models(openai_client: OpenAI, answers: CountAnswers, mode: Mode) -> None:
    client = instructor.from_openai(openai_client, mode=mode)
    before = answers()
    pick = client.chat.completions.create(model=MODEL, messages=HELLO, response_model=Pick, max_retries=3)
    assert isinstance(pick, Pick)
    assert answers() - before == 1


@pytest.mark.parametrize("mode", MODES)
def test_partial_models(openai_client: OpenAI, mode: Mode) -> None:
    client = instructor.from_openai(openai_client, mode=mode)
    parts = list(client.chat.completions.create_partial(model=MODEL, messages=HELLO, response_model=Pick))
    assert len(parts) > 1
    Pick.model_validate(parts[-1].model_dump())


# On an engine that follows a script: in these modes the client lets the model choose.
PICKS = ['{"color": "red", "count": 1}', '{"color": "green", "count": 2}']


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(max_context=5000)


@pytest.fixture
def scripted(base_url: str) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{base_url}/v1", api_key="unused") as client:
        yield client


def written_call(name: str, arguments: str) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


def test_many_models(scripted: OpenAI, engine: FakeEngine) -> None:
    engine.script = lambda request: spell(written_call("IterablePick", f'{{"tasks": [{", ".join(PICKS)}]}}'))
    client = instructor.from_openai(scripted, mode=Mode.TOOLS)
    picks = client.chat.completions.create_iterable(model=FAKE_MODEL, messages=HELLO, response_model=Pick)
    assert [pick.count for pick in picks] == [1, 2]


def test_parallel_models(scripted: OpenAI, engine: FakeEngine) -> None:
    engine.script = lambda request: spell("\n".join(written_call("Pick", text) for text in PICKS))
    client = instructor.from_openai(scripted, mode=Mode.PARALLEL_TOOLS)
    wanted: Any = Iterable[Pick]
    picks = client.chat.completions.create(model=FAKE_MODEL, messages=HELLO, response_model=wanted)
    assert [pick.count for pick in picks] == [1, 2]


def test_errors(openai_client: OpenAI, answers: CountAnswers) -> None:
    client = instructor.from_openai(openai_client, mode=Mode.TOOLS)
    before = answers()
    with pytest.raises(Exception, match="guided_grammer"):
        client.chat.completions.create(
            model=MODEL,
            messages=HELLO,
            response_model=Pick,
            max_retries=1,
            extra_body={"guided_grammer": "a"},
        )
    assert answers() - before == 1


async def test_async(api_url: str) -> None:
    async with AsyncOpenAI(base_url=api_url, api_key="unused") as openai_client:
        client = instructor.from_openai(openai_client, mode=Mode.JSON_SCHEMA)
        pick = await client.chat.completions.create(model=MODEL, messages=HELLO, response_model=Pick)
        assert isinstance(pick, Pick)
