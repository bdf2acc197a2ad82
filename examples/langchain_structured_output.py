"""Answers as objects, through the three methods of LangChain's with_structured_output.

Start a server (``make serve``), then: python examples/langchain_structured_output.py [BASE_URL]
The base URL may also come from SYNTAGMA_BASE_URL; it is http://127.0.0.1:8000/v1 otherwise.
"""

from __future__ import annotations

import os
import sys
from typing import Literal

from langchain_openai import ChatOpenAI
from openai import OpenAI
from pydantic import BaseModel, ConfigDict, Field, SecretStr

DEFAULT_BASE_URL = "http://127.0.0.1:8000/v1"
QUESTION = "Rate the film 'The Third Man'. Answer in JSON."


class Rating(BaseModel):
    """A rating of a film."""

    model_config = ConfigDict(extra="forbid")  # schemas are open unless they say otherwise

    genre: Literal["thriller", "comedy", "drama"]
    stars: int = Field(ge=1, le=5)


def chat_model(base_url: str) -> ChatOpenAI:
    api_key = os.environ.get("OPENAI_API_KEY", "unused")
    with OpenAI(base_url=base_url, api_key=api_key) as client:
        model = client.models.list().data[0].id
    return ChatOpenAI(
        model=model,
        max_completion_tokens=200,
        temperature=0,
        base_url=base_url,
        api_key=SecretStr(api_key),
    )


def main(base_url: str) -> None:
    chat = chat_model(base_url)
    for method in ("json_schema", "function_calling"):
        rating = chat.with_structured_output(Rating, method=method).invoke(QUESTION)
        print(f"== {method}\n{rating!r}")
        assert isinstance(rating, Rating)
    # This method only asks for JSON of any kind; the schema beside it makes it a Rating.
    as_rating = chat.bind(response_format={"type": "json_object", "schema": Rating.model_json_schema()})
    answer = as_rating.invoke(QUESTION)
    print(f"== json_object with a schema\n{answer.content}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("SYNTAGMA_BASE_URL", DEFAULT_BASE_URL))
