"""Notations in which a call's parameters come one after the other, with JSON in those that are no strings."""

from __future__ import annotations

from grammar_core.frontends.json_schema.choices import choice
from grammar_core.frontends.json_schema.goals import Goal
from grammar_core.frontends.json_schema.layout import Layout
from grammar_core.frontends.json_schema.texts import TextLanguage
from grammar_core.frontends.json_schema.values import STRING, TYPES
from grammar_core.frontends.structural_tag.notations.markup import ParameterMarkup
from grammar_core.frontends.structural_tag.notations.notation import GAP, NotationEmitter
from grammar_core.ir.nodes import EMPTY, CharClass, Expr, Repeat, RuleRef, Sequence

_LINE_BREAK = Repeat(CharClass(((10, 10),)), 0, 1)


class ParameterEmitter(NotationEmitter):
    """The members of the root as parameters; what is inside of them is written by `inner`."""

    object_brackets = (EMPTY, EMPTY)
    writes_json = False

    def __init__(self, inner: NotationEmitter, layout: Layout, markup: ParameterMarkup) -> None:
        super().__init__(
            inner.expander,
            layout,
            any_order=inner.any_order,
            is_strict=inner.is_strict,
            excludes=inner.excludes,
            text=inner.text,
        )
        inner._names.update(self._names)
        self.share(inner)
        self._inner = inner
        self._markup = markup
        self._parameters: dict[Goal, RuleRef] = {}
        after_key, _, before_value = markup.after_key.partition("\n")
        gap = (GAP, self.text(before_value)) if before_value else ()
        self._after_key = Sequence((self.text(after_key), *gap))

    def root_value(self, goal: Goal) -> Expr:
        return self.object_members(goal)

    def named_member(self, name: str, value: Expr) -> RuleRef:
        self.refuse_key(name, self._markup.after_key.partition("\n")[0])
        begin = self.text(f"{self._markup.begin}{name}")
        return self.define(name, Sequence((begin, self._after_key, value)))

    def other_member(self, language: TextLanguage, value: Expr) -> RuleRef:
        key = self.bare_name(language)
        return self.define("extra", Sequence((self.text(self._markup.begin), key, self._after_key, value)))

    def value(self, goal: Goal, depth: int, hint: str = "value") -> Expr:
        """What follows a key: the value's type, where it is named, the value and the end."""
        found = self._parameters.get(goal)
        if found is None:
            typed = self._typed_value(goal) if self._markup.types else self._untyped_value(goal, hint)
            end = self.text(self._markup.end)
            found = self._parameters[goal] = self.add(f"{hint}_parameter", Sequence((typed, end)))
        return found

    def _typed_value(self, goal: Goal) -> Expr:
        assert self._markup.types is not None
        options: list[Expr] = []
        for kind in TYPES:
            values = self._strings(goal) if kind == STRING else self._json(goal, kind)
            if values:
                name = self.text(f"{self._markup.types[kind]}{self._markup.after_type}")
                options.append(Sequence((name, choice(values))))
        return choice(options)

    def _untyped_value(self, goal: Goal, hint: str) -> Expr:
        strings = self._strings(goal)
        languages = self.expander.expand(goal, STRING)
        if any(language.is_unrestricted() for language in languages):
            return choice(strings)
        if not strings:
            return Sequence((GAP, self._inner.value(goal, 1, hint), GAP))
        return choice(
            [*strings, *(one for kind in TYPES if kind != STRING for one in self._json(goal, kind))]
        )

    def _strings(self, goal: Goal) -> list[Expr]:
        raw = [self.raw(language, self._markup.end) for language in self.expander.expand(goal, STRING)]
        return [Sequence((_LINE_BREAK, text, _LINE_BREAK)) for text in raw] if self._markup.is_padded else raw

    def _json(self, goal: Goal, kind: str) -> list[Expr]:
        alternatives = self.expander.expand(goal, kind)
        values = [one for found in alternatives for one in self._inner.alternative(kind, found, 1)]
        return [Sequence((GAP, choice(values), GAP))] if values else []
