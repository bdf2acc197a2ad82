"""Writes a grammar as the postfix program that the native core reads (native/automaton/expression.hpp)."""

from __future__ import annotations

import struct
from array import array
from itertools import chain
from typing import NamedTuple

from grammar_core.grammar import Grammar
from grammar_core.ir.nodes import CharClass, Choice, Expr, Literal, Regex, Repeat, RuleRef, Sequence
from grammar_core.ir.right_linear import replace_automata

_LITERAL, _CHAR_CLASS, _RULE_REF, _SEQUENCE, _CHOICE, _REPEAT, _END_OF_RULE = range(7)
_UNBOUNDED = -1
_LARGEST_COUNT = 2**62
_NO_OPTIONS = (0, -1, int.from_bytes(struct.pack("<d", -1.0), "little", signed=True))

Operation = tuple[int, ...]


class Program(NamedTuple):
    """A grammar in the native core's input format: 64-bit words, bytes of all literals, rule names, root."""

    words: bytes
    literals: bytes
    rule_names: list[str]
    root: int


def lower_grammar(grammar: Grammar) -> Program:
    """The program of `grammar`, whose references must all be defined and whose macros are expanded."""
    rules = replace_automata(grammar.rules)
    index_of_rule = {rule.name: index for index, rule in enumerate(rules)}
    literals = bytearray()
    operations: list[Operation] = []
    for rule in rules:
        _append_postfix(rule.body, operations, literals, index_of_rule)
        operations.append((_END_OF_RULE, *_NO_OPTIONS))
    words = array("q", chain.from_iterable(operations))
    return Program(words.tobytes(), bytes(literals), list(index_of_rule), index_of_rule[grammar.root])


def _append_postfix(
    body: Expr, operations: list[Operation], literals: bytearray, index_of_rule: dict[str, int]
) -> None:
    backwards: list[Operation] = []  # parents before children, last child first
    pending: list[Expr] = [body]
    while pending:
        node = pending.pop()
        if isinstance(node, Literal):
            backwards.append((_LITERAL, len(literals), len(node.value)))
            literals += node.value
        elif isinstance(node, RuleRef):
            backwards.append((_RULE_REF, index_of_rule[node.name]))
        elif isinstance(node, Sequence):
            backwards.append((_SEQUENCE, len(node.items)))
            pending.extend(node.items)
        elif isinstance(node, Choice):
            backwards.append((_CHOICE, len(node.options)))
            pending.extend(node.options)
        elif isinstance(node, CharClass):
            backwards.append((_CHAR_CLASS, len(node.ranges), *chain.from_iterable(node.ranges)))
        elif isinstance(node, Regex):
            pending.append(node.body)
        else:
            assert isinstance(node, Repeat), "macros are expanded before"
            repeat = _merge_repeats(node)
            backwards.append((_REPEAT, repeat.min, _UNBOUNDED if repeat.max is None else repeat.max))
            pending.append(repeat.body)
    operations.extend(reversed(backwards))


def _merge_repeats(repeat: Repeat) -> Repeat:
    """One repetition for directly nested ones, so that nobody counts the ways to split the same text.

    `(x{a,b}){c,d}` takes every number of x from ac to bd when a is 0 or 1.
    """
    body, low, high = repeat
    while isinstance(body, Repeat) and body.min <= 1 and body.max != 0 and high != 0:
        high = None if high is None or body.max is None else high * body.max
        low *= body.min
        body = body.body
    # No text is long enough to tell a larger bound from none.
    return Repeat(body, min(low, _LARGEST_COUNT), None if high is None or high > _LARGEST_COUNT else high)
