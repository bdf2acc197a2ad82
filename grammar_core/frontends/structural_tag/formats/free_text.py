"""Free text in which texts begin something: the types `triggered_tags` and `dispatch`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from grammar_core.deadline import check
from grammar_core.frontends.structural_tag.enclosure import Enclosure, Lowered
from grammar_core.frontends.structural_tag.fields import Fields
from grammar_core.frontends.structural_tag.formats.tags import Tag, read_tags
from grammar_core.frontends.structural_tag.formats.texts import merged
from grammar_core.frontends.structural_tag.lowering import Lowering
from grammar_core.ir.nodes import Choice, Expr, Repeat, RuleRef, Sequence, TagDispatch, TokenSet


class Trigger(NamedTuple):
    """A text that ends free text, and what follows it."""

    text: str
    rest: RuleRef


def lower_triggered_tags(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> Lowered:
    """Free text in which, wherever one of the `triggers` appears, one of the `tags` that begin with it is.

    `at_least_one`: a tag comes first. `stop_after_first`: nothing follows the first tag.
    """
    tags = read_tags(fields, lowering)
    excludes = merged(fields.texts("excludes"), enclosure.ends)
    triggers = _triggers(fields, tags, excludes, lowering)
    stops = fields.flag("stop_after_first", False)
    if not fields.flag("at_least_one", False):
        return Lowered(free_text(triggers, excludes, not stops, lowering), is_unlimited=True)
    first = Choice(tuple(tag.expression(lowering) for tag in tags))
    if stops:
        return Lowered(first, is_unlimited=True)
    more = free_text(triggers, excludes, True, lowering)
    return Lowered(Sequence((first, more)), is_unlimited=True)


def lower_dispatch(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> Lowered:
    """Free text in which each text of the `rules` is followed by its format; once only without `loop`."""
    excludes = fields.texts("excludes")
    rules: dict[str, list[Expr]] = {}
    found = pairs(fields)
    texts = [fields.as_text(text, "rules", index, 0) for index, (text, _) in enumerate(found)]
    hidden = _hidden(texts, excludes)
    for index, (text, (_, content)) in enumerate(zip(texts, found, strict=True)):
        if not text:
            fields.fail("A rule begins with a text that is not empty", "rules", index, 0)
        if text in hidden:
            fields.fail(hidden[text], "rules", index, 0)
        lowered = lowering.format(content, fields.pointer_to("rules", index, 1), enclosure)
        rules.setdefault(text, []).append(lowered.expression)
    triggers = [Trigger(text, lowering.rule("dispatched", one_of(rest))) for text, rest in rules.items()]
    loop = fields.flag("loop", True)
    return Lowered(free_text(triggers, excludes, loop, lowering), is_unlimited=True)


def pairs(fields: Fields) -> list[tuple[Any, Any]]:
    """The list `rules`, of pairs."""
    found = []
    for index, pair in enumerate(fields.items("rules")):
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            fields.fail("A rule is a list of two: what begins it, and a format", "rules", index)
        found.append((pair[0], pair[1]))
    return found


def one_of(expressions: list[Expr]) -> Expr:
    """Any one of the expressions."""
    return expressions[0] if len(expressions) == 1 else Choice(tuple(expressions))


def free_text(triggers: list[Trigger], excludes: tuple[str, ...], loop: bool, lowering: Lowering) -> Expr:
    """Free text and what its triggers begin, each by its text or by the control token it begins with."""
    by_text = TagDispatch(tuple(triggers), loop, excludes)
    by_token: list[Expr] = []
    for trigger in triggers:
        ids, rest = lowering.leading_marker(trigger.text)
        if ids:
            by_token.append(Sequence((TokenSet(ids, negated=False), lowering.text(rest), trigger.rest)))
    if not by_token:
        return by_text
    if loop:
        return Sequence((by_text, Repeat(Sequence((one_of(by_token), by_text)), 0, None)))
    before = TagDispatch((), True, merged(excludes, tuple(trigger.text for trigger in triggers)))
    return Choice((by_text, Sequence((before, one_of(by_token)))))


def _triggers(
    fields: Fields, tags: list[Tag], excludes: tuple[str, ...], lowering: Lowering
) -> list[Trigger]:
    """What each trigger is followed by. Every trigger begins a tag, every tag begins with one trigger."""
    fields.items("triggers")
    texts = fields.texts("triggers")
    rests: dict[str, list[Expr]] = {text: [] for text in texts}
    lengths = sorted({len(text) for text in texts})
    for index, tag in enumerate(tags):
        if tag.begin is None:
            tag.fields.fail("A tag that text triggers begins with text, not with a token", "begin")
        begins = (tag.begin[:length] for length in lengths if length <= len(tag.begin))
        fitting = [begin for begin in begins if begin in rests]
        if len(fitting) != 1:
            problem = f"more than one trigger: {', '.join(map(repr, fitting))}" if fitting else "no trigger"
            fields.fail(f"The tag begins with {problem}", "tags", index, "begin")
        rests[fitting[0]].append(Sequence((lowering.text(tag.begin[len(fitting[0]) :]), tag.rest)))
    hidden = _hidden(texts, excludes)
    for index, text in enumerate(texts):
        if not rests[text]:
            fields.fail(f"No tag begins with the trigger {text!r}", "triggers", index)
        if text in hidden:
            fields.fail(hidden[text], "triggers", index)
    return [Trigger(text, lowering.rule("triggered", one_of(rest))) for text, rest in rests.items()]


def _hidden(triggers: Iterable[str], excludes: tuple[str, ...]) -> dict[str, str]:
    """The triggers that nothing can begin with, for a text that may not appear, and why."""
    triggers = tuple(triggers)
    together = "\ud800".join(triggers)  # no text has this in it
    problems: dict[str, str] = {}
    for exclude in excludes:
        check()
        for trigger in triggers if exclude in together else ():
            if exclude in trigger:
                problems[trigger] = (
                    f"{trigger!r} has {exclude!r} in it, which may not appear, and so begins nothing"
                )
    return problems
