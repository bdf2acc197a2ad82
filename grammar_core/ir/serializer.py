"""Rules as JSON and back, exactly. Expressions are written in postfix order, so that depth is no matter.

{"__VERSION__": "1", "root": "root", "rules": [
    {"name": "root", "body": [["literal", "a"], ["rule", "x"], ["sequence", 2]]}, …]}
"""

from __future__ import annotations

import json
from collections.abc import Callable
from collections.abc import Sequence as SequenceOf
from itertools import chain
from typing import Any, TypeVar, cast

from grammar_core.errors import DeserializeFormatError, DeserializeVersionError, GrammarError
from grammar_core.ir.nodes import (
    NO_OPTIONS,
    Automaton,
    CharClass,
    Choice,
    CountedAutomaton,
    Expr,
    Literal,
    Member,
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
    child_expressions,
)
from grammar_core.ir.validation import validate_rules

SERIALIZATION_VERSION = "1"
_MAX_RULES = 1_000_000
T = TypeVar("T")
_Operation = list[Any]


def serialize_rules(rules: tuple[Rule, ...], root: str) -> str:
    """The rules as JSON for `deserialize_rules`."""
    document = {
        "__VERSION__": SERIALIZATION_VERSION,
        "root": root,
        "rules": [_write_rule(rule) for rule in rules],
    }
    return json.dumps(document, separators=(",", ":"))


def deserialize_rules(text: str) -> tuple[tuple[Rule, ...], str]:
    """The rules and the name of the root.

    Raises DeserializeVersionError for another version, DeserializeFormatError for anything else that
    `serialize_rules` did not write.
    """
    return read_document(load_document(text))


def load_document(text: str) -> dict[str, Any]:
    """The members of a JSON object. Raises DeserializeFormatError for any other text."""
    try:
        document = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise DeserializeFormatError(f"This is not a JSON text: {error}") from error
    if not isinstance(document, dict):
        raise DeserializeFormatError("A JSON object is expected")
    return document


def check_version(document: dict[str, Any]) -> None:
    """Raise DeserializeVersionError unless the document is of this version."""
    version = read_member(document, "__VERSION__", str)
    if version != SERIALIZATION_VERSION:
        raise DeserializeVersionError(
            f"Wrong version in serialized object: Got {version}, expected {SERIALIZATION_VERSION}"
        )


def read_member(members: dict[str, Any], name: str, kind: type[T]) -> T:
    """A member of this type. Raises DeserializeFormatError if there is none."""
    if name not in members:
        raise DeserializeFormatError(f"Missing member {name}")
    return _checked(members[name], kind, f"Member {name}")


def read_document(document: dict[str, Any]) -> tuple[tuple[Rule, ...], str]:
    """The rules and the root that the JSON text was read as; see `deserialize_rules`."""
    check_version(document)
    written = read_member(document, "rules", list)
    if len(written) > _MAX_RULES:
        raise DeserializeFormatError(f"There are more than {_MAX_RULES:,} rules")
    rules = tuple(map(_read_rule, written))
    root = read_member(document, "root", str)
    try:
        validate_rules(rules, root)
    except GrammarError as error:
        raise DeserializeFormatError(f"The rules are no grammar: {error.message}") from error
    return rules, root


# writing


def _write_rule(rule: Rule) -> dict[str, Any]:
    written: dict[str, Any] = {"name": rule.name, "body": _write_expression(rule.body)}
    options = {
        name: value
        for name, value in rule.options._asdict().items()
        if value is not None and value is not False
    }
    if options:
        written["options"] = options
    if rule.lookahead is not None:
        written["lookahead"] = _write_expression(rule.lookahead)
    return written


def _write_expression(expr: Expr) -> list[_Operation]:
    backwards: list[_Operation] = []
    pending = [expr]
    while pending:
        current = pending.pop()
        name, write, _ = _FORMS[type(current)]
        backwards.append([name, *write(current)])
        if type(current) in _COMPOUND:
            pending += child_expressions(current)
    return backwards[::-1]


def _write_dispatch(dispatch: TagDispatch | TokenTagDispatch) -> list[Any]:
    tags = [[tag, rule.name] for tag, rule in dispatch.tags]
    return [tags, dispatch.loop, list(dispatch.excludes)]


def _write_members(members: Members) -> list[Any]:
    written = [
        [member.rule.name, member.required, member.repeatable, *([True] if member.distinct else [])]
        for member in members.members
    ]
    separator = None if members.separator is None else members.separator.name
    bounds = [members.min, members.max]
    return [written, separator, members.ordered, *bounds, [list(pair) for pair in members.implications]]


def _read_counted_automaton(finished: list[Expr], low: Any, high: Any) -> CountedAutomaton:
    (body,) = _take(finished, 1)
    return CountedAutomaton(
        _checked(body, Automaton, "The body"), _int(low), None if high is None else _int(high)
    )


def _write_automaton(automaton: Automaton) -> list[Any]:
    edges = [
        [source, target, label.name if isinstance(label, RuleRef) else list(chain(*label.ranges))]
        for source, target, label in automaton.edges
    ]
    return [edges, list(automaton.accepting), automaton.state_count]


# reading


def _checked(value: Any, kind: type[T], what: str) -> T:
    if type(value) is not kind:  # JSON's true is no number
        raise DeserializeFormatError(f"{what} has the wrong type")
    return value


def _read_rule(written: Any) -> Rule:
    members = _checked(written, dict, "A rule")
    unknown = members.keys() - {"name", "body", "options", "lookahead"}
    if unknown:
        raise DeserializeFormatError(f"A rule has the unknown member {min(unknown)}")
    name = _text(read_member(members, "name", str))
    lookahead = _read_expression(read_member(members, "lookahead", list)) if "lookahead" in members else None
    options = _read_options(read_member(members, "options", dict)) if "options" in members else NO_OPTIONS
    return Rule(name, _read_expression(read_member(members, "body", list)), options, lookahead)


def _read_options(members: dict[str, Any]) -> RuleOptions:
    unknown = members.keys() - set(RuleOptions._fields)
    if unknown:
        raise DeserializeFormatError(f"A rule has the unknown option {min(unknown)}")
    return NO_OPTIONS._replace(**members)


def _read_expression(operations: list[Any]) -> Expr:
    finished: list[Expr] = []
    for operation in operations:
        name, *operands = _checked(operation, list, "A node") or [None]
        read = _READERS.get(name) if isinstance(name, str) else None
        if read is None:
            raise DeserializeFormatError("A node of an unknown kind")
        try:
            finished.append(read(finished, *operands))
        except (TypeError, ValueError, IndexError, OverflowError) as error:
            raise DeserializeFormatError(f"A {name} node has the wrong form: {error}") from error
    if len(finished) != 1:
        raise DeserializeFormatError("An expression is incomplete or has too many parts")
    return finished[0]


def _take(finished: list[Expr], count: Any) -> tuple[Expr, ...]:
    """The last `count` finished expressions, which become parts of another one."""
    if not 0 <= _int(count) <= len(finished):
        raise DeserializeFormatError("A node has more parts than there are")
    begin = len(finished) - count
    taken = tuple(finished[begin:])
    del finished[begin:]
    return taken


def _int(value: Any) -> int:
    return _checked(value, int, "A number")


def _text(value: Any) -> str:
    text = _checked(value, str, "A text")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DeserializeFormatError(f"A text has half of a surrogate pair: {error}") from error
    return text


def _bool(value: Any) -> bool:
    return _checked(value, bool, "A truth value")


def _list(value: Any, read: Callable[[Any], T]) -> tuple[T, ...]:
    return tuple(map(read, _checked(value, list, "A list")))


def _read_ranges(value: Any) -> CharClass:
    points = _list(value, _int)
    return CharClass(tuple(zip(points[::2], points[1::2], strict=True)))


def _read_tag(value: Any, read: Callable[[Any], T]) -> tuple[T, RuleRef]:
    tag, name = _checked(value, list, "A tag")
    return read(tag), RuleRef(_text(name))


def _read_repeat(finished: list[Expr], low: Any, high: Any) -> Repeat:
    (body,) = _take(finished, 1)
    return Repeat(body, _int(low), None if high is None else _int(high))


def _read_regex(finished: list[Expr], pattern: Any, json_string: Any, flags: Any) -> Regex:
    (body,) = _take(finished, 1)
    return Regex(_text(pattern), _bool(json_string), None if flags is None else _text(flags), body)


def _read_other_texts(finished: list[Expr], texts: Any) -> OtherTexts:
    (item,) = _take(finished, 1)
    return OtherTexts(item, _list(texts, _text))


def _read_tag_dispatch(_: list[Expr], tags: Any, loop: Any, excludes: Any) -> TagDispatch:
    return TagDispatch(_list(tags, lambda tag: _read_tag(tag, _text)), _bool(loop), _list(excludes, _text))


def _read_token_tag_dispatch(_: list[Expr], tags: Any, loop: Any, excludes: Any) -> TokenTagDispatch:
    return TokenTagDispatch(_list(tags, lambda tag: _read_tag(tag, _int)), _bool(loop), _list(excludes, _int))


def _read_member(value: Any) -> Member:
    name, required, repeatable, *distinct = _checked(value, list, "A member")
    return Member(RuleRef(_text(name)), _bool(required), _bool(repeatable), *map(_bool, distinct))


def _read_implication(value: Any) -> tuple[int, int]:
    member, other = _checked(value, list, "An implication")
    return _int(member), _int(other)


def _read_members(
    _: list[Expr], members: Any, separator: Any, ordered: Any, low: Any, high: Any, implications: Any
) -> Members:
    return Members(
        _list(members, _read_member),
        None if separator is None else RuleRef(_text(separator)),
        _bool(ordered),
        _int(low),
        None if high is None else _int(high),
        _list(implications, _read_implication),
    )


def _read_edge(value: Any) -> tuple[int, int, CharClass | RuleRef]:
    source, target, label = _checked(value, list, "An edge")
    return (
        _int(source),
        _int(target),
        RuleRef(_text(label)) if isinstance(label, str) else _read_ranges(label),
    )


def _read_automaton(_: list[Expr], edges: Any, accepting: Any, state_count: Any) -> Automaton:
    return Automaton(_list(edges, _read_edge), _list(accepting, _int), _int(state_count))


_COMPOUND = (Sequence, Choice, Repeat, Regex, OtherTexts, CountedAutomaton)
_Form = tuple[str, Callable[[Any], SequenceOf[Any]], Callable[..., Expr]]
# For each node: its name, its operands when written, and the node from the finished parts and the operands.
_FORMS = cast(
    "dict[type[Expr], _Form]",
    {
        Literal: (
            "literal",
            lambda node: [node.value.decode()],
            lambda _, text: Literal(_text(text).encode()),
        ),
        CharClass: (
            "class",
            lambda node: [list(chain(*node.ranges))],
            lambda _, points: _read_ranges(points),
        ),
        RuleRef: ("rule", lambda node: [node.name], lambda _, name: RuleRef(_text(name))),
        Sequence: (
            "sequence",
            lambda node: [len(node.items)],
            lambda finished, count: Sequence(_take(finished, count)),
        ),
        Choice: (
            "choice",
            lambda node: [len(node.options)],
            lambda finished, count: Choice(_take(finished, count)),
        ),
        Repeat: ("repeat", lambda node: [node.min, node.max], _read_repeat),
        Regex: ("regex", lambda node: [node.pattern, node.json_string, node.flags], _read_regex),
        Substring: (
            "substring",
            lambda node: [list(node.chunks)],
            lambda _, chunks: Substring(_list(chunks, _text)),
        ),
        TagDispatch: ("tag_dispatch", _write_dispatch, _read_tag_dispatch),
        TokenSet: (
            "tokens",
            lambda node: [list(node.ids), node.negated],
            lambda _, ids, negated: TokenSet(_list(ids, _int), _bool(negated)),
        ),
        TokenTagDispatch: ("token_tag_dispatch", _write_dispatch, _read_token_tag_dispatch),
        OtherTexts: ("other_texts", lambda node: [list(node.texts)], _read_other_texts),
        Members: ("members", _write_members, _read_members),
        Automaton: ("automaton", _write_automaton, _read_automaton),
        CountedAutomaton: (
            "counted_automaton",
            lambda node: [node.min, node.max],
            _read_counted_automaton,
        ),
    },
)
_READERS = {name: read for name, _, read in _FORMS.values()}
