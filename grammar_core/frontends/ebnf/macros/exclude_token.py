"""ExcludeToken(id, …): exactly one token, whose id is none of these."""

from __future__ import annotations

from grammar_core.frontends.ebnf.macros.call import MacroCall
from grammar_core.frontends.ebnf.macros.token import read_token_ids
from grammar_core.ir.nodes import TokenSet


def build_exclude_token(call: MacroCall) -> TokenSet:
    """The complement of the ids given."""
    return TokenSet(read_token_ids(call), negated=True)
