"""Strings without quotes and escapes, which end where a text that they may not contain begins."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, reduce

from grammar_core.frontends.json_schema.text_patterns import TextPattern
from grammar_core.frontends.json_schema.texts import TextLanguage
from grammar_core.ir.char_ranges import ANY_CHARACTER
from grammar_core.ir.nodes import (
    NO_OPTIONS,
    CharClass,
    Choice,
    Expr,
    Literal,
    Repeat,
    RuleOptions,
    RuleRef,
    Sequence,
    TagDispatch,
)
from grammar_core.regular import RegularLanguage

AddRule = Callable[[str, Expr, RuleOptions], RuleRef]


def raw_text(language: TextLanguage, excludes: tuple[str, ...], add_rule: AddRule) -> Expr:
    """The strings of the language that contain none of `excludes`, as they are.

    Raises GrammarLimitError where they take too large an automaton.
    """
    values = language.given_values()
    if values is not None:
        literals = tuple(Literal(v.encode()) for v in values if not any(text in v for text in excludes))
        return Choice(literals) if literals else CharClass(())
    bounds = language.bounds_only()
    if bounds is not None and bounds[0] == 0:
        options = NO_OPTIONS if bounds[1] is None else RuleOptions(max_chars=bounds[1])
        return add_rule("raw_text", TagDispatch((), True, excludes), options)
    return language.intersect(without(excludes)).language.to_expression()


@lru_cache(maxsize=64)
def without(excludes: tuple[str, ...]) -> TextLanguage:
    """The strings that contain none of `excludes`."""
    parts = [_without(text) for text in excludes]
    if not parts:
        return TextLanguage.all()
    both = reduce(RegularLanguage.intersect, parts)
    return TextLanguage(patterns=(TextPattern(both.to_expression(), both),))


def _without(text: str) -> RegularLanguage:
    anything = Repeat(CharClass(ANY_CHARACTER), 0, None)
    containing = Sequence((anything, Literal(text.encode()), anything))
    return RegularLanguage.from_expression(containing).complement()
