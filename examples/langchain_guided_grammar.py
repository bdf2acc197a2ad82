"""Answers that obey a grammar, through LangChain's ChatOpenAI.

Start a server (``make serve``), then: python examples/langchain_guided_grammar.py [BASE_URL]
The base URL may also come from SYNTAGMA_BASE_URL; it is http://127.0.0.1:8000/v1 otherwise.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from langchain_openai import ChatOpenAI
from openai import OpenAI
from pydantic import SecretStr

GRAMMARS = Path(__file__).parents[1] / "configs" / "grammars"
DEFAULT_BASE_URL = "http://127.0.0.1:8000/v1"


@dataclass(frozen=True)
class Example:
    title: str
    grammar_file: str
    prompt: str


THREE_STRINGS = Example(
    "Three ways to put a question, as a JSON array",
    "three_strings.ebnf",
    "Write three different ways to ask: How to delete all rows from a table? Answer as a JSON array.",
)
OTHERS = (
    Example("An e-mail address", "email.ebnf", "Invent an e-mail address for Ada Lovelace."),
    Example("A story in emoji", "emoji.ebnf", "Tell a short story of a person and a dog in emoji only."),
    Example(
        "Migrations of a data model, as YAML",
        "yaml_migration.ebnf",
        "Generate the migrations that create a data model for an application that sells horror books.",
    ),
)


def chat_model(base_url: str, grammar: str) -> ChatOpenAI:
    """A chat model whose answers are texts of `grammar`."""
    api_key = os.environ.get("OPENAI_API_KEY", "unused")
    with OpenAI(base_url=base_url, api_key=api_key) as client:
        model = client.models.list().data[0].id
    return ChatOpenAI(
        model=model,
        max_completion_tokens=2000,
        temperature=1.0,
        base_url=base_url,
        api_key=SecretStr(api_key),
        extra_body={
            "guided_grammar": grammar,
            "top_k": 20,
            "chat_template_kwargs": {"enable_thinking": False},
        },
    )


def load(example: Example) -> str:
    return (GRAMMARS / example.grammar_file).read_text("utf-8")


def ask_whole(base_url: str, example: Example) -> str:
    return str(chat_model(base_url, load(example)).invoke(example.prompt).content)


def ask_streamed(base_url: str, example: Example) -> str:
    """The answer, printed as it comes."""
    text = ""
    for chunk in chat_model(base_url, load(example)).stream(example.prompt):
        print(chunk.content, end="", flush=True)
        text += str(chunk.content)
    print()
    return text


def show_three_strings(base_url: str) -> None:
    print(f"== {THREE_STRINGS.title}, whole")
    print(json.loads(ask_whole(base_url, THREE_STRINGS)))
    print(f"== {THREE_STRINGS.title}, streamed")
    questions = json.loads(ask_streamed(base_url, THREE_STRINGS))
    assert len(questions) == 3
    assert all(isinstance(question, str) for question in questions)


def main(base_url: str) -> None:
    show_three_strings(base_url)
    for example in OTHERS:
        print(f"== {example.title}, streamed")
        ask_streamed(base_url, example)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("SYNTAGMA_BASE_URL", DEFAULT_BASE_URL))
