"""The table of fields in ``docs/api.md`` is whole, and every test that it names exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from server.schemas.chat_request import ChatCompletionRequest
from server.schemas.completion_request import CompletionRequest
from server.schemas.field_policy import HARMLESS_VALUES
from server.schemas.responses_request import ResponsesRequest
from server.schemas.tokenization import DetokenizeRequest, TokenizeRequest

REPOSITORY = Path(__file__).parents[2]
DOCUMENT = (REPOSITORY / "docs" / "api.md").read_text("utf-8")
HONOURED = re.findall(r"^\| `(\w+)` \| ([CTRKD]+) \| (.+) \| `(tests/[\w/]+\.py)::(\w+)` \|$", DOCUMENT, re.M)
REFUSED = set(re.findall(r"^\| `(\w+)` \|", DOCUMENT.partition("## Fields that are refused")[2], re.M))


@pytest.mark.parametrize(
    ("letter", "model"),
    [
        ("C", ChatCompletionRequest),
        ("T", CompletionRequest),
        ("R", ResponsesRequest),
        ("K", TokenizeRequest),
        ("D", DetokenizeRequest),
    ],
)
def test_every_field_has_its_row(letter: str, model: Any) -> None:
    rows = [name for name, where, *_ in HONOURED if letter in where]
    assert sorted(rows) == sorted(model.model_fields)


def test_every_refused_field_has_its_row() -> None:
    assert set(HARMLESS_VALUES) == REFUSED


def test_every_test_that_is_named_exists() -> None:
    named = {(file, test) for *_, file, test in HONOURED}
    existing = {
        (file, node.name)
        for file in {file for file, _ in named}
        for node in ast.walk(ast.parse((REPOSITORY / file).read_text("utf-8")))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    assert named <= existing
