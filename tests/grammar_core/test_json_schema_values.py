"""Types, constants, numbers and strings as the frontend puts them together."""

from __future__ import annotations

from typing import Any

import pytest

from grammar_core import Grammar
from tests.grammar_core.schema_texts import check

CASES: list[tuple[str, Any, list[str], list[str]]] = [
    (
        "every type",
        True,
        ["null", "true", "1", "1.5e3", '"x"', "[1]", '{"a":[{}]}'],
        ["nul", "01", "'x'", ""],
    ),
    (
        # From a differential test: the product of names and lengths had more than 10,000 states.
        "a host name whose length is a lookahead",
        {"type": "string", "pattern": r"^(?=.{1,253}$)(?:[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,}$"},
        ['"a.bc"', '"ab-c.de.fgh"', f'"{"a." * 125}com"'],
        ['"a"', '"-a.bc"', '"a.b"', f'"{"a." * 126}com"'],
    ),
    (
        "another whose lookahead has the anchor",
        {
            "type": "string",
            "pattern": r"(?=^.{4,253}$)(^((?!-)[a-zA-Z0-9-]{0,62}[a-zA-Z0-9]\.)+[a-zA-Z]{2,63}$)",
        },
        ['"a.bc"', '"ab-c.de.fgh"'],
        ['"a.b"', '"-a.bc"', '""'],
    ),
    (
        "lookaheads at the beginning that bound the length",
        {"type": "string", "pattern": "^(?!cc)((?=[a-c]{2,3}$)(?=.{0,2}$))"},
        ['"ab"', '"ca"'],
        ['"a"', '"abc"', '"ad"', '""', '"cc"'],
    ),
    (
        "a lookahead anywhere bounds the length from there",
        {"type": "string", "pattern": "(?=.{3}$)b"},
        ['"b12"', '"bbb"', '"xxb12"'],
        ['"b1"', '"1b2"', '"b123"'],
    ),
    (
        "a bound of characters that are no line terminators",
        {"type": "string", "pattern": "^(?=.{3}$)"},
        ['"abc"', '"a😀c"'],
        ['"ab\\n"', '"ab"', '"abcd"'],
    ),
    ("null", {"type": "null"}, ["null"], ["false", '"null"']),
    ("boolean", {"type": "boolean"}, ["true", "false"], ["null", "True"]),
    ("integer", {"type": "integer"}, ["0", "-0", "12345678901234567890"], ["1.5", "01", "+1", "1e3", '"1"']),
    ("number", {"type": "number"}, ["0", "-1.5", "1e-9", "2E+3"], ["1.", ".5", "NaN", "Infinity"]),
    (
        "string",
        {"type": "string"},
        ['""', '"\\u00e9\\n"', '"\\ud83d\\ude00"', '"é"'],
        ['"\\ud800"', '"\n"', '"\\x"'],
    ),
    ("several types", {"type": ["string", "null"], "minLength": 2}, ["null", '"ab"'], ['"a"', "1"]),
    ("number and integer", {"type": ["integer", "number"]}, ["1", "1.5"], ['"x"']),
    ("a bound without a type", {"minimum": 3}, ["3", '"x"', "null", "[1]"], ["2", "-1"]),
    (
        "bounds",
        {"type": "number", "minimum": -4, "exclusiveMaximum": 4},
        ["-4", "-0.5", "3.99"],
        ["4", "-4.1"],
    ),
    ("an open bound", {"type": "number", "exclusiveMinimum": 0}, ["0.5", "5e-1"], ["0", "-1", "0.0"]),
    (
        "multiples",
        {"type": "integer", "multipleOf": 7, "minimum": 10, "maximum": 30},
        ["14", "28"],
        ["7", "15"],
    ),
    ("hundredths", {"type": "number", "multipleOf": 0.01}, ["1.23", "4"], ["1.234"]),
    (
        "length in characters",
        {"type": "string", "maxLength": 1},
        ['"\\ud83d\\ude00"', '"😀"', '"\\n"'],
        ['"ab"'],
    ),
    ("pattern is a search", {"type": "string", "pattern": "\\d"}, ['"ab1c"'], ['"abc"']),
    (
        "pattern and length",
        {"pattern": "^[\\x20-\\x7E]+$", "maxLength": 8},
        ['"abcdefgh"'],
        ['"abcdefghi"', '""'],
    ),
    ("pattern with lookahead", {"pattern": "^(?!foo)[a-z]+$"}, ['"bar"', '"fo"'], ['"foobar"']),
    ("format", {"format": "date"}, ['"2024-02-29"', "3"], ['"2023-02-29"', '"x"']),
    (
        "format and length",
        {"type": "string", "format": "email", "maxLength": 6},
        ['"a@b.co"'],
        ['"a@bc.co"', '"a@"'],
    ),
    ("an unknown format annotates", {"type": "string", "format": "phone"}, ['"123"'], ["1"]),
    ("const of a string", {"const": '\n"'}, ['"\\n\\""'], ['"\\n"']),
    ("const of a large integer", {"const": 12345678901234567890}, ["12345678901234567890"], ["1"]),
    (
        "const of an object",
        {"const": {"a": 1, "b": [True]}},
        ['{"a":1,"b":[true]}', '{ "a": 1, "b": [ true ] }'],
        ['{"b":[true],"a":1}', '{"a":1}'],
    ),
    ("1 is not true", {"enum": [1, False]}, ["1", "false"], ["true", "0"]),
    ("enum", {"enum": ["中文", None, 2.5, []]}, ['"中文"', "null", "2.5", "[]", "[ ]"], ["2", '"中"']),
    ("enum and type", {"type": "string", "enum": ["a", 1, "b"]}, ['"a"', '"b"'], ["1"]),
    ("const among others", {"const": "b", "enum": ["a", "b"]}, ['"b"'], ['"a"']),
]


@pytest.mark.parametrize(("schema", "accepted", "refused"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_values(schema: Any, accepted: list[str], refused: list[str]) -> None:
    check(schema, accepted, refused)


def test_every_spelling() -> None:
    schema = {"properties": {"a": {"type": "integer"}}, "additionalProperties": False}
    check(schema, ['{"a":1}'], ['{"a":1.0}', '{"\\u0061":1}'])
    check(
        schema, ['{"a":1}', '{"a":1.0}', '{"\\u0061":10e-1}'], ['{"a":1.5}', '{"\\u0062":1}'], lexical="any"
    )


def test_an_enum_of_ten_thousand_strings() -> None:
    check({"enum": [f"value {i}" for i in range(10_000)]}, ['"value 9999"', '"value 0"'], ['"value 10000"'])


def test_alternatives_with_the_same_bounds_are_one_automaton() -> None:
    """A differential test with another validator met masks of half a second: every combination of patterns in
    `anyOf` and `not`, all with the same bounds, was an alternative whose characters were counted apart."""

    def some_of(first: str, second: str) -> dict[str, Any]:
        return {"not": {"not": {"anyOf": [{"pattern": first}, {"pattern": second}]}}}

    schema = {
        "type": "string",
        "allOf": [
            some_of("a", "b"),
            some_of("c", "d"),
            some_of("^e", "f$"),
            {"minLength": 5},
            {"maxLength": 8},
        ],
    }
    accepted = ["ac--f", "e--bd", "eeedaf", "acbdeeef", "ea-c-"]
    refused = ["acf", "eac", "ac---", "e-a--", "--c-f", "ac-------f"]
    check(schema, [f'"{text}"' for text in accepted], [f'"{text}"' for text in refused])
    counted = sum(repr(rule).count("CountedAutomaton(") for rule in Grammar.from_json_schema(schema).rules)
    assert counted == 1


def test_a_hundred_thousand_characters() -> None:
    schema = {"type": "string", "minLength": 1, "maxLength": 100_000}
    check(schema, ['"ab"', '"' + "x" * 100_000 + '"'], ['""', '"' + "x" * 100_001 + '"'])
