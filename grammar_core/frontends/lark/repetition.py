"""Repetition operators: ? * + ~n ~n..m {n} {n,} {,m} {n,m}."""

from __future__ import annotations

from grammar_core.frontends.lark.errors import LarkError, limit_error
from grammar_core.frontends.lark.limits import MAX_REPETITION

_SIMPLE: dict[str, tuple[int, int | None]] = {"?": (0, 1), "*": (0, None), "+": (1, None)}


def read_operator(operator: str, text: str, offset: int) -> tuple[int, int | None]:
    """The least and the greatest count, None for no bound. Raises LarkError, or GrammarLimitError."""
    simple = _SIMPLE.get(operator)
    if simple is not None:
        return simple
    inside = operator[1:].strip() if operator[0] == "~" else operator[1:-1].strip()
    low_digits, separator, high_digits = inside.partition(".." if operator[0] == "~" else ",")
    if not low_digits.strip() and not high_digits.strip():
        raise LarkError.at("Malformed repetition: expected {n}, {n,}, {,m} or {n,m}", text, offset)
    low = _count(low_digits, text, offset)
    if not separator:
        return low, low
    high = _count(high_digits, text, offset) if high_digits.strip() else None
    if high is not None and high < low:
        message = f"The lower bound {low} is above the upper bound {high}"
        raise LarkError.at(message, text, offset)
    return low, high


def _count(digits: str, text: str, offset: int) -> int:
    significant = digits.strip().lstrip("0") or "0"
    # Python refuses to convert very long digit strings, hence the look at the length first.
    if len(significant) > len(str(MAX_REPETITION)) or int(significant) > MAX_REPETITION:
        message = f"A repetition count may be at most {MAX_REPETITION:,}"
        raise limit_error(message, text, offset, "repetition", MAX_REPETITION)
    return int(significant)
