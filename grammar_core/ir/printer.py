"""Grammars as EBNF text: readable, and the same language when it is parsed again."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import cast

from grammar_core.ir.char_ranges import ANY_CHARACTER, complement_ranges
from grammar_core.ir.counted_automata import expand_counted_automata
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
    child_expressions,
)
from grammar_core.ir.right_linear import FreeNames, replace_automata
from grammar_core.ir.traversal import walk_rule

_ROOT = "root"
_LINE_WIDTH = 100
_NAMED_CONTROLS = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}
_LITERAL_ESCAPES = {**_NAMED_CONTROLS, '"': '\\"'}
_CLASS_ESCAPES = {**_NAMED_CONTROLS, "]": "\\]", "[": "\\[", "^": "\\^", "-": "\\-"}
_OPERATORS = {(0, 1): "?", (0, None): "*", (1, None): "+"}
_NAME = re.compile(r"(?!\d)[\w.\-]+")
# What a macro reads as a value of another kind than a rule's name.
_VALUE = re.compile(r"true|false|[-.]*\d.*", re.DOTALL)
_RULE_IDS = ("capture_hidden_body_rule_id", "capture_hidden_marker_rule_id")

# How tightly the surroundings bind: what must be put in parentheses.
_IN_RULE, _IN_CHOICE, _IN_SEQUENCE, _IN_REPEAT = range(4)
_Names = dict[str, str]
_Piece = str | tuple[Expr, int]


def print_grammar(rules: Iterable[Rule], root: str) -> str:
    """EBNF text of the rules, one a line in their order, with `root` as the name of the root rule."""
    rules = expand_counted_automata(tuple(rules))
    rules = replace_automata(rules, reserved=frozenset((_ROOT,)), opaque=(Regex,))
    names = _printed_names(rules, root)
    renamed_root = names[root] != _ROOT
    lines = [_print_rule(rule, names, 1 if renamed_root else 0) for rule in rules]
    if renamed_root:
        lines.insert(0, f"{_ROOT} ::= {names[root]}\n")
    return "".join(lines)


def _print_rule(rule: Rule, names: _Names, rules_before: int) -> str:
    name = names[rule.name]
    options = _print_options(rule.options, name, rules_before) if any(map(_is_given, rule.options)) else ""
    ahead = "" if rule.lookahead is None else f" (= {print_expression(rule.lookahead, names)})"
    return f"{name}{options} ::= {_print_body(rule.body, names)}{ahead}\n"


def _print_options(options: RuleOptions, name: str, rules_before: int) -> str:
    printed = []
    for option, value in options._asdict().items():
        if not _is_given(value):
            continue
        if value is True or (option == "capture" and value == name):
            printed.append(option)
        elif isinstance(value, str):
            printed.append(f"{option}={_quote(value)}")
        else:
            number = value + rules_before if option in _RULE_IDS else value
            printed.append(f"{option}={repr(number).removesuffix('.0')}")
    return f"[{', '.join(printed)}]"


def _is_given(value: object) -> bool:
    return value is not None and value is not False


def _printed_names(rules: tuple[Rule, ...], root: str) -> _Names:
    """Names under which the rules are printed: their own, unless EBNF does not allow it.

    The name `root` is kept for the root rule, since that is what a parser starts from.
    """
    free = FreeNames({rule.name for rule in rules} | {_ROOT})
    values = _names_read_as_values(rules)
    names = {}
    for rule in rules:
        name = rule.name
        if not _is_name(name) or (name == _ROOT and root != _ROOT) or name in values:
            base = f"_{name}" if name in values or name[:1].isdigit() else name
            name = free.new(re.sub(r"[^\w.\-]", "_", base))
        names[rule.name] = name
    return names


def _names_read_as_values(rules: tuple[Rule, ...]) -> set[str]:
    """Names of rules that are passed to macros, which would read them as something else."""
    if not any(_VALUE.fullmatch(rule.name) for rule in rules):
        return set()
    dispatches = (
        expr
        for rule in rules
        for expr in walk_rule(rule)
        if type(expr) in (Members, TagDispatch, TokenTagDispatch)
    )
    targets = (cast("RuleRef", child).name for expr in dispatches for child in child_expressions(expr))
    return {name for name in targets if _VALUE.fullmatch(name)}


def _is_name(name: str) -> bool:
    """Whether EBNF can write the name: letters with their combining marks, digits, `_`, `-` and `.`."""
    letters = "".join(character for character in name if unicodedata.category(character)[0] != "M")
    return _NAME.fullmatch(letters) is not None


def _print_body(body: Expr, names: _Names) -> str:
    line = print_expression(body, names)
    body = _unwrap(body)
    if len(line) <= _LINE_WIDTH or type(body) is not Choice:
        return line
    return "\n    | ".join(print_expression(option, names, _IN_CHOICE) for option in body.options)


def print_expression(expr: Expr, names: _Names | None = None, context: int = _IN_RULE) -> str:
    """EBNF text of one expression; `names` gives the printed names of rules where they differ."""
    names = names or {}
    output: list[str] = []
    pending: list[_Piece] = [(expr, context)]
    while pending:
        piece = pending.pop()
        if isinstance(piece, str):
            output.append(piece)
        else:
            inner, surroundings = _unwrap(piece[0]), piece[1]
            pending.extend(reversed(_PRINTERS[type(inner)](inner, surroundings, names)))
    return "".join(output)


def _unwrap(expr: Expr) -> Expr:
    """The expression inside sequences and choices of one, which are not visible in text."""
    while type(expr) in (Sequence, Choice) and len(child_expressions(expr)) == 1:
        expr = child_expressions(expr)[0]
    return expr


def _print_literal(literal: Literal, context: int, names: _Names) -> list[_Piece]:
    return [_quote(literal.value.decode())]


def _quote(text: str) -> str:
    return f'"{_escape(text, _LITERAL_ESCAPES)}"'


def _print_char_class(char_class: CharClass, context: int, names: _Names) -> list[_Piece]:
    ranges = char_class.ranges
    if ranges == ANY_CHARACTER:
        return ["[^]"]
    if not ranges or ranges[-1][1] == MAX_CODE_POINT:
        return [f"[^{_print_ranges(complement_ranges(ranges))}]"]
    return [f"[{_print_ranges(ranges)}]"]


def _print_ranges(ranges: Iterable[tuple[int, int]]) -> str:
    return "".join(_print_range(low, high) for low, high in ranges)


def _print_range(low: int, high: int) -> str:
    first, last = _escape(chr(low), _CLASS_ESCAPES), _escape(chr(high), _CLASS_ESCAPES)
    if low == high:
        return first
    return f"{first}{last}" if high == low + 1 else f"{first}-{last}"


def _print_reference(reference: RuleRef, context: int, names: _Names) -> list[_Piece]:
    return [names.get(reference.name, reference.name)]


def _print_sequence(sequence: Sequence, context: int, names: _Names) -> list[_Piece]:
    if not sequence.items:
        return ["()"]
    pieces = _joined(sequence.items, " ", _IN_SEQUENCE)
    return ["(", *pieces, ")"] if context >= _IN_SEQUENCE else pieces


def _print_choice(choice: Choice, context: int, names: _Names) -> list[_Piece]:
    pieces = _joined(choice.options, " | ", _IN_CHOICE)
    return ["(", *pieces, ")"] if context >= _IN_CHOICE else pieces


def _print_repeat(repeat: Repeat, context: int, names: _Names) -> list[_Piece]:
    operator = _OPERATORS.get((repeat.min, repeat.max)) or _print_bounds(repeat.min, repeat.max)
    pieces: list[_Piece] = [(repeat.body, _IN_REPEAT), operator]
    return ["(", *pieces, ")"] if context == _IN_REPEAT else pieces


def _print_regex(regex: Regex, context: int, names: _Names) -> list[_Piece]:
    arguments = [_quote(regex.pattern)]
    if regex.json_string:
        arguments.append("json_string=true")
    if regex.flags is not None:
        arguments.append(f"flags={_quote(regex.flags)}")
    return _call("Regex", arguments)


def _print_substring(substring: Substring, context: int, names: _Names) -> list[_Piece]:
    return _call("Substring", map(_quote, substring.chunks))


def _print_tag_dispatch(dispatch: TagDispatch, context: int, names: _Names) -> list[_Piece]:
    tags = [(_quote(tag), rule) for tag, rule in dispatch.tags]
    return _call_dispatch("TagDispatch", tags, dispatch.loop, list(map(_quote, dispatch.excludes)), names)


def _print_token_set(token_set: TokenSet, context: int, names: _Names) -> list[_Piece]:
    if token_set.negated and not token_set.ids:
        # The macro needs an id, so any token is written as a token that is 0 or is not.
        return _print_choice(Choice((TokenSet((0,), True), TokenSet((0,), False))), context, names)
    return _call("ExcludeToken" if token_set.negated else "Token", map(str, token_set.ids))


def _print_token_tag_dispatch(dispatch: TokenTagDispatch, context: int, names: _Names) -> list[_Piece]:
    tags = [(str(token_id), rule) for token_id, rule in dispatch.tags]
    return _call_dispatch("TokenTagDispatch", tags, dispatch.loop, list(map(str, dispatch.excludes)), names)


def _print_members(members: Members, context: int, names: _Names) -> list[_Piece]:
    def name(rule: RuleRef) -> str:
        return names.get(rule.name, rule.name)

    arguments = [f'({name(member.rule)}, "{member.occurrence}")' for member in members.members]
    if members.separator is not None:
        arguments.append(f"separator={name(members.separator)}")
    if members.ordered:
        arguments.append("ordered=true")
    if members.min:
        arguments.append(f"min={members.min}")
    if members.max is not None:
        arguments.append(f"max={members.max}")
    if members.implications:
        pairs = ", ".join(f"({member}, {other})" for member, other in members.implications)
        arguments.append(f"implies=({pairs}{',' if len(members.implications) == 1 else ''})")
    return _call("Members", arguments)


def _call_dispatch(
    macro: str, tags: list[tuple[str, RuleRef]], loop: bool, excludes: list[str], names: _Names
) -> list[_Piece]:
    arguments = [f"({tag}, {names.get(rule.name, rule.name)})" for tag, rule in tags]
    if not loop:
        arguments.append("loop_after_dispatch=false")
    if excludes:
        arguments.append(f"excludes=({', '.join(excludes)}{',' if len(excludes) == 1 else ''})")
    return _call(macro, arguments)


def _call(macro: str, arguments: Iterable[str]) -> list[_Piece]:
    """The call on one line, or an argument a line."""
    arguments = list(arguments)
    line = f"{macro}({', '.join(arguments)})"
    if len(line) <= _LINE_WIDTH:
        return [line]
    return [f"{macro}(\n    ", ",\n    ".join(arguments), "\n  )"]


def _print_automaton(automaton: Automaton, context: int, names: _Names) -> list[_Piece]:
    """For explanations only: in a grammar, automata are replaced by rules before."""
    return [f"Automaton({automaton.state_count} states)"]


def _print_other_texts(others: OtherTexts, context: int, names: _Names) -> list[_Piece]:
    """For explanations only, as above."""
    return _call("OtherTexts", map(_quote, others.texts))


def _print_bounds(low: int, high: int | None) -> str:
    if high is None:
        return f"{{{low},}}"
    return f"{{{low}}}" if low == high else f"{{{low},{high}}}"


def _joined(exprs: tuple[Expr, ...], separator: str, context: int) -> list[_Piece]:
    pieces: list[_Piece] = []
    for expr in exprs:
        pieces += [separator, (expr, context)] if pieces else [(expr, context)]
    return pieces


def _escape(text: str, escapes: dict[str, str]) -> str:
    return "".join(escapes.get(character) or _escape_invisible(character) for character in text)


def _escape_invisible(character: str) -> str:
    if character.isprintable():
        return character
    code_point = ord(character)
    return f"\\u{code_point:04X}" if code_point <= 0xFFFF else f"\\U{code_point:08X}"


_PRINTERS = cast(
    "dict[type[Expr], Callable[[Expr, int, _Names], list[_Piece]]]",
    {
        Automaton: _print_automaton,
        CountedAutomaton: lambda counted, context, names: _print_automaton(counted.body, context, names),
        Literal: _print_literal,
        CharClass: _print_char_class,
        RuleRef: _print_reference,
        Sequence: _print_sequence,
        Choice: _print_choice,
        Repeat: _print_repeat,
        Regex: _print_regex,
        Substring: _print_substring,
        Members: _print_members,
        OtherTexts: _print_other_texts,
        TagDispatch: _print_tag_dispatch,
        TokenSet: _print_token_set,
        TokenTagDispatch: _print_token_tag_dispatch,
    },
)
