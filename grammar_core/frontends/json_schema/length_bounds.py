"""Bounds on the length of a text, taken into the form of its expression where that is exact."""

from __future__ import annotations

from grammar_core.ir.nodes import CharClass, Expr, Literal, Repeat, Sequence, child_expressions

_LARGE = 500


def bound_length(expr: Expr, low: int, high: int | None) -> Expr | None:
    """The texts of the expression of `low` to `high` characters, if its form can say so.

    It can if every part has a length of its own but for one, which repeats a character.
    """
    if low == 0 and high is None:
        return expr
    items = list(expr.items) if isinstance(expr, Sequence) else [expr]
    fixed, varying = 0, -1
    for index, item in enumerate(items):
        length = _fixed_length(item)
        if length is not None:
            fixed += length
        elif varying < 0 and isinstance(item, Repeat) and isinstance(item.body, CharClass):
            varying = index
        else:
            return None
    if varying < 0:
        return expr if low <= fixed and (high is None or fixed <= high) else CharClass(())
    repeat = _bounded(items[varying], low - fixed, None if high is None else high - fixed)
    if repeat is None:
        return CharClass(())
    items[varying] = repeat
    return items[0] if len(items) == 1 else Sequence(tuple(items))


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


def _fixed_length(expr: Expr) -> int | None:
    if isinstance(expr, CharClass):
        return 1
    if isinstance(expr, Literal):
        return len(expr.value.decode())
    if isinstance(expr, Repeat) and isinstance(expr.body, CharClass) and expr.min == expr.max:
        return expr.min
    return None


def _bounded(repeat: Expr, low: int, high: int | None) -> Repeat | None:
    assert isinstance(repeat, Repeat)
    low = max(repeat.min, low)
    highs = [bound for bound in (repeat.max, high) if bound is not None]
    if highs and min(highs) < low:
        return None
    return Repeat(repeat.body, low, min(highs, default=None))
