"""The types `const_string` and `any_text`."""

from __future__ import annotations

from grammar_core.frontends.structural_tag.enclosure import Enclosure, Lowered
from grammar_core.frontends.structural_tag.fields import Fields
from grammar_core.frontends.structural_tag.limits import MAX_CHARS, MAX_TOKENS
from grammar_core.frontends.structural_tag.lowering import Lowering
from grammar_core.ir.nodes import EMPTY, NO_OPTIONS, Expr, RuleOptions, TagDispatch


def lower_const_string(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> Lowered:
    """Exactly the text `value`."""
    return Lowered(lowering.text(fields.text("value")))


def lower_any_text(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> Lowered:
    """Any text without the `excludes` and the ends of the tag around it, of at most so many characters."""
    excludes = merged(fields.texts("excludes"), enclosure.ends)
    options = budget(fields)
    if 0 in (options.max_tokens, options.max_chars):
        return Lowered(EMPTY, is_unlimited=True)
    return Lowered(limited(TagDispatch((), True, excludes), options, lowering), is_unlimited=True)


def budget(fields: Fields) -> RuleOptions:
    """The fields `max_tokens` and `max_chars` as the options of a rule."""
    return RuleOptions(
        max_tokens=fields.optional_count("max_tokens", high=MAX_TOKENS),
        max_chars=fields.optional_count("max_chars", high=MAX_CHARS),
    )


def limited(body: Expr, options: RuleOptions, lowering: Lowering) -> Expr:
    """The body in a rule of its own if there are options."""
    return body if options == NO_OPTIONS else lowering.rule("limited", body, options)


def merged(texts: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    """All texts once, in order."""
    return tuple(dict.fromkeys((*texts, *others)))
