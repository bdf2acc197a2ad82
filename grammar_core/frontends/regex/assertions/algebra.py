"""Patterns whose assertions all stand at the top, as intersections of regular languages.

A lookahead is a condition on all that follows, so the languages of the items are put together from the last
to the first. A lookbehind of one character is one on the item before it, if that is not empty or begins the
text. A word boundary is a choice of such conditions. Other patterns are left to derivation.py.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple, TypeAlias

from grammar_core.deadline import check_now
from grammar_core.errors import GrammarLimitError
from grammar_core.frontends.regex.plain import to_expression
from grammar_core.frontends.regex.syntax_tree import (
    Alternation,
    Characters,
    Concatenation,
    Look,
    Text,
    Tree,
    concatenate,
    has_assertions,
)
from grammar_core.ir.char_ranges import ANY_CHARACTER
from grammar_core.ir.nodes import EMPTY, CharClass, Choice, Expr, Repeat, Sequence
from grammar_core.regular import RegularLanguage

_MAX_CHOICES = 16
_ANYTHING = Repeat(CharClass(ANY_CHARACTER), 0, None)

_Conditions: TypeAlias = tuple[Look, ...]


class _Part(NamedTuple):
    """What stands between assertions, and the choice of conditions at its end."""

    expression: Expr
    choices: list[_Conditions]


def compile_by_algebra(tree: Tree) -> Expr | None:
    """The expression of a tree with assertions; None if its form does not suit, or it grows too large."""
    parts = _parts(tree)
    if parts is None:
        return None
    options = list(product(*(part.choices for part in parts)))
    if len(options) > _MAX_CHOICES:
        return None
    try:
        items = [RegularLanguage.from_expression(part.expression) for part in parts]
        found = [_expression_of(items, choices) for choices in options]
        kept = tuple(expression for expression in found if expression is not None)
        if len(kept) < len(found):
            return None
        return RegularLanguage.from_expression(Choice(kept)).to_expression()
    except GrammarLimitError:
        check_now()
        return None


def _parts(tree: Tree) -> list[_Part] | None:
    items = tree.items if isinstance(tree, Concatenation) else (tree,)
    parts: list[_Part] = []
    plain: list[Tree] = []
    for item in items:
        if not has_assertions(item):
            plain.append(item)
            continue
        choices = _choices(item)
        if choices is None:
            return None
        parts.append(_Part(_expression(plain), choices))
        plain = []
    return [*parts, _Part(_expression(plain), [()])]


def _expression(items: list[Tree]) -> Expr:
    return to_expression(concatenate(items)) if items else EMPTY


def _choices(item: Tree) -> list[_Conditions] | None:
    """The conditions of an assertion, any one of which suffices."""
    found = []
    for option in item.options if isinstance(item, Alternation) else (item,):
        looks = option.items if isinstance(option, Concatenation) else (option,)
        if not all(isinstance(look, Look) and _is_simple(look) for look in looks):
            return None
        found.append(tuple(look for look in looks if isinstance(look, Look)))
    return found


def _is_simple(look: Look) -> bool:
    if not look.behind:
        return not has_assertions(look.body)
    return isinstance(look.body, Characters) or (isinstance(look.body, Text) and len(look.body.value) == 1)


def _expression_of(items: list[RegularLanguage], choices: tuple[_Conditions, ...]) -> Expr | None:
    """The items one after another, under the conditions behind each."""
    following = RegularLanguage.of_texts([""])
    for index in range(len(items) - 1, -1, -1):
        part = items[index]
        for look in choices[index]:
            if not look.behind:
                following = _kept(following, Sequence((to_expression(look.body), _ANYTHING)), look.negated)
            elif index > 0 and part.contains(""):
                return None
            else:
                part = _kept(part, Sequence((_ANYTHING, to_expression(look.body))), look.negated)
        joined = _one_after_another(part, following)
        if index > 0:
            following = RegularLanguage.from_expression(joined)
    return joined


def _one_after_another(one: RegularLanguage, other: RegularLanguage) -> Expr:
    if one.is_empty() or other.is_empty():
        return CharClass(())
    parts = [part for part in (one.to_expression(), other.to_expression()) if part != EMPTY]
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts))


def _kept(language: RegularLanguage, condition: Expr, negated: bool) -> RegularLanguage:
    other = RegularLanguage.from_expression(condition)
    return language.subtract(other) if negated else language.intersect(other)
