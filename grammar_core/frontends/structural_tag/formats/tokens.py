"""The types `token`, `exclude_token` and `any_tokens`: whole tokens of the vocabulary."""

from __future__ import annotations

from grammar_core.frontends.structural_tag.enclosure import Enclosure, Lowered
from grammar_core.frontends.structural_tag.fields import Fields
from grammar_core.frontends.structural_tag.formats.texts import budget
from grammar_core.frontends.structural_tag.lowering import Lowering
from grammar_core.ir.nodes import EMPTY, Repeat, TokenSet


def lower_token(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> Lowered:
    """One token, by its id or its text."""
    ids = lowering.token_ids(fields.value("token"), fields, "token")
    return Lowered(TokenSet(ids, negated=False))


def lower_exclude_token(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> Lowered:
    """One token that is none of `exclude_tokens` and no end of the tag around it."""
    return Lowered(other_token(fields, lowering, enclosure))


def lower_any_tokens(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> Lowered:
    """Any number of tokens, at most `max_tokens`, each as for `exclude_token`."""
    maximum = budget(fields).max_tokens
    if maximum == 0:
        return Lowered(EMPTY, is_unlimited=True)
    return Lowered(Repeat(other_token(fields, lowering, enclosure), 0, maximum), is_unlimited=True)


def other_token(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> TokenSet:
    """The tokens that neither `exclude_tokens` nor the tag around keeps out."""
    excluded = {*lowering.token_list(fields, "exclude_tokens"), *enclosure.end_tokens}
    return TokenSet(tuple(sorted(excluded)), negated=True)
