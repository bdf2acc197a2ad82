"""Regular expressions of ECMAScript syntax, for every place in which a grammar may hold one."""

from grammar_core.frontends.regex.errors import RegexError
from grammar_core.frontends.regex.patterns import (
    BoundedPattern,
    bounded_search_pattern,
    parse_regex,
    search_pattern,
)

__all__ = ["BoundedPattern", "RegexError", "bounded_search_pattern", "parse_regex", "search_pattern"]
