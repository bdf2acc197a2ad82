"""Which notation a grammar's text is written in, where a field takes both."""

from __future__ import annotations

import re

# Comments, strings and regular expressions may hold "::=" without defining a rule.
_TOKEN = re.compile(
    r'//[^\n]*|#[^\n]*|"(?:\\.|[^"\\\n])*"|/(?![/*\s])(?:\\.|[^/\\\n])+/|(?P<assign>::=)', re.ASCII
)


def is_ebnf(grammar: str) -> bool:
    """EBNF defines rules with ``::=``, Lark with ``:``."""
    return any(match["assign"] for match in _TOKEN.finditer(grammar))
