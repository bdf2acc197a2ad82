"""The texts of a grammar as they are written inside of a JSON string.

A homomorphism on the leaves: every character is replaced by its natural spelling in a JSON string, so the
structure of the grammar stays what it is, recursion included.
"""

from __future__ import annotations

import json

from grammar_core.errors import UnsupportedFeatureError
from grammar_core.ir.nodes import (
    FIRST_SURROGATE,
    LAST_SURROGATE,
    MAX_CODE_POINT,
    Automaton,
    CharClass,
    Choice,
    Expr,
    Literal,
    OtherTexts,
    Regex,
    Repeat,
    Rule,
    RuleRef,
    Substring,
    TagDispatch,
    TokenSet,
    TokenTagDispatch,
)
from grammar_core.ir.right_linear import FreeNames
from grammar_core.ir.traversal import transform_rule

_ANY_CHARACTER = CharClass(((0, FIRST_SURROGATE - 1), (LAST_SURROGATE + 1, MAX_CODE_POINT)))
# Control characters, the quotation mark and the backslash: as ranges, and one by one.
_ESCAPED = ((0x00, 0x1F), (0x22, 0x22), (0x5C, 0x5C))
_ESCAPES = {
    code: Literal(json.dumps(chr(code))[1:-1].encode())
    for first, last in _ESCAPED
    for code in range(first, last + 1)
}


def escape_json_strings(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """The rules of the same texts as the inside of JSON strings.

    Raises UnsupportedFeatureError for nodes about whole tokens and for free text between tags, of which
    that cannot be said leaf by leaf.
    """
    escaping = _Escaping({rule.name for rule in rules})
    return (*(transform_rule(rule, escaping.change) for rule in rules), *escaping.added)


class _Escaping:
    def __init__(self, names: set[str]) -> None:
        self._free = FreeNames(names)
        self._classes: dict[CharClass, Expr] = {}
        self._rules: dict[CharClass, RuleRef] = {}
        self.added: list[Rule] = []

    def change(self, expr: Expr) -> Expr:
        """The node, whose children are done."""
        if isinstance(expr, Literal):
            return Literal(_escaped(expr.value.decode()).encode())
        if isinstance(expr, CharClass):
            return self._char_class(expr)
        if isinstance(expr, Regex):
            return expr.body
        if isinstance(expr, Substring):
            return Substring(tuple(map(_escaped, expr.chunks)))
        if isinstance(expr, OtherTexts):
            return expr._replace(texts=tuple(map(_escaped, expr.texts)))
        if isinstance(expr, Automaton):
            edges = tuple((source, target, self._label(label)) for source, target, label in expr.edges)
            return expr._replace(edges=edges)
        if isinstance(expr, TagDispatch) and not expr.tags and not expr.excludes:
            return Repeat(self._char_class(_ANY_CHARACTER), 0, None)
        if isinstance(expr, TagDispatch | TokenSet | TokenTagDispatch):
            raise UnsupportedFeatureError(
                f"A {type(expr).__name__} cannot be inside of a JSON string, where this grammar's texts go"
            )
        return expr

    def _char_class(self, char_class: CharClass) -> Expr:
        if char_class not in self._classes:
            self._classes[char_class] = _escaped_class(char_class)
        return self._classes[char_class]

    def _label(self, label: CharClass | RuleRef) -> CharClass | RuleRef:
        """Edges bear no sequences, so a class with escapes becomes a rule."""
        if isinstance(label, RuleRef):
            return label
        escaped = self._char_class(label)
        if isinstance(escaped, CharClass):
            return escaped
        if label not in self._rules:
            self._rules[label] = RuleRef(self._free.new("escaped"))
            self.added.append(Rule(self._rules[label].name, escaped))
        return self._rules[label]


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _escaped_class(char_class: CharClass) -> Expr:
    plain: list[tuple[int, int]] = []
    escapes: list[Expr] = []
    for first, last in char_class.ranges:
        for begin, end in _ESCAPED:
            if first < begin and first <= last:
                plain.append((first, min(last, begin - 1)))
            escapes += (_ESCAPES[code] for code in range(max(first, begin), min(last, end) + 1))
            first = max(first, end + 1)
        if first <= last:
            plain.append((first, last))
    if not escapes:
        return char_class
    return Choice(((CharClass(tuple(plain)),) if plain else ()) + tuple(escapes))
