"""Answers that are the last of several messages."""

from __future__ import annotations

import pytest

from grammar_core import GrammarCompiler, JsonSchemaError, TokenizerInfo
from grammar_core.frontends.structural_tag.models.harmony import HARMONY
from server.constraints.sources import JsonSource
from server.reasoning.message_source import MessageSource

NEVER = '{"type": "array", "minItems": 1, "items": {"type": "array", "minItems": 1, "items": {"enum": []}}}'


def test_a_schema_that_allows_no_value_is_named() -> None:
    """The messages have their own rules, which do not tell it."""
    compiler = GrammarCompiler(TokenizerInfo([bytes([byte]) for byte in range(256)]))
    with pytest.raises(JsonSchemaError, match="allows no value") as caught:
        compiler.compile_source(MessageSource(JsonSource(NEVER), HARMONY))
    assert caught.value.pointer == "/items/items"
