"""The type `tags_with_separator`: tags and nothing else."""

from __future__ import annotations

from grammar_core.frontends.structural_tag.enclosure import Enclosure, Lowered
from grammar_core.frontends.structural_tag.fields import Fields
from grammar_core.frontends.structural_tag.formats.tags import read_tags
from grammar_core.frontends.structural_tag.lowering import Lowering
from grammar_core.ir.nodes import Choice, Expr, Repeat, Sequence


def lower_tags_with_separator(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> Lowered:
    """Any number of the `tags` with the `separator` between them: one with `at_least_one`, one at most
    with `stop_after_first`."""
    tags = read_tags(fields, lowering)
    tag = lowering.rule("one-tag", Choice(tuple(tag.expression(lowering) for tag in tags)))
    separator = lowering.text(fields.text("separator"))
    low = int(fields.flag("at_least_one", False))
    if fields.flag("stop_after_first", False):
        return Lowered(Repeat(tag, low, 1))
    some: Expr = Sequence((tag, Repeat(Sequence((separator, tag)), 0, None)))
    return Lowered(some if low else Repeat(some, 0, 1))
