"""Checks that a list of rules is a grammar. For rules built in code; frontends report with positions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any, cast

from grammar_core.deadline import check
from grammar_core.errors import DuplicateRuleError, GrammarError, UndefinedRuleError
from grammar_core.ir.char_ranges import normalize_ranges
from grammar_core.ir.nodes import (
    MAX_CODE_POINT,
    Automaton,
    CharClass,
    Choice,
    CountedAutomaton,
    Expr,
    Literal,
    Members,
    OtherTexts,
    Regex,
    Repeat,
    Rule,
    RuleOptions,
    RuleRef,
    Sequence,
    Substring,
    TagDispatch,
    TokenSet,
    TokenTagDispatch,
)
from grammar_core.ir.traversal import walk_expressions, walk_rule


def validate_rules(rules: Iterable[Rule], root: str) -> None:
    """Raise GrammarError unless names are unique, references defined, nodes and options well formed."""
    rules = tuple(rules)
    names = _unique_names(rules)
    if root not in names:
        raise UndefinedRuleError(f'The root rule "{root}" is not defined')
    for rule in rules:
        _check_options(rule, len(rules))
        for expr in walk_rule(rule):
            check()
            _check_node(expr, rule.name, names)


def _unique_names(rules: tuple[Rule, ...]) -> set[str]:
    names: set[str] = set()
    for rule in rules:
        if not (isinstance(rule.name, str) and _is_text(rule.name)):
            raise GrammarError(f"The name {rule.name!r} of a rule is not text")
        if rule.name in names:
            raise DuplicateRuleError(f'Rule "{rule.name}" is defined more than once')
        names.add(rule.name)
    return names


def _check_node(expr: Expr, rule_name: str, names: set[str]) -> None:
    if isinstance(expr, RuleRef) and expr.name not in names:
        raise UndefinedRuleError(f'Rule "{expr.name}", used in "{rule_name}", is not defined')
    problem = _malformation(expr)
    if problem:
        raise GrammarError(f'{problem} in rule "{rule_name}"')


def _check_options(rule: Rule, rule_count: int) -> None:
    problem = _option_problem(rule.options, rule_count)
    if problem:
        raise GrammarError(f'The option {problem} of rule "{rule.name}" is out of range')


def _option_problem(options: RuleOptions, rule_count: int) -> str | None:
    """The name of an option that no rule can have."""
    body, marker = options.capture_hidden_body_rule_id, options.capture_hidden_marker_rule_id
    if (body is None) != (marker is None):
        return "capture_hidden_body_rule_id without capture_hidden_marker_rule_id, or the reverse,"
    for name, value in options._asdict().items():
        if value is not None and not _OPTION_CHECKS[name](value, rule_count):
            return name
    return None


def _is_within(low: int, high: int) -> Callable[[Any, int], bool]:
    return lambda value, _: type(value) is int and low <= value <= high


def _is_rule_id(value: Any, rule_count: int) -> bool:
    return type(value) is int and 0 <= value < rule_count


def _is_name(value: Any, _: int) -> bool:
    return isinstance(value, str) and value != "" and _is_text(value)


def _is_temperature(value: Any, _: int) -> bool:
    return type(value) in (int, float) and isfinite(value) and value >= 0


_LARGEST_COUNT = 2**31 - 1
_MOST_STATES = 2_000_000  # as many as the native core makes of a whole grammar
_OPTION_CHECKS: dict[str, Callable[[Any, int], bool]] = {
    "max_tokens": _is_within(1, 1_000_000),
    "max_chars": _is_within(0, _LARGEST_COUNT),
    "capture": _is_name,
    "lazy": lambda value, _: type(value) is bool,
    "temperature": _is_temperature,
    "capture_hidden_suffix_bytes": _is_within(0, _LARGEST_COUNT),
    "capture_hidden_stop_bytes": _is_within(0, _LARGEST_COUNT),
    "capture_hidden_body_rule_id": _is_rule_id,
    "capture_hidden_marker_rule_id": _is_rule_id,
    "stop_capture": _is_name,
}


def _malformation(expr: Expr) -> str | None:
    """What is wrong with the node itself."""
    return _NODE_CHECKS[type(expr)](expr)


def _check_literal(literal: Literal) -> str | None:
    return None if _is_utf8(literal.value) else f"The literal {literal.value!r} is not valid UTF-8"


def _check_char_class(char_class: CharClass) -> str | None:
    return None if _is_normal(char_class) else "A character class is not a normal list of code point ranges"


def _check_choice(choice: Choice) -> str | None:
    return None if choice.options else "A choice has no options"


def _check_repeat(repeat: Repeat) -> str | None:
    if repeat.min >= 0 and (repeat.max is None or repeat.min <= repeat.max):
        return None
    return f"The repetition bounds {repeat.min} and {repeat.max} are not in order"


def _check_regex(regex: Regex) -> str | None:
    return None if _is_text(regex.pattern + (regex.flags or "")) else "A pattern is not text"


def _check_substring(substring: Substring) -> str | None:
    return None if all(map(_is_text, substring.chunks)) else "A chunk of a Substring is not text"


def _check_other_texts(others: OtherTexts) -> str | None:
    inside = {type(expr) for expr in walk_expressions(others.item)}
    if not inside <= {Literal, CharClass, Sequence, Choice, Repeat, Automaton}:
        return "The item of an OtherTexts holds more than characters"
    return None if all(map(_is_text, others.texts)) else "A text of an OtherTexts is not text"


def _check_tag_dispatch(dispatch: TagDispatch) -> str | None:
    tags = [tag for tag, _ in dispatch.tags]
    if not all(map(_is_text, (*tags, *dispatch.excludes))) or not all((*tags, *dispatch.excludes)):
        return "A tag or an excluded string of a TagDispatch is empty or not text"
    if dispatch.excludes and any(tag.startswith(dispatch.excludes) for tag in tags):
        return "An excluded string of a TagDispatch is a prefix of a tag"
    return None


def _check_token_set(token_set: TokenSet) -> str | None:
    ids = token_set.ids
    if not _are_token_ids(ids) or tuple(sorted(set(ids))) != ids or not (ids or token_set.negated):
        return "A token set is not a normal list of token ids"
    return None


def _check_token_tag_dispatch(dispatch: TokenTagDispatch) -> str | None:
    triggers = {token_id for token_id, _ in dispatch.tags}
    if not _are_token_ids((*triggers, *dispatch.excludes)):
        return "A TokenTagDispatch has a token id out of range"
    return "A TokenTagDispatch excludes a trigger" if triggers & set(dispatch.excludes) else None


def _check_members(members: Members) -> str | None:
    count = len(members.members)
    if not count or members.min < 0 or (members.max is not None and members.min > members.max):
        return f"The bounds {members.min} and {members.max} of Members are not in order"
    if max(members.min, members.max or 0) > _LARGEST_COUNT:
        return f"A bound of Members is above {_LARGEST_COUNT:,}"
    if any(member.distinct and not member.repeatable for member in members.members):
        return "A member that does not repeat is distinct anyway, which is asked for"
    positions = {position for pair in members.implications for position in pair}
    return "An implication of Members is about no member" if positions - set(range(count)) else None


def _check_automaton(automaton: Automaton) -> str | None:
    if automaton.state_count > _MOST_STATES:
        return f"An automaton has more than {_MOST_STATES:,} states"
    states = {0, *automaton.accepting, *(end for edge in automaton.edges for end in edge[:2])}
    if min(states) < 0 or max(states) >= automaton.state_count:
        return "An automaton has a state beyond its number of states"
    return None


def _check_counted_automaton(counted: CountedAutomaton) -> str | None:
    low, high = counted.min, counted.max
    if type(counted.body) is not Automaton:
        return "A CountedAutomaton has no automaton"
    if low < 0 or (high is not None and high < max(1, low)):
        return f"The bounds {low} and {high} of an automaton are not in order"
    return None


_NODE_CHECKS = cast(
    "dict[type[Expr], Callable[[Expr], str | None]]",
    {
        Literal: _check_literal,
        CharClass: _check_char_class,
        RuleRef: lambda reference: None,
        Sequence: lambda sequence: None,
        Choice: _check_choice,
        Repeat: _check_repeat,
        Regex: _check_regex,
        Substring: _check_substring,
        TagDispatch: _check_tag_dispatch,
        TokenSet: _check_token_set,
        TokenTagDispatch: _check_token_tag_dispatch,
        Members: _check_members,
        OtherTexts: _check_other_texts,
        Automaton: _check_automaton,
        CountedAutomaton: _check_counted_automaton,
    },
)


def _are_token_ids(ids: Iterable[int]) -> bool:
    return all(0 <= token_id <= _LARGEST_COUNT for token_id in ids)


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_normal(char_class: CharClass) -> bool:
    ordered = all(0 <= low <= high <= MAX_CODE_POINT for low, high in char_class.ranges)
    return ordered and normalize_ranges(char_class.ranges) == tuple(char_class.ranges)
