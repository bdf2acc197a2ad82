"""TokenTagDispatch((id, rule), …): free tokens in which a trigger token is followed by its rule."""

from __future__ import annotations

from grammar_core.frontends.ebnf.macros.call import MacroCall
from grammar_core.ir.nodes import RuleRef, TokenTagDispatch


def build_token_tag_dispatch(call: MacroCall) -> TokenTagDispatch:
    """The dispatch over the pairs given."""
    call.allow_named("loop_after_dispatch", "excludes")
    tags = tuple(_tag(call, index) for index in range(len(call.positional)))
    triggers = {token_id for token_id, _ in tags}
    for argument in call.items("excludes"):
        if call.token_id(argument, "Every excluded id") in triggers:
            call.refuse(f"The token id {argument.value} is both a trigger and excluded", argument.offset)
    excludes = call.token_ids(call.items("excludes"), "Every excluded id")
    return TokenTagDispatch(tags, call.boolean("loop_after_dispatch", True), excludes)


def _tag(call: MacroCall, index: int) -> tuple[int, RuleRef]:
    token_id, rule = call.pair(call.positional[index], "(id, rule)")
    return call.token_id(token_id, "The trigger"), call.rule(rule, "The rule")
