"""Regular expressions between slashes, and the ones that stand for any text."""

from __future__ import annotations

import re
from functools import lru_cache

from grammar_core.deadline import check_now
from grammar_core.errors import GrammarError
from grammar_core.frontends.lark.errors import LarkError, moved_error
from grammar_core.frontends.regex import parse_regex
from grammar_core.ir.char_ranges import ANY_CHARACTER
from grammar_core.ir.nodes import CharClass, Expr, Literal, Repeat, Sequence

ANY_TEXT = Repeat(CharClass(ANY_CHARACTER), 0, None)
"""Any text. The forms that `is_any_text` knows are this very node, so that it is found by identity."""

_FLAGS = "imsu"
_ANY_TEXT_FORMS = (r"(.|\n)*", r"(\n|.)*", r"(?:.|\n)*", r"(?:\n|.)*", r"[\s\S]*", "(?s:.*)")
_LEADING_FLAGS = re.compile(r"\(\?([imsu]+)\)")
_POSIX_CLASS = re.compile(r"\[\[:\^?[a-z]+:\]")


def read_regex(token: str, text: str, offset: int) -> Expr:
    """What the token /…/flags at `offset` of `text` matches. Raises LarkError, or GrammarLimitError.

    A dot is any character but a newline, unless the flag s is given.
    """
    end = token.rindex("/")
    pattern, flags = token[1:end], token[end + 1 :]
    if flags:
        _check_flags(flags, text, offset + end + 1)
    try:
        return _parse(pattern, flags)
    except GrammarError as error:
        check_now()
        raise _located(error, pattern, text, offset) from None


def is_any_text(pattern: str, flags: str) -> bool:
    """Whether the pattern is one of those that are recognised as any text at all."""
    return not set(flags) - {"s"} and (pattern in _ANY_TEXT_FORMS or (pattern == ".*" and flags == "s"))


@lru_cache(maxsize=1024)
def _parse(pattern: str, flags: str) -> Expr:
    if is_any_text(pattern, flags):
        return ANY_TEXT
    trigger = _trigger(pattern, flags)
    if trigger is not None:
        return trigger
    skipped = 0
    leading = _LEADING_FLAGS.match(pattern)
    if leading:
        skipped, flags = leading.end(), "".join(sorted({*flags, *leading[1]}))
    posix = _POSIX_CLASS.search(pattern)
    if posix:
        message = f"Classes such as {posix[0][1:]} are not part of this dialect; write the characters out"
        raise LarkError.at(message, pattern, posix.start())
    try:
        return parse_regex(pattern[skipped:], flags=flags, any_but_newline=True)
    except GrammarError as error:
        if error.column is not None:
            error.column += skipped
        raise


def _trigger(pattern: str, flags: str) -> Expr | None:
    """Any text and then a fixed text, if the pattern is that."""
    forms = (*_ANY_TEXT_FORMS, ".*") if flags == "s" else _ANY_TEXT_FORMS
    if set(flags) - {"s"}:
        return None
    form = next((form for form in forms if pattern.startswith(form)), None)
    if form is None:
        return None
    try:
        rest = parse_regex(pattern[len(form) :], flags=flags, any_but_newline=True)
    except GrammarError:
        check_now()
        return None
    return Sequence((ANY_TEXT, rest)) if isinstance(rest, Literal) and rest.value else None


def is_trigger(expr: Expr) -> bool:
    """Whether the expression is any text and then a fixed one."""
    return (
        isinstance(expr, Sequence)
        and len(expr.items) == 2
        and expr.items[0] is ANY_TEXT
        and isinstance(expr.items[1], Literal)
    )


def _check_flags(flags: str, text: str, offset: int) -> None:
    for index, flag in enumerate(flags):
        if flag not in _FLAGS:
            message = f'Unknown flag "{flag}" of a regular expression; there are i, m, s and u'
            raise LarkError.at(message, text, offset + index)
        if flag in flags[:index]:
            raise LarkError.at(f'The flag "{flag}" appears twice', text, offset + index)


def _located(error: GrammarError, pattern: str, text: str, offset: int) -> GrammarError:
    """The error about a pattern as one about the grammar: a pattern is on one line."""
    column = 1 if error.column is None else error.column
    message = f"In the regular expression: {error.message}"
    return moved_error(error, message, text, offset + min(column, len(pattern)))
