"""Token(id, …): exactly one token, whose id is among these."""

from __future__ import annotations

from grammar_core.frontends.ebnf.macros.call import MacroCall
from grammar_core.ir.nodes import TokenSet


def build_token(call: MacroCall) -> TokenSet:
    """The set of the ids given."""
    return TokenSet(read_token_ids(call), negated=False)


def read_token_ids(call: MacroCall) -> tuple[int, ...]:
    """The ids that the arguments of `Token` or `ExcludeToken` are."""
    call.allow_named()
    if not call.positional:
        call.refuse(f"{call.name} needs at least one token id", call.offset)
    return call.token_ids(call.positional, "Every argument")
