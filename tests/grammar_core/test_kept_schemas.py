"""Schemas of structural tags that were met before, alone or in other company."""

from __future__ import annotations

import json
from typing import Any

import pytest

from grammar_core import (
    CompiledGrammar,
    Grammar,
    GrammarCompiler,
    GrammarError,
    GrammarMatcher,
    TokenizerInfo,
)
from grammar_core.cache import BoundedCache
from grammar_core.frontends.structural_tag.notations.blocks import schema_block
from grammar_core.frontends.structural_tag.notations.notation import NotationOptions

_SCHEMAS: list[Any] = [
    {"type": "object", "properties": {"a": {"type": "string"}, "json_value": {"type": "integer"}}},
    {"type": "object", "properties": {"a": {}, "root": {"type": "array", "items": {"type": "number"}}}},
    {
        "type": "object",
        "properties": {"a": {"type": "string", "format": "date"}},
        "additionalProperties": True,
    },
    {"type": "object", "patternProperties": {"^x": {"enum": ["one", "two", 3]}}, "minProperties": 1},
    {"$ref": "#/$defs/node", "$defs": {"node": {"type": "array", "items": {"$ref": "#/$defs/node"}}}},
]
_VALUES: list[Any] = [
    *({"a": "text", "json_value": 3}, {"a": [None, {"b": 1.5}], "root": [1, 2.5]}, {"a": "2024-02-29"}),
    *({"x1": 3, "xy": "one"}, [[], [[]]], {"a": 1}, {"x1": "three"}, {"a": "2024-02-30", "other": []}),
]


_BYTES = TokenizerInfo([b"</s>", *(bytes([byte]) for byte in range(256))], stop_token_ids=[0])


def accepts(compiled: CompiledGrammar, text: str) -> bool:
    matcher = GrammarMatcher(compiled)
    return matcher.accept_string(text) and matcher.is_completed()


def _tag(*schemas: Any) -> dict[str, Any]:
    tags = [
        {
            "type": "tag",
            "begin": f"<{i}>",
            "content": {"type": "json_schema", "json_schema": schema},
            "end": f"</{i}>",
        }
        for i, schema in enumerate(schemas)
    ]
    return {"type": "triggered_tags", "triggers": ["<"], "tags": tags}


@pytest.mark.parametrize("index", range(len(_SCHEMAS)))
def test_a_schema_means_the_same_in_any_company(index: int) -> None:
    compiler = GrammarCompiler(_BYTES, cache_enabled=False)
    alone = compiler.compile_json_schema(_SCHEMAS[index])
    others = _SCHEMAS[:index] + _SCHEMAS[index + 1 :]
    for company in ([], others, list(reversed(others))):
        tag = compiler.compile_structural_tag(_tag(_SCHEMAS[index], *company))
        for value in _VALUES:
            text = json.dumps(value)
            assert accepts(tag, f"so <0>{text}</0> and") == accepts(alone, text), (company, text)


def test_rules_of_a_schema_are_made_once() -> None:
    first, second = (Grammar.from_structural_tag(_tag(*_SCHEMAS[:n])) for n in (3, 5))
    kept = {rule.name: rule for rule in second.rules}
    own = [rule for rule in first.rules if rule.name.startswith("schema.")]
    assert len(own) > 6
    assert all(kept[rule.name] is rule for rule in own)


def test_an_error_is_the_same_each_time() -> None:
    wrong = {"type": "object", "properties": {"a": {"type": "text"}}}
    messages = set()
    for _ in range(2):
        with pytest.raises(GrammarError, match="/tags/1/content/json_schema/properties/a/type") as caught:
            Grammar.from_structural_tag(_tag(_SCHEMAS[0], wrong))
        messages.add(str(caught.value))
    assert len(messages) == 1


def test_options_tell_blocks() -> None:
    text = json.dumps(_SCHEMAS[0])
    one, other = (schema_block(text, NotationOptions(any_order=flag)) for flag in (False, True))
    assert one.root != other.root
    assert schema_block(text, NotationOptions()) is one


def test_what_was_not_used_for_longest_leaves_first() -> None:
    cache = BoundedCache[str](10)
    cache.put("a", "A", 4)
    cache.put("b", "B", 4)
    assert cache.find("a") == "A"
    cache.put("c", "C", 4)
    assert [cache.find(key) for key in "abc"] == ["A", None, "C"]
    cache.put("a", "longer", 6)
    assert cache.size_bytes() == 10
    cache.put("d", "D", 11)
    assert cache.find("d") is None
    assert cache.find("a") == "longer"
