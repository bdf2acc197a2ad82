"""Regular expressions of the keyword `pattern`."""

from __future__ import annotations

from grammar_core.frontends.regex import RegexError, search_pattern
from grammar_core.ir.nodes import Expr


def pattern_expression(pattern: str) -> Expr:
    """The strings in which the pattern is found, read with the flag u as the standard recommends.

    Patterns that the flag forbids for their syntax, such as needless escapes, are read without it.
    Raises RegexError, GrammarLimitError.
    """
    try:
        return search_pattern(pattern, flags="u")
    except RegexError:
        return search_pattern(pattern, flags="")
