"""Notations in which tags enclose members and items at every level: those of MiniMax M3 and of Cohere."""

from __future__ import annotations

from typing import Any

from grammar_core.frontends.json_schema import array_emission, object_emission
from grammar_core.frontends.json_schema.choices import choice
from grammar_core.frontends.json_schema.full_sets import FULL
from grammar_core.frontends.json_schema.goals import Goal
from grammar_core.frontends.json_schema.texts import TextLanguage
from grammar_core.frontends.json_schema.values import ARRAY, OBJECT, STRING, TYPES
from grammar_core.frontends.structural_tag.notations.notation import NotationEmitter
from grammar_core.ir.nodes import EMPTY, Expr, Rule, RuleRef, Sequence

MARKER = "]<]minimax[>["
COHERE_END = "</cofl:value>"
COHERE_TYPES = {STRING: "raw", OBJECT: "dict", ARRAY: "list"}
"""The names of types; all others are called json."""
_KEY_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


class NestedMarkupEmitter(NotationEmitter):
    """Objects and arrays without brackets and commas."""

    object_brackets = array_brackets = (EMPTY, EMPTY)
    quotes_strings = writes_json = False
    end_of_text: str

    def root_value(self, goal: Goal) -> Expr:
        return self.object_members(goal)

    def alternative(self, kind: str, alternative: Any, depth: int) -> list[Expr]:
        if kind == OBJECT:
            return object_emission.emit(self, alternative, depth)
        if kind == ARRAY:
            return array_emission.emit(self, alternative, depth)
        if kind == STRING:
            return [self.raw(alternative, self.end_of_text)]
        return super().alternative(kind, alternative, depth)

    def any_value(self) -> RuleRef:
        if self._any is None:
            self._any = RuleRef(self.fresh("any_value"))
            place = len(self.rules)
            self.rules.append(Rule(self._any.name, EMPTY))
            options = [one for kind in TYPES for one in self.alternative(kind, FULL[kind], 0)]
            self.rules[place] = Rule(self._any.name, choice(options))
        return self._any


class MinimaxM3Emitter(NestedMarkupEmitter):
    """A member is a tag with the name of its key, an item a tag `item`; a marker stands before every tag."""

    end_of_text = MARKER

    def named_member(self, name: str, value: Expr) -> RuleRef:
        self.refuse_key(name, ">", "<")
        return self.define(name, self._element(name, value))

    def other_member(self, language: TextLanguage, value: Expr) -> RuleRef:
        key = self.bare_name(language)
        end = Sequence((self.text(f"{MARKER}</"), self.bare_name(TextLanguage.all()), self.text(">")))
        return self.define("extra", Sequence((self.text(f"{MARKER}<"), key, self.text(">"), value, end)))

    def item(self, goal: Goal, depth: int) -> Expr:
        return self._element("item", super().item(goal, depth))

    def _element(self, name: str, value: Expr) -> Expr:
        return Sequence((self.text(f"{MARKER}<{name}>"), value, self.text(f"{MARKER}</{name}>")))


class CohereEmitter(NestedMarkupEmitter):
    """Members and items are values with a type; members have a name as well."""

    end_of_text = COHERE_END

    def alternative(self, kind: str, alternative: Any, depth: int) -> list[Expr]:
        """The type, the value and the end, which follow the beginning of the tag and the name."""
        begin = self.text(f' type="{COHERE_TYPES.get(kind, "json")}">')
        values = super().alternative(kind, alternative, depth)
        return [Sequence((begin, value, self.text(COHERE_END))) for value in values]

    def named_member(self, name: str, value: Expr) -> RuleRef:
        key = name.translate(_KEY_ESCAPES)
        return self.define(name, Sequence((self.text(f'<cofl:value name="{key}"'), value)))

    def other_member(self, language: TextLanguage, value: Expr) -> RuleRef:
        begin, key = self.text('<cofl:value name="'), self.bare_name(language)
        return self.define("extra", Sequence((begin, key, self.text('"'), value)))

    def item(self, goal: Goal, depth: int) -> Expr:
        return Sequence((self.text("<cofl:value"), super().item(goal, depth)))
