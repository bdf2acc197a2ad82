"""The values of a JSON schema in a notation, which the structural tag type `json_schema` calls its style."""

from __future__ import annotations

from grammar_core.frontends.json_schema.documents import Documents
from grammar_core.frontends.json_schema.errors import EmptySchemaError
from grammar_core.frontends.json_schema.expansion import Expander
from grammar_core.frontends.structural_tag.notations.blocks import SchemaBlock, schema_block
from grammar_core.frontends.structural_tag.notations.gemma import GemmaEmitter
from grammar_core.frontends.structural_tag.notations.markup import PARAMETER_MARKUPS
from grammar_core.frontends.structural_tag.notations.nested_markup import CohereEmitter, MinimaxM3Emitter
from grammar_core.frontends.structural_tag.notations.notation import (
    NotationEmitter,
    NotationOptions,
    WriteText,
    markup_layout,
)
from grammar_core.frontends.structural_tag.notations.parameters import ParameterEmitter
from grammar_core.ir.nodes import Rule, RuleRef

_NESTED = {"minimax_m3_xml": MinimaxM3Emitter, "cohere_xml": CohereEmitter}

__all__ = ["STYLES", "Notation", "NotationOptions"]

STYLES = ("json", *PARAMETER_MARKUPS, *_NESTED, "gemma")


class Notation:
    """The rules of schemas in one notation. Their names have no hyphens.

    `text` gives the expressions of the notation's tags.
    """

    def __init__(self, options: NotationOptions, text: WriteText) -> None:
        self.options = options
        self._text = text
        self._layout = options.layout()
        self._markup = markup_layout(options.max_whitespace_cnt, options.whitespace_pattern)
        self._last: NotationEmitter | None = None
        self._blocks: list[SchemaBlock] = []

    def add(self, schema: str) -> RuleRef:
        """A reference to the rule of a schema, which is JSON text. Raises JsonSchemaError."""
        try:
            return self._add(schema)
        except EmptySchemaError:
            self.options.refuse_empty(schema)
            raise

    def _add(self, schema: str) -> RuleRef:
        if self.options.is_json:
            block = schema_block(schema, self.options)
            self._blocks.append(block)
            return block.root
        expander = Expander(Documents(schema, {}), loosen=self.options.loosen)
        emitter = self._emitter(expander)
        if self._last is not None:
            emitter.share(self._last)
        self._last = emitter
        if self.options.style in PARAMETER_MARKUPS:
            emitter = ParameterEmitter(emitter, self._markup, PARAMETER_MARKUPS[self.options.style])
        return emitter.emit_schema(expander.root_goal())

    def rules(self) -> tuple[Rule, ...]:
        """All rules of the schemas added so far."""
        if self.options.is_json:
            return self._rules_of_blocks()
        style = self.options.style
        layout = () if style in _NESTED else self._layout.rules
        markup = self._markup.rules if style in _NESTED or style in PARAMETER_MARKUPS else ()
        return (*(() if self._last is None else self._last.rules), *layout, *markup)

    def _rules_of_blocks(self) -> tuple[Rule, ...]:
        shared = {rule.name: rule for block in self._blocks for rule in block.shared}
        own = (rule for block in self._blocks for rule in block.own)
        return (*own, *shared.values(), *self._layout.rules)

    def _emitter(self, expander: Expander) -> NotationEmitter:
        style = self.options.style
        kind = {"gemma": GemmaEmitter, **_NESTED}.get(style, NotationEmitter)
        return kind(
            expander,
            self._markup if style in _NESTED else self._layout,
            any_order=self.options.any_order,
            is_strict=self.options.strict_mode,
            excludes=self.options.excludes,
            text=self._text,
        )
