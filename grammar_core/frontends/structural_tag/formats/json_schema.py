"""The type `json_schema`: what a JSON schema describes, as JSON or in the notation of a family of models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grammar_core.deadline import check_now
from grammar_core.errors import GrammarError
from grammar_core.frontends.json_schema.documents import schema_text
from grammar_core.frontends.json_schema.frontend import check_options
from grammar_core.frontends.regex import parse_regex
from grammar_core.frontends.structural_tag.document import as_plain
from grammar_core.frontends.structural_tag.enclosure import Enclosure, Lowered
from grammar_core.frontends.structural_tag.errors import reraise_at
from grammar_core.frontends.structural_tag.fields import Fields
from grammar_core.frontends.structural_tag.lowering import Lowering
from grammar_core.frontends.structural_tag.notations import STYLES, NotationOptions

_MAX_WHITESPACE = 1_000_000


def lower_json_schema(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> Lowered:
    """JSON of the schema `json_schema`, or its like in another `style`."""
    options = NotationOptions(
        style=fields.choice("style", STYLES),
        any_order=fields.flag("any_order", False),
        max_whitespace_cnt=_whitespace(fields),
        any_whitespace=fields.flag("any_whitespace", True),
        strict_mode=fields.flag("strict_mode", True),
        excludes=fields.texts("excludes"),
        whitespace_pattern=_whitespace_pattern(fields),
        loosen=_loosened(fields),
    )
    return _lower(fields, lowering, options)


def lower_qwen_xml_parameter(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> Lowered:
    """The older name of the style `qwen_xml`."""
    return _lower(fields, lowering, NotationOptions(style="qwen_xml"))


def _lower(fields: Fields, lowering: Lowering, options: NotationOptions) -> Lowered:
    pointer = fields.pointer_to("json_schema")
    schema = _schema(fields)
    try:
        text = schema_text(schema)
    except GrammarError as error:
        check_now()
        reraise_at(error, pointer)
    except TypeError as error:
        fields.fail(str(error), "json_schema")
    return Lowered(lowering.schema(text, options, pointer))


def _whitespace(fields: Fields) -> int | None:
    count = fields.optional_count("max_whitespace_cnt", high=_MAX_WHITESPACE)
    if count == 0:
        fields.fail("The field 'max_whitespace_cnt' must be positive", "max_whitespace_cnt")
    return count


def _whitespace_pattern(fields: Fields) -> str | None:
    if "whitespace_pattern" not in fields:
        return None
    if "max_whitespace_cnt" in fields or not fields.flag("any_whitespace", True):
        fields.fail("A pattern of white space says all about it", "whitespace_pattern")
    pattern = fields.text("whitespace_pattern")
    try:
        parse_regex(pattern, flags=None)
    except GrammarError as error:
        check_now()
        reraise_at(error, fields.pointer_to("whitespace_pattern"))
    return pattern


def _loosened(fields: Fields) -> frozenset[str]:
    keywords = frozenset(fields.texts("loosen"))
    try:
        check_options("natural", keywords)
    except ValueError as error:
        fields.fail(str(error), "loosen")
    return keywords


def _schema(fields: Fields) -> Any:
    schema = as_plain(fields.value("json_schema"))
    if not isinstance(schema, (bool, Mapping, type)):
        fields.fail("A JSON schema is an object, true or false", "json_schema")
    return dict(schema) if isinstance(schema, Mapping) else schema
