"""Free tokens among which some begin something: the types `token_triggered_tags` and `token_dispatch`."""

from __future__ import annotations

from grammar_core.frontends.structural_tag.enclosure import Enclosure, Lowered
from grammar_core.frontends.structural_tag.fields import Fields
from grammar_core.frontends.structural_tag.formats.free_text import one_of, pairs
from grammar_core.frontends.structural_tag.formats.tags import read_tags
from grammar_core.frontends.structural_tag.lowering import Lowering
from grammar_core.ir.nodes import Choice, Expr, Sequence, TokenTagDispatch


def lower_token_triggered_tags(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> Lowered:
    """Free tokens in which, wherever one of the `trigger_tokens` appears, one of its `tags` does.

    `at_least_one` and `stop_after_first` as for `triggered_tags`.
    """
    tags = read_tags(fields, lowering)
    fields.items("trigger_tokens")
    rests: dict[int, list[Expr]] = {token: [] for token in lowering.token_list(fields, "trigger_tokens")}
    for index, tag in enumerate(tags):
        if tag.begin is not None:
            tag.fields.fail("A tag that a token triggers begins with a token, not with text", "begin")
        fitting = [token for token in tag.begin_tokens if token in rests]
        if not fitting:
            fields.fail("The tag begins with no trigger", "tags", index, "begin")
        for token in fitting:
            rests[token].append(tag.rest)
    for token, rest in rests.items():
        if not rest:
            fields.fail(f"No tag begins with the trigger token {token}", "trigger_tokens")
    stops = fields.flag("stop_after_first", False)
    dispatch = _free_tokens(fields, rests, not stops, enclosure.end_tokens, lowering)
    if not fields.flag("at_least_one", False):
        return Lowered(dispatch, is_unlimited=True)
    first = Choice(tuple(tag.expression(lowering) for tag in tags))
    return Lowered(first if stops else Sequence((first, dispatch)), is_unlimited=True)


def lower_token_dispatch(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> Lowered:
    """Free tokens in which each token of the `rules` is followed by its format; once only without `loop`."""
    rests: dict[int, list[Expr]] = {}
    for index, (token, content) in enumerate(pairs(fields)):
        lowered = lowering.format(content, fields.pointer_to("rules", index, 1), enclosure)
        for token_id in lowering.token_ids(token, fields, "rules", index, 0):
            rests.setdefault(token_id, []).append(lowered.expression)
    return Lowered(_free_tokens(fields, rests, fields.flag("loop", True), (), lowering), is_unlimited=True)


def _free_tokens(
    fields: Fields,
    rests: dict[int, list[Expr]],
    loop: bool,
    end_tokens: tuple[int, ...],
    lowering: Lowering,
) -> Expr:
    excluded = set(lowering.token_list(fields, "exclude_tokens"))
    hidden = sorted(excluded & rests.keys())
    if hidden:
        fields.fail(f"The token {hidden[0]} is excluded and so begins nothing", "exclude_tokens")
    tags = tuple((token, lowering.rule("dispatched", one_of(rest))) for token, rest in rests.items())
    excludes = (excluded | set(end_tokens)) - rests.keys()
    return TokenTagDispatch(tags, loop, tuple(sorted(excludes)))
