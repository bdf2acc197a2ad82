"""What the tours ask for."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from tests.models.tiny import EOS
from tests.server.tiny_backend import MODEL_NAME

MODEL = MODEL_NAME
HELLO: Any = [{"role": "user", "content": "hi"}]
GRAMMAR = 'root ::= "yes" | "no"'
# Random models do not end by themselves: as soon as the grammar lets them, these do.
ENDS_EARLY = {str(EOS): 100}
# A call has fewer tokens, so that the answer cannot end after the first if a second is allowed.
TWO_CALLS: dict[str, Any] = {"min_tokens": 120, "guided_whitespace_pattern": " ?"}


class Pick(BaseModel):
    """One of a few; without anything else, so that a random model has nothing to add."""

    model_config = ConfigDict(extra="forbid")

    color: Literal["red", "green"]
    count: Literal[1, 2, 3]


PICK_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"color": {"enum": ["red", "green"]}, "count": {"enum": [1, 2, 3]}},
    "required": ["color", "count"],
    "additionalProperties": False,
}
PICK_FORMAT: Any = {"type": "json_schema", "json_schema": {"name": "pick", "schema": PICK_SCHEMA}}


def tool(name: str, schema: dict[str, Any] | None = None) -> Any:
    return {"type": "function", "function": {"name": name, "parameters": schema or PICK_SCHEMA}}


# The answer of every field of our own: one of "a" and "b".
GUIDED: list[dict[str, Any]] = [
    {"guided_grammar": 'root ::= "a" | "b"'},
    {"guided_lark": 'start: "a" | "b"'},
    {"guided_regex": "a|b"},
    {"guided_choice": ["a", "b"]},
    {"structured_outputs": {"choice": ["a", "b"]}},
    {"structured_outputs": {"regex": "[ab]"}},
    {"grammar": 'root ::= "a" | "b"'},
    {"ebnf": 'root ::= "a" | "b"'},
    {"regex": "[ab]"},
]
