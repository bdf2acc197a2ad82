"""The macros: functions called inside a rule, as in `Token(128010)`.

A macro is a module here with one function, from a call's arguments to a node, and one line in `MACROS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from grammar_core.frontends.ebnf.macros.call import MacroCall
from grammar_core.frontends.ebnf.macros.exclude_token import build_exclude_token
from grammar_core.frontends.ebnf.macros.members import build_members
from grammar_core.frontends.ebnf.macros.regex import build_regex
from grammar_core.frontends.ebnf.macros.substring import build_substring
from grammar_core.frontends.ebnf.macros.tag_dispatch import build_tag_dispatch
from grammar_core.frontends.ebnf.macros.token import build_token
from grammar_core.frontends.ebnf.macros.token_tag_dispatch import build_token_tag_dispatch
from grammar_core.ir.nodes import Expr

MACROS: Mapping[str, Callable[[MacroCall], Expr]] = MappingProxyType(
    {
        "ExcludeToken": build_exclude_token,
        "Members": build_members,
        "Regex": build_regex,
        "Substring": build_substring,
        "TagDispatch": build_tag_dispatch,
        "Token": build_token,
        "TokenTagDispatch": build_token_tag_dispatch,
    }
)
"""By name. A grammar that defines a rule of the same name uses the rule."""
