"""Writes a grammar as the postfix program that the native core reads (native/automaton/expression.hpp)."""

from __future__ import annotations

from array import array
from itertools import chain
from typing import NamedTuple

from grammar_core.grammar import Grammar
from grammar_core.ir.nodes import CharClass, Choice, Expr, Literal, Repeat, RuleRef, Sequence

_LITERAL, _CHAR_CLASS, _RULE_REF, _SEQUENCE, _CHOICE, _REPEAT, _END_OF_RULE = range(7)
_UNBOUNDED = -1

Operation = tuple[int, ...]


class Program(NamedTuple):
    """A grammar in the native core's input format: 64-bit words, the bytes of all literals, rule names, root."""

    words: bytes
    literals: bytes
    rule_names: list[str]
    root: int


def lower_grammar(grammar: Grammar) -> Program:
    """The program of `grammar`, whose references must all be defined."""
    index_of_rule = {rule.name: index for index, rule in enumerate(grammar.rules)}
    literals = bytearray()
    operations: list[Operation] = []
    for rule in grammar.rules:
        _append_postfix(rule.body, operations, literals, index_of_rule)
        operations.append((_END_OF_RULE,))
    words = array("q", chain.from_iterable(operations))
    return Program(words.tobytes(), bytes(literals), list(index_of_rule), index_of_rule[grammar.root])


def _append_postfix(
    body: Expr, operations: list[Operation], literals: bytearray, index_of_rule: dict[str, int]
) -> None:
    backwards: list[Operation] = []  # parents before children, last child first
    pending: list[Expr] = [body]
    while pending:
        node = pending.pop()
        kind = type(node)
        if kind is Literal:
            value = node[0]
            backwards.append((_LITERAL, len(literals), len(value)))
            literals += value
        elif kind is RuleRef:
            backwards.append((_RULE_REF, index_of_rule[node[0]]))
        elif kind is Sequence:
            backwards.append((_SEQUENCE, len(node[0])))
            pending.extend(node[0])
        elif kind is Choice:
            backwards.append((_CHOICE, len(node[0])))
            pending.extend(node[0])
        elif kind is CharClass:
            backwards.append((_CHAR_CLASS, len(node[0]), *chain.from_iterable(node[0])))
        elif isinstance(node, Repeat):
            backwards.append((_REPEAT, node.min, _UNBOUNDED if node.max is None else node.max))
            pending.append(node.body)
        else:
            raise TypeError(f"{kind.__name__} cannot be lowered")
    operations.extend(reversed(backwards))
