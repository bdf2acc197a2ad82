"""Regular expressions of the keyword `pattern`."""

from __future__ import annotations

from grammar_core.frontends.regex import BoundedPattern, RegexError, bounded_search_pattern


def read_pattern(pattern: str) -> BoundedPattern:
    """The strings in which the pattern is found, read with the flag u as the standard recommends.

    Patterns that the flag forbids for their syntax, such as needless escapes, are read without it.
    Raises RegexError, GrammarLimitError.
    """
    try:
        return bounded_search_pattern(pattern, flags="u")
    except RegexError:
        return bounded_search_pattern(pattern, flags="")
