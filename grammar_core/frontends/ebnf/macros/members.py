"""Members((rule, "required"), …): a list in which each member may come once, must come or may come again."""

from __future__ import annotations

from grammar_core.frontends.ebnf.limits import MAX_INTEGER
from grammar_core.frontends.ebnf.macros.call import Argument, MacroCall
from grammar_core.ir.nodes import Member, Members

_OCCURRENCES = (
    "optional",
    "required",
    "repeatable",
    "required repeatable",
    "repeatable distinct",
    "required repeatable distinct",
)
_FORM = '(rule, "required")'


def build_members(call: MacroCall) -> Members:
    """The list over the members given."""
    call.allow_named("separator", "ordered", "min", "max", "implies")
    members = tuple(_member(call, argument) for argument in call.positional)
    if not members:
        call.refuse("Members needs at least one member", call.offset)
    low, high = _bound(call, "min", 0), _bound(call, "max", None)
    if high is not None and (low or 0) > high:
        call.refuse(f"The max of Members is below its min: {high} < {low}", call.named["max"].begin)
    separator = call.named.get("separator")
    return Members(
        members,
        None if separator is None else call.rule(separator, "The argument separator"),
        call.boolean("ordered", False),
        low or 0,
        high,
        tuple(_implication(call, argument, len(members)) for argument in call.items("implies")),
    )


def _member(call: MacroCall, argument: Argument) -> Member:
    rule, occurrence = call.pair(argument, _FORM)
    word = call.string(occurrence, "The occurrence of a member")
    if word not in _OCCURRENCES:
        words = ", ".join(f'"{known}"' for known in _OCCURRENCES)
        call.refuse(f'A member is one of {words}, not "{word}"', occurrence.offset)
    holds = [adjective in word.split() for adjective in ("required", "repeatable", "distinct")]
    return Member(call.rule(rule, "A member"), *holds)


def _bound(call: MacroCall, name: str, default: int | None) -> int | None:
    argument = call.named.get(name)
    return default if argument is None else _integer(call, argument, f"The argument {name}", MAX_INTEGER)


def _implication(call: MacroCall, argument: Argument, count: int) -> tuple[int, int]:
    if argument.kind != "tuple" or len(argument.value) != 2:
        call.refuse("An implication is a pair of positions of members", argument.offset)
    member, other = (_integer(call, part, "A position", count - 1) for part in argument.value)
    return member, other


def _integer(call: MacroCall, argument: Argument, what: str, largest: int) -> int:
    value = call.integer(argument, what)
    if not 0 <= value <= largest:
        call.refuse(f"{what} of Members must be from 0 to {largest:,}", argument.offset)
    return value
