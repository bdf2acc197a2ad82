"""The rules that EBNF text becomes."""

from __future__ import annotations

import pytest

from grammar_core.errors import GrammarError, UndefinedRuleError
from grammar_core.frontends.ebnf.parser import parse_ebnf
from grammar_core.grammar import Grammar
from grammar_core.ir.nodes import EMPTY, CharClass, Choice, Expr, Literal, Repeat, Rule, RuleRef, Sequence


def body(text: str) -> Expr:
    rules = parse_ebnf(f'root ::= {text}\nx ::= "x"')
    return rules[0].body


def same(left: Expr, right: Expr) -> bool:
    """Equality that heeds the node classes, which tuple equality does not."""
    return repr(left) == repr(right)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"é"', Literal("é".encode())),
        ('""', Literal(b"")),
        ("()", EMPTY),
        ("x", RuleRef("x")),
        ('((("a")))', Literal(b"a")),
        ('"a" x', Sequence((Literal(b"a"), RuleRef("x")))),
        ('"a" | x x', Choice((Literal(b"a"), Sequence((RuleRef("x"), RuleRef("x")))))),
        ('| "a"', Choice((EMPTY, Literal(b"a")))),
        ("x?", Repeat(RuleRef("x"), 0, 1)),
        ("x*", Repeat(RuleRef("x"), 0, None)),
        ("x+", Repeat(RuleRef("x"), 1, None)),
        ("x{3}", Repeat(RuleRef("x"), 3, 3)),
        ("x{2,4}", Repeat(RuleRef("x"), 2, 4)),
        ("x{2,}", Repeat(RuleRef("x"), 2, None)),
        ("x{2,-1}", Repeat(RuleRef("x"), 2, None)),
        ("x{0}", Repeat(RuleRef("x"), 0, 0)),
        ("x{0,5000000000}", Repeat(RuleRef("x"), 0, 5_000_000_000)),
        ("x{1000000000000000}", Repeat(RuleRef("x"), 10**15, 10**15)),
        ("(x | x)*", Repeat(Choice((RuleRef("x"), RuleRef("x"))), 0, None)),
        ("(x+)+", Repeat(Repeat(RuleRef("x"), 1, None), 1, None)),
    ],
)
def test_nodes(text: str, expected: Expr) -> None:
    assert same(body(text), expected)


@pytest.mark.parametrize(
    ("text", "ranges"),
    [
        ("[abc]", ((0x61, 0x63),)),
        ("[ca-bx]", ((0x61, 0x63), (0x78, 0x78))),
        ("[a-mf-z]", ((0x61, 0x7A),)),
        ("[^]", ((0, 0xD7FF), (0xE000, 0x10FFFF))),
        ("[^b-y]", ((0, 0x61), (0x7A, 0xD7FF), (0xE000, 0x10FFFF))),
        ("[\\0-\\U0010FFFF]", ((0, 0xD7FF), (0xE000, 0x10FFFF))),
        ("[^\\0-\\U0010FFFF]", ()),
        ("[^\\uE000-\\U0010FFFF]", ((0, 0xD7FF),)),
    ],
)
def test_class_ranges_are_in_normal_form(text: str, ranges: tuple[tuple[int, int], ...]) -> None:
    assert same(body(text), CharClass(ranges))


def test_long_classes() -> None:
    letters = "".join(chr(0x4E00 + 2 * i) for i in range(500))
    parsed = body(f"[{letters}]")
    assert same(parsed, CharClass(tuple((ord(c), ord(c)) for c in letters)))


def test_rules_keep_their_order() -> None:
    rules = parse_ebnf('b ::= "1"\nroot ::= b a\na ::= "2"')
    assert [rule.name for rule in rules] == ["b", "root", "a"]


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_line_breaks(line_break: str) -> None:
    text = f'root ::= "a" # x{line_break}  | b{line_break}b ::= "c"{line_break}'
    assert parse_ebnf(text) == parse_ebnf(text.replace(line_break, "\n"))
    with pytest.raises(GrammarError) as caught:
        parse_ebnf(f'root ::= "a"{line_break}{line_break} | c')
    assert (caught.value.line, caught.value.column) == (3, 4)


def test_byte_order_mark_takes_no_column() -> None:
    assert parse_ebnf('\ufeffroot ::= "a"') == (Rule("root", Literal(b"a")),)
    with pytest.raises(GrammarError) as caught:
        parse_ebnf("\ufeffroot ::= a")
    assert (caught.value.line, caught.value.column) == (1, 10)


def test_raw_carriage_return_in_a_literal() -> None:
    with pytest.raises(GrammarError, match="raw newline"):
        parse_ebnf('root ::= "a\r"')


def test_half_of_a_surrogate_pair_in_the_text() -> None:
    with pytest.raises(GrammarError, match="half of a surrogate pair") as caught:
        parse_ebnf('root ::=\n "é\ud800"')
    assert (caught.value.line, caught.value.column) == (2, 4)


def test_from_ebnf() -> None:
    grammar = Grammar.from_ebnf('start ::= "a"', root_rule_name="start")
    assert (grammar.rules, grammar.root) == ((Rule("start", Literal(b"a")),), "start")
    with pytest.raises(AttributeError):
        grammar.root = "x"  # type: ignore[misc]
    assert repr(grammar) == "<Grammar of 1 rules, root 'start'>"


def test_macro_names_are_refused_only_where_no_rule_has_them() -> None:
    with pytest.raises(UndefinedRuleError, match='Rule "Token" is not defined'):
        parse_ebnf('root ::= Token "a"')


@pytest.mark.parametrize("cut", range(1, 60))
def test_every_beginning_of_a_grammar_is_a_grammar_or_an_error(cut: int) -> None:
    text = 'root ::= ("a\\n" | [^b-\\x41]{2,3} | x)* # end\nx ::= "\\u00e9"?'
    assert error_line(text[:cut]) in (None, 1, 2)


def error_line(text: str) -> int | None:
    """The line of the error in the text, None when it is a grammar."""
    try:
        parse_ebnf(text)
    except GrammarError as error:
        return error.line or 0
    return None
