"""Bounds on the length of a text, taken into the form of its expression where that is exact."""

from __future__ import annotations

from grammar_core.frontends.regex.character_sets import intersect_ranges
from grammar_core.ir.char_ranges import ANY_CHARACTER, Ranges
from grammar_core.ir.nodes import (
    EMPTY,
    Automaton,
    CharClass,
    Choice,
    Expr,
    Literal,
    Repeat,
    Sequence,
    child_expressions,
)

_MAX_LENGTHS = 24
_MAX_DEPTH = 8
_ANY_TEXT = Repeat(CharClass(ANY_CHARACTER), 0, None)

ByLength = dict[int, list[Expr]]
"""Expressions by the length that all their texts have."""


def bound_length(expr: Expr, low: int, high: int | None) -> Expr | None:
    """The texts of the expression of `low` to `high` characters, if its form can say so.

    It can if one part at the top repeats a character, and all others have few different lengths; so it can
    if that holds for each of several options.
    """
    options = expr.options if isinstance(expr, Choice) else (expr,)
    bounded = [_bound_option(option, low, high) for option in options]
    kept = [option for option in bounded if option is not None]
    return _choice(kept) if len(kept) == len(bounded) else None


def _bound_option(expr: Expr, low: int, high: int | None) -> Expr | None:
    before: ByLength | None = {0: []}
    behind: ByLength | None = {0: []}
    varying: Repeat | None = None
    for item in _without_idle_repetitions(expr.items if isinstance(expr, Sequence) else (expr,)):
        lengths = _by_length(item, _MAX_DEPTH)
        if lengths is not None:
            behind = _one_after_another(behind, lengths)
        elif varying is None and isinstance(item, Repeat) and isinstance(item.body, CharClass):
            before, varying, behind = behind, item, {0: []}
        else:
            return None
    if before is None or behind is None:
        return None
    if varying is not None and not _ends_itself(varying, behind):
        return None
    if varying is None:
        kept = [_choice(parts) for length, parts in behind.items() if _holds(length, low, high)]
        return _choice(kept) if kept else CharClass(())
    return _around(before, varying, behind, low, high)


def most_copies(expr: Expr) -> int:
    """How often an automaton would have copies of one part of the expression, which counts repetitions."""
    pending: list[tuple[Expr, int]] = [(expr, 1)]
    most = 1
    while pending:
        node, copies = pending.pop()
        if isinstance(node, Repeat):
            copies *= max(1, node.min if node.max is None else node.max)
            most = max(most, copies)
        if not isinstance(node, Automaton):
            pending += [(child, copies) for child in child_expressions(node)]
    return most


def _without_idle_repetitions(items: tuple[Expr, ...]) -> list[Expr]:
    """The items of a sequence; a repetition beside any text at an end goes no further than it must."""
    kept = list(items)
    for end, neighbour in ((-1, -2), (0, 1)):
        while len(kept) > 1 and kept[end] == _ANY_TEXT:
            repeat = kept[neighbour]
            if not isinstance(repeat, Repeat) or repeat.max == repeat.min:
                break
            kept[neighbour] = Repeat(repeat.body, repeat.min, repeat.min)
            if repeat.min == 0:
                del kept[neighbour]
    return kept


def _around(before: ByLength, varying: Repeat, behind: ByLength, low: int, high: int | None) -> Expr:
    """The repetition between what has a length, as often as the whole length allows."""
    options = []
    for first, fronts in before.items():
        for last, ends in behind.items():
            fixed = first + last
            least = max(varying.min, low - fixed)
            most = _smaller(varying.max, None if high is None else high - fixed)
            if most is None or most >= least:
                options.append(_sequence([_choice(fronts), Repeat(varying.body, least, most), _choice(ends)]))
    return _choice(options) if options else CharClass(())


def _ends_itself(repeat: Repeat, behind: ByLength) -> bool:
    """Whether the next character tells that the repetition is over; else each could be read in two ways."""
    assert isinstance(repeat.body, CharClass)
    firsts = [_first_characters(part) for length, parts in behind.items() if length for part in parts]
    return not any(first is None or intersect_ranges(first, repeat.body.ranges) for first in firsts)


def _first_characters(expr: Expr) -> Ranges | None:
    """The characters that texts of the expression begin with, if its form shows them."""
    while isinstance(expr, Sequence) and expr.items:
        expr = expr.items[0]
    if isinstance(expr, CharClass):
        return expr.ranges
    if isinstance(expr, Literal) and expr.value:
        code = ord(expr.value.decode()[0])
        return ((code, code),)
    return None


def _by_length(expr: Expr, depth: int) -> ByLength | None:
    """The texts of the expression by their length; None if there are many lengths, or it is nested deeply."""
    if isinstance(expr, CharClass):
        return {1: [expr]}
    if isinstance(expr, Literal):
        return {len(expr.value.decode()): [expr]}
    if depth == 0:
        return None
    if isinstance(expr, Sequence):
        found: ByLength | None = {0: []}
        for item in expr.items:
            found = _one_after_another(found, _by_length(item, depth - 1))
        return found
    if isinstance(expr, Choice):
        return _either([_by_length(option, depth - 1) for option in expr.options])
    if isinstance(expr, Repeat):
        return _repeated(expr, _by_length(expr.body, depth - 1))
    return None


def _repeated(repeat: Repeat, body: ByLength | None) -> ByLength | None:
    if repeat.max is None or body is None or len(body) != 1 or repeat.max - repeat.min >= _MAX_LENGTHS:
        return None
    (length,) = body
    return {length * n: [Repeat(repeat.body, n, n)] for n in range(repeat.min, repeat.max + 1)}


def _either(options: list[ByLength | None]) -> ByLength | None:
    found: ByLength = {}
    for option in options:
        if option is None:
            return None
        for length, parts in option.items():
            found.setdefault(length, []).extend(parts or [EMPTY])
    return found if len(found) <= _MAX_LENGTHS else None


def _one_after_another(one: ByLength | None, other: ByLength | None) -> ByLength | None:
    if one is None or other is None:
        return None
    found: ByLength = {}
    for first, fronts in one.items():
        for last, ends in other.items():
            found.setdefault(first + last, []).append(_sequence([_choice(fronts), _choice(ends)]))
    return found if len(found) <= _MAX_LENGTHS else None


def _sequence(items: list[Expr]) -> Expr:
    kept: list[Expr] = []
    for item in items:
        kept += item.items if isinstance(item, Sequence) else [item]
    return kept[0] if len(kept) == 1 else Sequence(tuple(kept))


def _choice(options: list[Expr]) -> Expr:
    """Any of the options; of none, the empty text."""
    if not options:
        return EMPTY
    return options[0] if len(options) == 1 else Choice(tuple(options))


def _holds(length: int, low: int, high: int | None) -> bool:
    return low <= length and (high is None or length <= high)


def _smaller(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
