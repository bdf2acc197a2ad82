"""The types of formats. A new one is a function here and a line in `FORMAT_TYPES`."""

from __future__ import annotations

from typing import NamedTuple

from grammar_core.frontends.structural_tag.fields import Fields
from grammar_core.frontends.structural_tag.formats.combinations import (
    lower_optional,
    lower_or,
    lower_plus,
    lower_repeat,
    lower_sequence,
    lower_star,
)
from grammar_core.frontends.structural_tag.formats.embedded import lower_grammar, lower_regex
from grammar_core.frontends.structural_tag.formats.free_text import lower_dispatch, lower_triggered_tags
from grammar_core.frontends.structural_tag.formats.free_tokens import (
    lower_token_dispatch,
    lower_token_triggered_tags,
)
from grammar_core.frontends.structural_tag.formats.json_schema import (
    lower_json_schema,
    lower_qwen_xml_parameter,
)
from grammar_core.frontends.structural_tag.formats.tag_lists import lower_tags_with_separator
from grammar_core.frontends.structural_tag.formats.tags import lower_tag
from grammar_core.frontends.structural_tag.formats.texts import lower_any_text, lower_const_string
from grammar_core.frontends.structural_tag.formats.tokens import (
    lower_any_tokens,
    lower_exclude_token,
    lower_token,
)
from grammar_core.frontends.structural_tag.lowering import LowerFormat


class FormatType(NamedTuple):
    """How a type is lowered, and the fields it has. `telling` ones tell it where the type is not named."""

    lower: LowerFormat
    telling: frozenset[str]
    fields: frozenset[str]


def _type(lower: LowerFormat, telling: str, others: str = "") -> FormatType:
    return FormatType(
        lower, frozenset(telling.split()), frozenset(["type", *telling.split(), *others.split()])
    )


FORMAT_TYPES: dict[str, FormatType] = {
    "const_string": _type(lower_const_string, "value"),
    "json_schema": _type(
        lower_json_schema,
        "json_schema",
        "style any_order max_whitespace_cnt any_whitespace strict_mode excludes",
    ),
    "qwen_xml_parameter": _type(lower_qwen_xml_parameter, "json_schema"),
    "any_text": _type(lower_any_text, "excludes", "max_tokens max_chars"),
    "grammar": _type(lower_grammar, "grammar", "syntax"),
    "regex": _type(lower_regex, "pattern"),
    "sequence": _type(lower_sequence, "elements"),
    "or": _type(lower_or, "elements"),
    "tag": _type(lower_tag, "begin content end"),
    "triggered_tags": _type(lower_triggered_tags, "triggers tags", "at_least_one stop_after_first excludes"),
    "token_triggered_tags": _type(
        lower_token_triggered_tags, "trigger_tokens tags", "exclude_tokens at_least_one stop_after_first"
    ),
    "tags_with_separator": _type(
        lower_tags_with_separator, "tags separator", "at_least_one stop_after_first"
    ),
    "optional": _type(lower_optional, "content"),
    "plus": _type(lower_plus, "content"),
    "star": _type(lower_star, "content"),
    "repeat": _type(lower_repeat, "min max content"),
    "token": _type(lower_token, "token"),
    "exclude_token": _type(lower_exclude_token, "", "exclude_tokens"),
    "any_tokens": _type(lower_any_tokens, "", "exclude_tokens max_tokens"),
    "dispatch": _type(lower_dispatch, "rules", "loop excludes"),
    "token_dispatch": _type(lower_token_dispatch, "rules", "loop exclude_tokens"),
}


def find_format(fields: Fields) -> LowerFormat:
    """How to lower the format, by its `type`, or without one by the fields it has.

    Raises StructuralTagError if there is no such type or it has a field too many.
    """
    if "type" not in fields:
        name = _infer_type(fields)
    else:
        name = fields.text("type")
        if name not in FORMAT_TYPES:
            fields.fail(f"There is no format type {name!r}; the types are {', '.join(FORMAT_TYPES)}", "type")
    kind = FORMAT_TYPES[name]
    fields.refuse_others(kind.fields)
    return kind.lower


def _infer_type(fields: Fields) -> str:
    """The first type whose telling fields are there; the format has no fields beyond those of the type."""
    names = fields.names()
    types = (
        name for name, kind in FORMAT_TYPES.items() if kind.telling and kind.telling <= names <= kind.fields
    )
    name = next(types, None)
    if name is None:
        fields.fail("The format has no type, and its fields are those of none")
    return name
