"""TokenTagDispatch as repetition and choice of token sets."""

from __future__ import annotations

from grammar_core.ir.nodes import Choice, Expr, Repeat, Sequence, TokenSet, TokenTagDispatch


def expand_token_tag_dispatch(dispatch: TokenTagDispatch) -> Expr:
    """Free tokens and, after a trigger, its rule: again and again if it loops, once at most otherwise."""
    triggers = {token_id for token_id, _ in dispatch.tags}
    free = TokenSet(tuple(sorted(triggers | set(dispatch.excludes))), negated=True)
    calls = tuple(Sequence((TokenSet((token_id,), negated=False), rule)) for token_id, rule in dispatch.tags)
    if dispatch.loop:
        return Repeat(Choice((free, *calls)), 0, None)
    if not calls:
        return Repeat(free, 0, None)
    return Sequence((Repeat(free, 0, None), Repeat(Choice(calls), 0, 1)))
