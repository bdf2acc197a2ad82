"""Writes a grammar as the postfix program that the native core reads (native/automaton/expression.hpp)."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import accumulate, chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from grammar_core.deadline import check, check_now
from grammar_core.ir.nodes import (
    NO_OPTIONS,
    Automaton,
    CharClass,
    Choice,
    Expr,
    KnownRule,
    Literal,
    Members,
    OtherTexts,
    Regex,
    Repeat,
    Rule,
    RuleOptions,
    RuleRef,
    Sequence,
    TokenSet,
    child_expressions,
)

if TYPE_CHECKING:
    from grammar_core.grammar import Grammar

(
    _LITERAL,
    _CHAR_CLASS,
    _RULE_REF,
    _SEQUENCE,
    _CHOICE,
    _REPEAT,
    _END_OF_RULE,
    _AUTOMATON,
    _TOKEN_SET,
    _MEMBERS,
    _OTHER_TEXTS,
) = range(11)
_UNBOUNDED = -1
_WORD_BYTES = 8
_MANY = 64
_LARGEST_COUNT = 2**62
_NONE = -1


class LoweredAutomaton(NamedTuple):
    """The words of an automaton, which may have very many edges; its labels come first.

    `references`: positions of rules' numbers.
    """

    words: bytes
    references: list[int]


Operation: TypeAlias = tuple[int, ...] | LoweredAutomaton


class Program(NamedTuple):
    """A grammar in the native core's input format: 64-bit words, bytes of all literals, rule names, root.

    Captures are named by their position in `capture_names`.
    """

    words: bytes
    literals: bytes
    rule_names: list[str]
    root: int
    capture_names: list[str]


Expansions: TypeAlias = Mapping[type[Any], Callable[[Any], Expr]]


def lower_grammar(grammar: Grammar, expansions: Expansions = MappingProxyType({})) -> Program:
    """The program of `grammar`, whose references must all be defined.

    `expansions` say how to replace the macros that it has; Members and OtherTexts may stay.
    """
    index_of_rule = {rule.name: index for index, rule in enumerate(grammar.rules)}
    literals = bytearray()
    capture_names: list[str] = []
    parts: list[bytes] = []
    operations: list[Operation] = []
    end_of_group = 0
    for position, rule in enumerate(grammar.rules):
        if position < end_of_group:
            continue
        check()
        if isinstance(rule, KnownRule) and (known := _known_at(grammar.rules, position, rule)):
            lowered = rule.lowered = rule.lowered or _lower_known(known)
            parts += (_words(operations), _known_words(lowered, position, literals, index_of_rule))
            operations = []
            end_of_group = position + len(known)
            continue
        _append_postfix(rule.body, operations, literals, index_of_rule, expansions)
        operations.append(_end_of_rule(rule.options, capture_names))
    parts.append(_words(operations))
    words = b"".join(parts)
    return Program(words, bytes(literals), list(index_of_rule), index_of_rule[grammar.root], capture_names)


def _words(operations: list[Operation]) -> bytes:
    """The words of all operations; runs of small ones are written at once."""
    parts: list[bytes] = []
    begin = 0
    for end, operation in enumerate(operations):
        if type(operation) is LoweredAutomaton:
            parts += (_small_words(operations[begin:end]), operation.words)
            begin = end + 1
    parts.append(_small_words(operations[begin:] if begin else operations))
    return b"".join(parts)


def _small_words(operations: list[Operation]) -> bytes:
    small: list[tuple[int, ...]] = operations  # type: ignore[assignment]
    return array("q", chain.from_iterable(small)).tobytes()


class LoweredRules(NamedTuple):
    """The words of rules without options, and those that depend on the grammar around them.

    `texts`: positions of offsets into the literals, `inside`: positions of the rules' own numbers, counted
    from the first of them, `references`: positions of the numbers of other rules, `many`: of one rule.
    """

    words: array[int]
    literals: bytes
    texts: tuple[int, ...]
    inside: tuple[int, ...]
    references: tuple[tuple[int, str], ...]
    many: tuple[tuple[str, NDArray[np.intp]], ...]


def _known_at(rules: tuple[Rule, ...], position: int, rule: KnownRule) -> tuple[Rule, ...]:
    """The known rules that begin here: all of a group, or one; none where a group is not whole."""
    if rule.group is None:
        return (rule,)
    return rule.group if rules[position : position + len(rule.group)] == rule.group else ()


def _known_words(
    lowered: LoweredRules, first: int, literals: bytearray, index_of_rule: dict[str, int]
) -> bytes:
    """The words of rules of which the first has the number `first`."""
    words = lowered.words[:]
    base = len(literals)
    for position in lowered.texts:
        words[position] += base
    for position in lowered.inside:
        words[position] += first
    for position, name in lowered.references:
        words[position] = index_of_rule[name]
    for name, positions in lowered.many:
        np.frombuffer(words, np.int64)[positions] = index_of_rule[name]
    literals += lowered.literals
    return words.tobytes()


def _lower_known(rules: tuple[Rule, ...]) -> LoweredRules:
    literals = bytearray()
    operations: list[Operation] = []
    numbers: dict[str, int] = _Numbers((rule.name, index) for index, rule in enumerate(rules))
    for rule in rules:
        _append_postfix(rule.body, operations, literals, numbers, MappingProxyType({}))
        operations.append(_END_WITHOUT_OPTIONS)
    words = array("q", _words(operations))
    texts, references = _relocations(operations)
    names = list(numbers)
    places: dict[int, list[int]] = {}
    for position in references:
        places.setdefault(words[position], []).append(position)
    outside = [(names[number], where) for number, where in places.items() if number >= len(rules)]
    return LoweredRules(
        words,
        bytes(literals),
        tuple(texts),
        tuple(position for position in references if words[position] < len(rules)),
        tuple((position, name) for name, where in outside if len(where) < _MANY for position in where),
        tuple((name, np.array(where, np.intp)) for name, where in outside if len(where) >= _MANY),
    )


def _relocations(operations: list[Operation]) -> tuple[list[int], list[int]]:
    """The positions of offsets into the literals and of rules' numbers."""
    texts: list[int] = []
    references: list[int] = []
    position = 0
    for operation in operations:
        if type(operation) is LoweredAutomaton:
            references += [position + place for place in operation.references]
            position += len(operation.words) // _WORD_BYTES
            continue
        if operation[0] == _LITERAL:
            texts.append(position + 1)
        elif operation[0] == _RULE_REF:
            references.append(position + 1)
        elif operation[0] == _OTHER_TEXTS:
            texts += range(position + 2, position + len(operation), 2)
        position += len(operation)
    return texts, references


class _Numbers(dict[str, int]):
    """Numbers names as they are asked for."""

    def __missing__(self, name: str) -> int:
        self[name] = len(self)
        return self[name]


def lower_expression(expr: Expr) -> tuple[bytes, bytes]:
    """The words and literals of a program whose only rule is `expr`, which refers to no rules."""
    literals = bytearray()
    operations: list[Operation] = []
    _append_postfix(expr, operations, literals, {}, MappingProxyType({}))
    operations.append(_END_WITHOUT_OPTIONS)
    return _words(operations), bytes(literals)


def _end_of_rule(options: RuleOptions, capture_names: list[str]) -> Operation:
    if options == NO_OPTIONS:
        return _END_WITHOUT_OPTIONS
    temperature = float(_NONE) if options.temperature is None else options.temperature
    return (
        _END_OF_RULE,
        int(options.lazy),
        _name_index(options.capture, capture_names),
        _bits(temperature),
        _optional(options.max_tokens),
        _optional(options.max_chars),
        _name_index(options.stop_capture, capture_names),
        _optional(options.capture_hidden_suffix_bytes),
        _optional(options.capture_hidden_stop_bytes),
        _optional(options.capture_hidden_body_rule_id),
        _optional(options.capture_hidden_marker_rule_id),
    )


def _optional(value: int | None) -> int:
    return _NONE if value is None else value


def _name_index(name: str | None, capture_names: list[str]) -> int:
    """The index of a capture's name, which is added to the list."""
    if name is None:
        return _NONE
    capture_names.append(name)
    return len(capture_names) - 1


def _bits(value: float) -> int:
    return int.from_bytes(struct.pack("<d", value), "little", signed=True)


_END_WITHOUT_OPTIONS: Operation = (_END_OF_RULE, 0, _NONE, _bits(_NONE), *(_NONE,) * 7)


def _append_postfix(
    body: Expr,
    operations: list[Operation],
    literals: bytearray,
    index_of_rule: dict[str, int],
    expansions: Expansions,
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
            backwards.append(_char_class(node.ranges))
        elif isinstance(node, Automaton):
            check_now()
            backwards.append(_automaton(node, index_of_rule))
        elif isinstance(node, Members):
            backwards.append(_members_shape(node))
            pending.extend(child_expressions(node))
        elif isinstance(node, Repeat):
            repeat = _merge_repeats(node)
            backwards.append((_REPEAT, repeat.min, _UNBOUNDED if repeat.max is None else repeat.max))
            pending.append(repeat.body)
        elif isinstance(node, Regex):
            pending.append(node.body)
        elif isinstance(node, TokenSet):
            backwards.append((_TOKEN_SET, int(node.negated), len(node.ids), *node.ids))
        elif isinstance(node, OtherTexts):
            backwards.append(_other_texts(node, literals))
            pending.append(node.item)
        else:
            check_now()
            pending.append(expansions[type(node)](node))
    operations.extend(reversed(backwards))


def _automaton(node: Automaton, index_of_rule: dict[str, int]) -> LoweredAutomaton:
    """Labels are few and edges many, so each label is written once and then copied."""
    sources, targets, labels = zip(*node.edges, strict=True) if node.edges else ((), (), ())
    numbers = list(map(id, labels))
    different = dict(zip(numbers, labels, strict=True))
    written = {key: _label(label, index_of_rule) for key, label in different.items()}
    check_now()
    references: list[int] = []
    rules = {key for key, label in different.items() if type(label) is RuleRef}
    if rules:
        lengths = {key: len(words) // _WORD_BYTES for key, words in written.items()}
        starts = accumulate((lengths[number] for number in numbers), initial=1)
        references = [start for start, number in zip(starts, numbers, strict=False) if number in rules]
    shape = (_AUTOMATON, node.state_count, len(node.accepting), *node.accepting, len(labels))
    ends = chain.from_iterable(zip(sources, targets, strict=True))
    words = b"".join([written[number] for number in numbers])
    check_now()
    return LoweredAutomaton(words + array("q", (*shape, *ends)).tobytes(), references)


def _label(label: CharClass | RuleRef, index_of_rule: dict[str, int]) -> bytes:
    if isinstance(label, RuleRef):
        return array("q", (_RULE_REF, index_of_rule[label.name])).tobytes()
    return array("q", _char_class(label.ranges)).tobytes()


@lru_cache(maxsize=4096)
def _char_class(ranges: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    return (_CHAR_CLASS, len(ranges), *chain.from_iterable(ranges))


def _other_texts(node: OtherTexts, literals: bytearray) -> Operation:
    places: list[int] = []
    for text in node.texts:
        spelled = text.encode()
        places += (len(literals), len(spelled))
        literals += spelled
    return (_OTHER_TEXTS, len(node.texts), *places)


def _members_shape(node: Members) -> Operation:
    flags = chain.from_iterable((int(m.required), int(m.repeatable)) for m in node.members)
    return (
        _MEMBERS,
        len(node.members),
        int(node.separator is not None),
        int(node.ordered),
        node.min,
        _UNBOUNDED if node.max is None else node.max,
        *flags,
        len(node.implications),
        *chain.from_iterable(node.implications),
    )


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
