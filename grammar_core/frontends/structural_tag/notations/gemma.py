"""Gemma's notation: JSON with bare keys, and strings without escapes between two tokens."""

from __future__ import annotations

from typing import Any

from grammar_core.frontends.json_schema.goals import Goal
from grammar_core.frontends.json_schema.texts import TextLanguage
from grammar_core.frontends.structural_tag.notations.notation import NotationEmitter
from grammar_core.ir.nodes import Expr, RuleRef, Sequence

QUOTE = '<|"|>'


class GemmaEmitter(NotationEmitter):
    """Objects in Gemma's notation."""

    quotes_strings = writes_json = False

    def root_value(self, goal: Goal) -> Expr:
        return self.object_members(goal)

    def language(self, hint: str, language: Any) -> Expr:
        if not isinstance(language, TextLanguage):
            return super().language(hint, language)
        found = self._languages.get(id(language))
        if found is None:
            quote = self.text(QUOTE)
            body = self.add(hint, Sequence((quote, self.raw(language, QUOTE), quote)))
            found = self._languages[id(language)] = (language, body)
        return found[1]

    def named_member(self, name: str, value: Expr) -> RuleRef:
        self.refuse_key(name, ":", "}", ",", '"', " ")
        return self.define(name, Sequence((self.text(name), self.layout.colon, value)))

    def key_language(self, language: TextLanguage) -> Expr:
        return self.bare_name(language)
