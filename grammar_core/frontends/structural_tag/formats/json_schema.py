"""The type `json_schema`: what a JSON schema describes, as JSON or in the notation of a family of models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from grammar_core.frontends.structural_tag.document import as_plain
from grammar_core.frontends.structural_tag.enclosure import Enclosure, Lowered
from grammar_core.frontends.structural_tag.fields import Fields
from grammar_core.frontends.structural_tag.lowering import Lowering

_MAX_WHITESPACE = 1_000_000


def lower_json_schema(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> Lowered:
    """JSON of the schema `json_schema`, or its like in another `style`."""
    from grammar_core.grammar import Grammar

    schema = read_schema(fields)
    any_order = fields.flag("any_order", False)
    whitespace = fields.optional_count("max_whitespace_cnt", high=_MAX_WHITESPACE)

    def build() -> Grammar:
        return Grammar.from_json_schema(schema, any_order=any_order, max_whitespace_cnt=whitespace)

    key = ("json_schema", json.dumps(schema), any_order, whitespace)
    return Lowered(lowering.embed(key, build, fields.pointer_to("json_schema")))


def lower_qwen_xml_parameter(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> Lowered:
    raise AssertionError


def read_schema(fields: Fields) -> Any:
    """The schema: an object, true, false, or a class that has one."""
    schema = as_plain(fields.value("json_schema"))
    if isinstance(schema, type) and hasattr(schema, "model_json_schema"):
        schema = schema.model_json_schema()
    if not isinstance(schema, (bool, Mapping)):
        fields.fail("A JSON schema is an object, true or false", "json_schema")
    return schema
