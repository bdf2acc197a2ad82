"""Drawn schemas and values, judged by an independent validator."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grammar_core import (
    CompiledGrammar,
    Grammar,
    GrammarCompiler,
    GrammarError,
    JsonSchemaError,
    TokenizerInfo,
)
from grammar_core.frontends.json_schema.errors import EmptySchemaError
from tests.grammar_core.schema_texts import compile_bytes, compiled, matches

NO_JSON = GrammarCompiler(TokenizerInfo([b"x", b"</s>"], stop_token_ids=[1])).compile_grammar('root ::= "x"')
_KEYS = st.sampled_from(["a", "b", "c", "ab"])
_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 12),
    st.sampled_from([0.5, 2.5]),
    st.sampled_from(["", "a", "ab", "b"]),
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_KEYS, inner, max_size=3)),
    max_leaves=6,
)
_COUNTS = st.integers(0, 3)
_LEAVES = st.one_of(
    st.booleans(),
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(
                ["null", "boolean", "integer", "number", "string", "array", "object", ["string", "integer"]]
            ),
            "minimum": st.integers(-2, 5),
            "exclusiveMaximum": st.integers(3, 12),
            "multipleOf": st.sampled_from([2, 3]),
            "minLength": _COUNTS,
            "maxLength": _COUNTS,
            "pattern": st.sampled_from(["a", "^b", "b$", "^a?b*$"]),
            "minItems": _COUNTS,
            "maxItems": _COUNTS,
            "minProperties": _COUNTS,
            "maxProperties": _COUNTS,
            "required": st.lists(_KEYS, max_size=2, unique=True),
            "dependentRequired": st.dictionaries(_KEYS, st.lists(_KEYS, max_size=2, unique=True), max_size=1),
            "enum": st.lists(_VALUES, min_size=1, max_size=3),
            "const": _VALUES,
        },
    ).map(lambda schema: dict(list(schema.items())[:3])),
)


def _combined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(_KEYS, inner, max_size=3),
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "b"]), inner, max_size=2),
            "additionalProperties": inner,
            "propertyNames": st.sampled_from([{"maxLength": 1}, {"pattern": "a"}, {"enum": ["a", "b"]}]),
            "required": st.lists(_KEYS, max_size=2, unique=True),
            "items": inner,
            "prefixItems": several,
            "contains": inner,
            "minContains": st.integers(0, 2),
            "maxContains": st.integers(1, 2),
            "allOf": several,
            "anyOf": several,
            "oneOf": several,
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "dependentSchemas": st.dictionaries(_KEYS, inner, max_size=1),
            "unevaluatedProperties": inner,
            "unevaluatedItems": inner,
            "type": st.sampled_from(["array", "object", ["object", "string"]]),
        },
    ).flatmap(lambda schema: st.permutations(list(schema)).map(lambda keys: {k: schema[k] for k in keys[:3]}))


_SCHEMAS = st.recursive(_LEAVES, _combined, max_leaves=6)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(schema=_SCHEMAS, values=st.lists(_VALUES, min_size=1, max_size=12))
def test_the_grammar_has_exactly_the_valid_values(schema: Any, values: list[Any]) -> None:
    judge = jsonschema.Draft202012Validator(schema)
    valid = {json.dumps(value): judge.is_valid(value) for value in values}
    grammar = _compiled_unless_refused(schema)
    if grammar is not None:
        assert {text: matches(grammar, text) for text in valid} == valid


def _compiled_unless_refused(schema: Any) -> CompiledGrammar | None:
    """None for a schema that is refused; one that allows nothing is a grammar of a text that is no JSON."""
    try:
        return compiled(schema, any_order=True, lexical="any")
    except GrammarError as error:
        is_refused = getattr(error, "keyword", None) is not None or getattr(error, "limit", None) is not None
        return None if is_refused else NO_JSON


def _inside(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas that leave it to the inner ones whether there is a value."""
    members = st.fixed_dictionaries({"a": inner, "b": inner})
    names = st.lists(st.sampled_from(["a", "b"]), max_size=2, unique=True)
    closed: dict[str, Any] = {"type": "object", "additionalProperties": False}
    counted = st.fixed_dictionaries({"properties": members, "required": names, "minProperties": _COUNTS})
    return st.one_of(
        counted.map(lambda asked: {**closed, **asked}),
        inner.map(lambda item: {"type": "array", "items": item, "minItems": 1}),
        st.lists(inner, min_size=1, max_size=2).map(lambda options: {"anyOf": options}),
    )


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(schema=_inside(_inside(_SCHEMAS)))
def test_schemas_without_values_are_those_that_are_explained(schema: Any) -> None:
    try:
        grammar = Grammar.from_json_schema(schema, any_order=True)
    except JsonSchemaError:
        return
    try:
        compile_bytes(grammar)  # an empty grammar that is not explained has another error
    except EmptySchemaError:
        return
    grammar.explain_emptiness()


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"oneOf": [{"required": ["a"]}, {"properties": {"a": False}}]}, {"a": 1}),
        ({"not": {"contains": {"type": "integer"}, "minContains": 2}}, [1, "x", 2]),
        ({"if": {"required": ["a"]}, "else": {"maxProperties": 0}}, {"b": 1}),
        ({"anyOf": [{"properties": {"a": {}}}, True], "unevaluatedProperties": False}, {"a": 1}),
    ],
)
def test_cases_that_were_found(schema: Any, value: Any) -> None:
    grammar = compiled(schema, any_order=True)
    assert matches(grammar, json.dumps(value)) == jsonschema.Draft202012Validator(schema).is_valid(value)
