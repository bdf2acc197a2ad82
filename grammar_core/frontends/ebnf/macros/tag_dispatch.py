"""TagDispatch((tag, rule), …): free text in which a tag is followed by its rule."""

from __future__ import annotations

from grammar_core.frontends.ebnf.macros.call import MacroCall
from grammar_core.ir.nodes import RuleRef, TagDispatch


def build_tag_dispatch(call: MacroCall) -> TagDispatch:
    """The dispatch over the pairs given."""
    call.allow_named("loop_after_dispatch", "excludes")
    tags = tuple(_tag(call, index) for index in range(len(call.positional)))
    loop = call.boolean("loop_after_dispatch", True)
    return TagDispatch(tags, loop, _excludes(call, tuple(tag for tag, _ in tags)))


def _tag(call: MacroCall, index: int) -> tuple[str, RuleRef]:
    tag, rule = call.pair(call.positional[index], "(tag, rule)")
    return call.non_empty_string(tag, "The tag"), call.rule(rule, "The rule")


def _excludes(call: MacroCall, tags: tuple[str, ...]) -> tuple[str, ...]:
    excludes = []
    prefixes = {tag[:end] for tag in tags for end in range(1, len(tag) + 1)} if call.named else set()
    for argument in call.items("excludes"):
        exclude = call.non_empty_string(argument, "Every excluded string")
        if exclude in prefixes:
            tag = next(tag for tag in tags if tag.startswith(exclude))
            call.refuse(f'The excluded string "{exclude}" is a prefix of the tag "{tag}"', argument.offset)
        excludes.append(exclude)
    return tuple(excludes)
