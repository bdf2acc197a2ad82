"""Regular expressions of ECMAScript syntax, for every place in which a grammar may hold one."""

from grammar_core.frontends.regex.errors import RegexError
from grammar_core.frontends.regex.patterns import parse_regex, search_pattern

__all__ = ["RegexError", "parse_regex", "search_pattern"]
