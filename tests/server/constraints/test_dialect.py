"""EBNF or Lark."""

from __future__ import annotations

import pytest

from server.constraints.dialect import is_ebnf


@pytest.mark.parametrize(
    ("grammar", "expected"),
    [
        ('root ::= "a"', True),
        ('# a comment\n\nroot[lazy] ::= "a"', True),
        ("root\n::= [^\"]* '", True),
        ('start: "a"', False),
        ('// root ::= "a"\nstart: "a"', False),
        ('# root ::= "a"\nstart: "a"', False),
        ('start: "::=" NAME\nNAME: /[a-z]+/', False),
        ('start: /"::=/ NAME', False),
        ('start: "\\"::="', False),
        ("", False),
    ],
)
def test_dialect(grammar: str, expected: bool) -> None:
    assert is_ebnf(grammar) is expected
