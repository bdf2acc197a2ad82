"""Checks that a list of rules is a grammar. For rules built in code; frontends report with positions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from grammar_core.errors import DuplicateRuleError, GrammarError, UndefinedRuleError
from grammar_core.ir.char_ranges import normalize_ranges
from grammar_core.ir.nodes import (
    MAX_CODE_POINT,
    Automaton,
    CharClass,
    Choice,
    Expr,
    Literal,
    Repeat,
    Rule,
    RuleRef,
    child_expressions,
)


def validate_rules(rules: Iterable[Rule], root: str) -> None:
    """Raise GrammarError unless names are unique, references defined and nodes well formed."""
    rules = tuple(rules)
    names = _unique_names(rules)
    if root not in names:
        raise UndefinedRuleError(f'The root rule "{root}" is not defined')
    for rule in rules:
        for expr in walk_expressions(rule.body):
            _check_node(expr, rule.name, names)


def walk_expressions(expr: Expr) -> Iterator[Expr]:
    """`expr` and everything inside it, parents first, in text order, at any depth."""
    pending = [expr]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(child_expressions(current)))


def _unique_names(rules: tuple[Rule, ...]) -> set[str]:
    names: set[str] = set()
    for rule in rules:
        if rule.name in names:
            raise DuplicateRuleError(f'Rule "{rule.name}" is defined more than once')
        names.add(rule.name)
    return names


def _check_node(expr: Expr, rule_name: str, names: set[str]) -> None:
    if isinstance(expr, RuleRef) and expr.name not in names:
        raise UndefinedRuleError(f'Rule "{expr.name}", used in "{rule_name}", is not defined')
    problem = _malformation(expr)
    if problem:
        raise GrammarError(f'{problem} in rule "{rule_name}"')


def _malformation(expr: Expr) -> str | None:
    if isinstance(expr, Literal) and not _is_utf8(expr.value):
        return f"The literal {expr.value!r} is not valid UTF-8"
    if isinstance(expr, CharClass) and not _is_normal(expr):
        return "A character class is not a normal list of code point ranges"
    if isinstance(expr, Choice) and not expr.options:
        return "A choice has no options"
    if isinstance(expr, Repeat) and not _has_bounds(expr):
        return f"The repetition bounds {expr.min} and {expr.max} are not in order"
    if isinstance(expr, Automaton) and min((0, *expr.accepting, *_edge_states(expr))) < 0:
        return "An automaton has a state below 0"
    return None


def _edge_states(automaton: Automaton) -> Iterator[int]:
    return (state for source, target, _ in automaton.edges for state in (source, target))


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_normal(char_class: CharClass) -> bool:
    ordered = all(0 <= low <= high <= MAX_CODE_POINT for low, high in char_class.ranges)
    return ordered and normalize_ranges(char_class.ranges) == tuple(char_class.ranges)


def _has_bounds(repeat: Repeat) -> bool:
    return repeat.min >= 0 and (repeat.max is None or repeat.min <= repeat.max)
