"""Sets of characters, literals and tokens in words."""

from __future__ import annotations

from collections.abc import Sequence

from grammar_core.ir.char_ranges import Ranges, complement_ranges
from grammar_core.ir.nodes import MAX_CODE_POINT, Literal, TokenSet
from grammar_core.ir.printer import print_expression

_MOST_PARTS = 8
_MOST_EXCEPTIONS = 6
_LONGEST_LITERAL = 60
_LONGEST_RUN = 2
_CONTROLS = (0x00, 0x1F)


def quote(text: str) -> str:
    """The text as a literal; of a long one the beginning."""
    if len(text) > _LONGEST_LITERAL:
        return f"{print_expression(Literal(text[:_LONGEST_LITERAL].encode()))}…"
    return print_expression(Literal(text.encode()))


def describe_characters(ranges: Ranges) -> list[str]:
    """Parts of a list: `"a" to "z"`, `"}"`."""
    if not ranges:
        return []
    others = complement_ranges(ranges)
    if not others:
        return ["any character"]
    if ranges[-1][1] == MAX_CODE_POINT and len(others) <= _MOST_EXCEPTIONS:
        return [f"any character but {join(_describe_ranges(others), 'and')}"]
    return _describe_ranges(ranges)


def describe_tokens(tokens: TokenSet) -> str:
    """The set of tokens, by their ids."""
    ids = join([str(token_id) for token_id in tokens.ids], "and" if tokens.negated else "or")
    if tokens.negated:
        return f"any token but {ids}" if tokens.ids else "any token"
    return f"token {ids}"


def join(parts: Sequence[str], last: str = "or") -> str:
    """`a, b or c`; of many parts the first, and how many more there are."""
    if len(parts) > _MOST_PARTS:
        return f"{', '.join(parts[: _MOST_PARTS - 1])} {last} {len(parts) - _MOST_PARTS + 1:,} more"
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def _describe_ranges(ranges: Ranges) -> list[str]:
    parts: list[str] = []
    for low, high in ranges:
        if (low, high) == _CONTROLS:
            parts.append("control characters")
        elif high - low < _LONGEST_RUN:
            parts += (quote(chr(point)) for point in range(low, high + 1))
        else:
            parts.append(f"{quote(chr(low))} to {quote(chr(high))}")
    return parts
