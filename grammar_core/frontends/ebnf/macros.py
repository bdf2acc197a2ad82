"""Macro calls, which look like function calls inside a rule: Name(arguments)."""

from __future__ import annotations

# Names that are refused when they are called, unless the grammar defines a rule of that name.
RESERVED_MACROS = frozenset(
    {"Regex", "Substring", "TagDispatch", "Token", "ExcludeToken", "TokenTagDispatch"}
)
