"""Bounds on the length of a text, taken into the form of its expression where that is exact."""

from __future__ import annotations

from grammar_core.ir.nodes import (
    EMPTY,
    CharClass,
    Choice,
    Expr,
    Literal,
    Repeat,
    Sequence,
    child_expressions,
)

_LARGE = 500
_MAX_LENGTHS = 24
_MAX_DEPTH = 8

ByLength = dict[int, list[Expr]]
"""Expressions by the length that all their texts have."""


def bound_length(expr: Expr, low: int, high: int | None) -> Expr | None:
    """The texts of the expression of `low` to `high` characters, if its form can say so.

    It can if one part at the top repeats a character, and all others have few different lengths.
    """
    if low == 0 and high is None:
        return expr
    before: ByLength | None = {0: []}
    behind: ByLength | None = {0: []}
    varying: Repeat | None = None
    for item in expr.items if isinstance(expr, Sequence) else (expr,):
        lengths = _by_length(item, _MAX_DEPTH)
        if lengths is not None:
            behind = _one_after_another(behind, lengths)
        elif varying is None and isinstance(item, Repeat) and isinstance(item.body, CharClass):
            before, varying, behind = behind, item, {0: []}
        else:
            return None
    if before is None or behind is None:
        return None
    if varying is None:
        kept = [_choice(parts) for length, parts in behind.items() if _holds(length, low, high)]
        return _choice(kept) if kept else CharClass(())
    return _around(before, varying, behind, low, high)


def is_large(expr: Expr) -> bool:
    """Whether an automaton of the expression would have many states, for the copies of what it repeats."""
    pending: list[tuple[Expr, int]] = [(expr, 1)]
    total = 0
    while pending:
        node, copies = pending.pop()
        if isinstance(node, CharClass):
            total += copies
        elif isinstance(node, Literal):
            total += copies * len(node.value)
        elif isinstance(node, Repeat):
            copies *= max(1, node.min if node.max is None else node.max)
        if total > _LARGE or copies > _LARGE:
            return True
        pending += [(child, copies) for child in child_expressions(node)]
    return False


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
