"""The values of a JSON schema in a notation, which the structural tag type `json_schema` calls its style."""

from __future__ import annotations

from typing import NamedTuple

from grammar_core.frontends.json_schema.documents import Documents
from grammar_core.frontends.json_schema.expansion import Expander
from grammar_core.frontends.json_schema.layout import LayoutOptions, build_layout
from grammar_core.frontends.structural_tag.notations.gemma import GemmaEmitter
from grammar_core.frontends.structural_tag.notations.markup import PARAMETER_MARKUPS
from grammar_core.frontends.structural_tag.notations.nested_markup import CohereEmitter, MinimaxM3Emitter
from grammar_core.frontends.structural_tag.notations.notation import (
    NotationEmitter,
    WriteText,
    markup_layout,
)
from grammar_core.frontends.structural_tag.notations.parameters import ParameterEmitter
from grammar_core.ir.nodes import Rule

_NESTED = {"minimax_m3_xml": MinimaxM3Emitter, "cohere_xml": CohereEmitter}

STYLES = ("json", *PARAMETER_MARKUPS, *_NESTED, "gemma")


class NotationOptions(NamedTuple):
    """The fields of the type `json_schema`."""

    style: str = "json"
    any_order: bool = False
    max_whitespace_cnt: int | None = None
    any_whitespace: bool = True
    strict_mode: bool = True
    excludes: tuple[str, ...] = ()


def notation_rules(schema: str, options: NotationOptions, text: WriteText) -> tuple[Rule, ...]:
    """The rules of a schema, as JSON text, in a style; `root` is the first.

    `text` gives the expressions of the notation's tags, and may refer to rules that are elsewhere. Raises
    JsonSchemaError and its subclasses.
    """
    layout = build_layout(
        LayoutOptions(options.any_whitespace, max_whitespace_cnt=options.max_whitespace_cnt)
    )
    markup = markup_layout(options.max_whitespace_cnt)
    expander = Expander(Documents(schema, {}), loosen=frozenset())
    kind = {"gemma": GemmaEmitter, **_NESTED}.get(options.style, NotationEmitter)
    emitter = kind(
        expander,
        markup if options.style in _NESTED else layout,
        any_order=options.any_order,
        is_strict=options.strict_mode,
        excludes=options.excludes,
        text=text,
    )
    if options.style in PARAMETER_MARKUPS:
        emitter = ParameterEmitter(emitter, markup, PARAMETER_MARKUPS[options.style])
    emitter.emit(expander.root_goal())
    return (*emitter.rules, *layout.rules, *markup.rules)
