"""Tool calls through LangChain's bind_tools: a call, its result, and the answer to it.

Start a server (``make serve``), then: python examples/langchain_tools.py [BASE_URL]
The base URL may also come from SYNTAGMA_BASE_URL; it is http://127.0.0.1:8000/v1 otherwise.
"""

from __future__ import annotations

import os
import sys
from typing import Literal

from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from openai import OpenAI
from pydantic import SecretStr

DEFAULT_BASE_URL = "http://127.0.0.1:8000/v1"
QUESTION = "What is the weather in Paris?"


@tool
def get_weather(city: Literal["Paris", "London", "Rome"], days: Literal[1, 2, 3] = 1) -> str:
    """Get the weather of a city for some days."""
    return f"Sunny in {city} for {days} days."


def chat_model(base_url: str) -> ChatOpenAI:
    api_key = os.environ.get("OPENAI_API_KEY", "unused")
    with OpenAI(base_url=base_url, api_key=api_key) as client:
        model = client.models.list().data[0].id
    return ChatOpenAI(
        model=model,
        max_completion_tokens=100,
        temperature=0,
        base_url=base_url,
        api_key=SecretStr(api_key),
    )


def main(base_url: str) -> None:
    chat = chat_model(base_url)
    bound = chat.bind_tools([get_weather], tool_choice="any", parallel_tool_calls=False)
    call = bound.invoke(QUESTION)
    assert isinstance(call, AIMessage)
    print(f"== the model calls\n{call.tool_calls}")
    results = [get_weather.invoke(made) for made in call.tool_calls]
    print(f"== the tool answers\n{[result.content for result in results]}")
    answer = chat.invoke([("user", QUESTION), call, *results])
    print(f"== the model answers\n{answer.content}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("SYNTAGMA_BASE_URL", DEFAULT_BASE_URL))
