"""Regex("pattern", json_string=…, flags="…"): text that a regular expression describes."""

from __future__ import annotations

from grammar_core.deadline import check_now
from grammar_core.errors import GrammarError, GrammarLimitError, GrammarSyntaxError
from grammar_core.frontends.ebnf.escapes import literal_offset
from grammar_core.frontends.ebnf.macros.call import Argument, MacroCall
from grammar_core.frontends.regex import parse_regex
from grammar_core.ir.nodes import Expr, Regex

_FLAGS = "imsu"


def build_regex(call: MacroCall) -> Regex:
    """The pattern and what it stands for, so that a mistake in it has a place in the grammar's text."""
    call.allow_named("json_string", "flags")
    if len(call.positional) != 1:
        extra = call.positional[1].offset if call.positional else call.offset
        call.refuse("Regex takes exactly one positional argument, the pattern", extra)
    pattern = call.string(call.positional[0], "The pattern")
    json_string = call.boolean("json_string", False)
    flags = _flags(call)
    return Regex(pattern, json_string, flags, _parse(call, pattern, json_string, flags))


def _flags(call: MacroCall) -> str | None:
    argument = call.named.get("flags")
    if argument is None:
        return None
    flags = call.string(argument, "The argument flags")
    if set(flags) - set(_FLAGS) or len(set(flags)) < len(flags):
        call.refuse(
            f"The flags of Regex are letters of {', '.join(_FLAGS)}, each at most once", argument.offset
        )
    return flags


def _parse(call: MacroCall, pattern: str, json_string: bool, flags: str | None) -> Expr:
    try:
        return parse_regex(pattern, json_string=json_string, flags=flags)
    except GrammarError as error:
        check_now()
        raise _moved(error, call, call.positional[0]) from None


def _moved(error: GrammarError, call: MacroCall, argument: Argument) -> GrammarError:
    """The error about a pattern as one about the grammar that contains it."""
    message = f"In the regular expression: {error.message}"
    if error.line is None or error.column is None:
        place = argument.offset
    else:
        lines = str(argument.value).split("\n")[: error.line - 1]
        index = sum(len(line) + 1 for line in lines) + error.column - 1
        place = argument.offset + literal_offset(call.text, argument.offset, index)
    if isinstance(error, GrammarLimitError):
        return GrammarLimitError.at(message, call.text, place, limit=error.limit, value=error.value)
    return GrammarSyntaxError.at(message, call.text, place)
