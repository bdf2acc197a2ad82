"""The types that put formats together: `sequence`, `or`, `optional`, `plus`, `star`, `repeat`."""

from __future__ import annotations

from grammar_core.frontends.structural_tag.enclosure import Enclosure, Lowered
from grammar_core.frontends.structural_tag.fields import Fields
from grammar_core.frontends.structural_tag.limits import MAX_REPETITION
from grammar_core.frontends.structural_tag.lowering import Lowering
from grammar_core.ir.nodes import Choice, Repeat, Sequence

_UNBOUNDED = -1


def lower_sequence(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> Lowered:
    """All `elements` one after another."""
    elements = _elements(fields, lowering, enclosure)
    items = tuple(element.expression for element in elements)
    return Lowered(Sequence(items), any(element.is_unlimited for element in elements))


def lower_or(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> Lowered:
    """Any one of the `elements`."""
    elements = _elements(fields, lowering, enclosure)
    options = tuple(element.expression for element in elements)
    return Lowered(Choice(options), any(element.is_unlimited for element in elements))


def lower_optional(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> Lowered:
    """The `content` or nothing."""
    return _repeated(fields, lowering, enclosure, 0, 1)


def lower_plus(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> Lowered:
    """The `content` once or more."""
    return _repeated(fields, lowering, enclosure, 1, None)


def lower_star(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> Lowered:
    """The `content` any number of times."""
    return _repeated(fields, lowering, enclosure, 0, None)


def lower_repeat(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> Lowered:
    """The `content` at least `min` and at most `max` times; a `max` of -1 is no bound."""
    low = fields.count("min", low=0, high=MAX_REPETITION)
    high = fields.count("max", low=_UNBOUNDED, high=MAX_REPETITION)
    if high != _UNBOUNDED and high < low:
        fields.fail(f"'max' is {high}, which is less than 'min', {low}", "max")
    return _repeated(fields, lowering, enclosure, low, None if high == _UNBOUNDED else high)


def _elements(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> list[Lowered]:
    return [
        lowering.format(element, fields.pointer_to("elements", index), enclosure)
        for index, element in enumerate(fields.items("elements"))
    ]


def _repeated(
    fields: Fields, lowering: Lowering, enclosure: Enclosure, low: int, high: int | None
) -> Lowered:
    content = lowering.format(fields.value("content"), fields.pointer_to("content"), enclosure)
    return Lowered(Repeat(content.expression, low, high), content.is_unlimited)
