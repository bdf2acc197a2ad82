"""Grammars as EBNF text: readable, and the same language when it is parsed again."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import cast

from grammar_core.ir.automata.expansion import expand_automata
from grammar_core.ir.char_ranges import ANY_CHARACTER, complement_ranges
from grammar_core.ir.nodes import (
    MAX_CODE_POINT,
    CharClass,
    Choice,
    Expr,
    Literal,
    Repeat,
    Rule,
    RuleRef,
    Sequence,
    child_expressions,
)

_ROOT = "root"
_LINE_WIDTH = 100
_NAMED_CONTROLS = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}
_LITERAL_ESCAPES = {**_NAMED_CONTROLS, '"': '\\"'}
_CLASS_ESCAPES = {**_NAMED_CONTROLS, "]": "\\]", "[": "\\[", "^": "\\^", "-": "\\-"}
_OPERATORS = {(0, 1): "?", (0, None): "*", (1, None): "+"}
_NAME = re.compile(r"(?!\d)[\w.\-]+")

# How tightly the surroundings bind: what must be put in parentheses.
_IN_RULE, _IN_CHOICE, _IN_SEQUENCE, _IN_REPEAT = range(4)
_Names = dict[str, str]
_Piece = str | tuple[Expr, int]


def print_grammar(rules: Iterable[Rule], root: str) -> str:
    """EBNF text of the rules, one a line in their order, with `root` as the name of the root rule.

    Automata are printed as rules for their states.
    """
    rules = expand_automata(rules)
    names = _printed_names(rules, root)
    lines = [f"{names[rule.name]} ::= {_print_body(rule.body, names)}\n" for rule in rules]
    if names[root] != _ROOT:
        lines.insert(0, f"{_ROOT} ::= {names[root]}\n")
    return "".join(lines)


def _printed_names(rules: tuple[Rule, ...], root: str) -> _Names:
    """Names under which the rules are printed: their own, unless EBNF does not allow it.

    The name `root` is kept for the root rule, since that is what a parser starts from.
    """
    taken = {rule.name for rule in rules} | {_ROOT}
    names = {}
    for rule in rules:
        name = rule.name
        if not _is_name(name) or (name == _ROOT and root != _ROOT):
            name = _free_name(re.sub(r"[^\w.\-]", "_", f"_{name}" if name[:1].isdigit() else name), taken)
            taken.add(name)
        names[rule.name] = name
    return names


def _is_name(name: str) -> bool:
    """Whether EBNF can write the name: letters with their combining marks, digits, `_`, `-` and `.`."""
    letters = "".join(character for character in name if unicodedata.category(character)[0] != "M")
    return _NAME.fullmatch(letters) is not None


def _free_name(base: str, taken: set[str]) -> str:
    number = 1
    while f"{base}_{number}" in taken:
        number += 1
    return f"{base}_{number}"


def _print_body(body: Expr, names: _Names) -> str:
    line = print_expression(body, names)
    body = _unwrap(body)
    if len(line) <= _LINE_WIDTH or type(body) is not Choice:
        return line
    return "\n    | ".join(print_expression(option, names, _IN_CHOICE) for option in body.options)


def print_expression(expr: Expr, names: _Names | None = None, context: int = _IN_RULE) -> str:
    """EBNF text of one expression without automata; `names` gives printed names of rules."""
    names = names or {}
    output: list[str] = []
    pending: list[_Piece] = [(expr, context)]
    while pending:
        piece = pending.pop()
        if isinstance(piece, str):
            output.append(piece)
        else:
            inner, surroundings = _unwrap(piece[0]), piece[1]
            pending.extend(reversed(_PRINTERS[type(inner)](inner, surroundings, names)))
    return "".join(output)


def _unwrap(expr: Expr) -> Expr:
    """The expression inside sequences and choices of one, which are not visible in text."""
    while type(expr) in (Sequence, Choice) and len(child_expressions(expr)) == 1:
        expr = child_expressions(expr)[0]
    return expr


def _print_literal(literal: Literal, context: int, names: _Names) -> list[_Piece]:
    return [f'"{_escape(literal.value.decode(), _LITERAL_ESCAPES)}"']


def _print_char_class(char_class: CharClass, context: int, names: _Names) -> list[_Piece]:
    ranges = char_class.ranges
    if ranges == ANY_CHARACTER:
        return ["[^]"]
    if not ranges or ranges[-1][1] == MAX_CODE_POINT:
        return [f"[^{_print_ranges(complement_ranges(ranges))}]"]
    return [f"[{_print_ranges(ranges)}]"]


def _print_ranges(ranges: Iterable[tuple[int, int]]) -> str:
    return "".join(_print_range(low, high) for low, high in ranges)


def _print_range(low: int, high: int) -> str:
    first, last = _escape(chr(low), _CLASS_ESCAPES), _escape(chr(high), _CLASS_ESCAPES)
    if low == high:
        return first
    return f"{first}{last}" if high == low + 1 else f"{first}-{last}"


def _print_reference(reference: RuleRef, context: int, names: _Names) -> list[_Piece]:
    return [names.get(reference.name, reference.name)]


def _print_sequence(sequence: Sequence, context: int, names: _Names) -> list[_Piece]:
    if not sequence.items:
        return ["()"]
    pieces = _joined(sequence.items, " ", _IN_SEQUENCE)
    return ["(", *pieces, ")"] if context >= _IN_SEQUENCE else pieces


def _print_choice(choice: Choice, context: int, names: _Names) -> list[_Piece]:
    pieces = _joined(choice.options, " | ", _IN_CHOICE)
    return ["(", *pieces, ")"] if context >= _IN_CHOICE else pieces


def _print_repeat(repeat: Repeat, context: int, names: _Names) -> list[_Piece]:
    operator = _OPERATORS.get((repeat.min, repeat.max)) or _print_bounds(repeat.min, repeat.max)
    pieces: list[_Piece] = [(repeat.body, _IN_REPEAT), operator]
    return ["(", *pieces, ")"] if context == _IN_REPEAT else pieces


def _print_bounds(low: int, high: int | None) -> str:
    if high is None:
        return f"{{{low},}}"
    return f"{{{low}}}" if low == high else f"{{{low},{high}}}"


def _joined(exprs: tuple[Expr, ...], separator: str, context: int) -> list[_Piece]:
    pieces: list[_Piece] = []
    for expr in exprs:
        pieces += [separator, (expr, context)] if pieces else [(expr, context)]
    return pieces


def _escape(text: str, escapes: dict[str, str]) -> str:
    return "".join(escapes.get(character) or _escape_invisible(character) for character in text)


def _escape_invisible(character: str) -> str:
    if character.isprintable():
        return character
    code_point = ord(character)
    return f"\\u{code_point:04X}" if code_point <= 0xFFFF else f"\\U{code_point:08X}"


_PRINTERS = cast(
    "dict[type[Expr], Callable[[Expr, int, _Names], list[_Piece]]]",
    {
        Literal: _print_literal,
        CharClass: _print_char_class,
        RuleRef: _print_reference,
        Sequence: _print_sequence,
        Choice: _print_choice,
        Repeat: _print_repeat,
    },
)
