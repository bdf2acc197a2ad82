"""What the users of a load test ask for: constraints of every notation, some of them new every time."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Question:
    """The fields of one request, and what its answer has to match if it is not cut; None is anything."""

    fields: dict[str, Any]
    pattern: str | None = None
    is_wrong: bool = False
    """Whether the server has to refuse it."""


@dataclass(frozen=True)
class Kind:
    name: str
    weight: int
    ask: Callable[[], Question]


def _free_text() -> Question:
    return Question({})


def _regex() -> Question:
    pattern = r"[a-z]{3,20}@[a-z]{3,20}\.com"
    return Question({"guided_regex": pattern}, pattern)


def _choice() -> Question:
    """The choices are new every time, so that they are compiled."""
    words = [f"answer {random.randrange(10**6)}" for _ in range(3)]
    return Question({"guided_choice": words}, "|".join(map(re.escape, words)))


def _list() -> Question:
    grammar = 'root ::= "[" n ("," n){4,9} "]"\nn ::= [1-9] [0-9]{0,3}'
    return Question({"guided_grammar": grammar}, r"\[[1-9]\d{0,3}(,[1-9]\d{0,3}){4,9}\]")


def _expression() -> Question:
    grammar = 'root ::= sum\nsum ::= sum "+" term | term\nterm ::= [0-9]{1,3} | "(" sum ")"'
    return Question({"guided_grammar": grammar}, r"[0-9+()]+")


def _schema() -> Question:
    """One property's name is new every time."""
    name = f"field_{random.randrange(10**6)}"
    schema = {
        "type": "object",
        "properties": {name: {"type": "integer"}, "kind": {"enum": ["a", "b"]}},
        "required": [name, "kind"],
        "additionalProperties": False,
    }
    response_format = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    return Question(
        {"response_format": response_format}, rf'\{{\s*"{name}"\s*:\s*-?\d+\s*,\s*"kind"\s*:\s*"[ab]"\s*\}}'
    )


def _lark() -> Question:
    grammar = 'start: "call " NAME "(" NUMBER ")"\nNAME: /[a-z]{2,12}/\nNUMBER: /[0-9]{1,6}/'
    return Question({"guided_lark": grammar}, r"call [a-z]{2,12}\([0-9]{1,6}\)")


def _wrong() -> Question:
    return Question({"guided_grammar": f'root ::= "a{random.randrange(10**6)}" | nothing'}, is_wrong=True)


KINDS = (
    Kind("free text", 2, _free_text),
    Kind("regex", 2, _regex),
    Kind("choice", 2, _choice),
    Kind("list", 2, _list),
    Kind("expression", 2, _expression),
    Kind("JSON schema", 2, _schema),
    Kind("Lark", 2, _lark),
    Kind("wrong grammar", 1, _wrong),
)


def any_kind() -> Kind:
    [kind] = random.choices(KINDS, [kind.weight for kind in KINDS])
    return kind
