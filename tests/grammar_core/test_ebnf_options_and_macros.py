"""The nodes that rule options, macros and lookaheads become."""

from __future__ import annotations

import pytest

from grammar_core.errors import GrammarLimitError, GrammarSyntaxError
from grammar_core.frontends.ebnf.parser import parse_ebnf
from grammar_core.frontends.regex import parse_regex
from grammar_core.grammar import Grammar
from grammar_core.ir.nodes import (
    NO_OPTIONS,
    Choice,
    Expr,
    Literal,
    Regex,
    Repeat,
    RuleOptions,
    RuleRef,
    Sequence,
    Substring,
    TagDispatch,
    TokenSet,
    TokenTagDispatch,
)


def options(text: str) -> RuleOptions:
    return parse_ebnf(f'root{text} ::= "a"\nx ::= "b"')[0].options


def body(text: str) -> Expr:
    return parse_ebnf(f'root ::= {text}\nx ::= "x"\ny ::= "y"')[0].body


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", NO_OPTIONS),
        ("[lazy]", RuleOptions(lazy=True)),
        ("[capture]", RuleOptions(capture="root")),
        ('[capture="root"]', RuleOptions(capture="root")),
        ('[capture="é\\n\\u4e2d"]', RuleOptions(capture="é\n中")),
        ("[max_tokens=0032]", RuleOptions(max_tokens=32)),
        ("[max_chars=0]", RuleOptions(max_chars=0)),
        ("[temperature=0.7]", RuleOptions(temperature=0.7)),
        ("[temperature=1e-2]", RuleOptions(temperature=0.01)),
        ("[temperature=3]", RuleOptions(temperature=3.0)),
        (
            '[max_tokens=32, max_chars=128, capture="answer", lazy, temperature=0.7]',
            RuleOptions(32, 128, "answer", True, 0.7),
        ),
        (
            "[capture_hidden_suffix_bytes=3, capture_hidden_stop_bytes=0]",
            RuleOptions(capture_hidden_suffix_bytes=3, capture_hidden_stop_bytes=0),
        ),
        (
            '[capture_hidden_body_rule_id=0, capture_hidden_marker_rule_id=1, stop_capture="end"]',
            RuleOptions(capture_hidden_body_rule_id=0, capture_hidden_marker_rule_id=1, stop_capture="end"),
        ),
        ("  [ # why\n lazy\n ]\n", RuleOptions(lazy=True)),
    ],
)
def test_options(text: str, expected: RuleOptions) -> None:
    assert options(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Regex("a+")', Regex("a+", False, None, parse_regex("a+"))),
        ('Regex("a.", flags="")', Regex("a.", False, "", parse_regex("a.", flags=""))),
        ('Regex("a", json_string=true, flags="is")', Regex("a", True, "is", parse_regex("a", flags="is"))),
        ("Substring()", Substring(())),
        ('Substring("a", "", "a")', Substring(("a", "", "a"))),
        ("Token(3)", TokenSet((3,), False)),
        ("Token(3, 1, 003, 0)", TokenSet((0, 1, 3), False)),
        ("ExcludeToken(2, 1, 2)", TokenSet((1, 2), True)),
        ("TagDispatch()", TagDispatch((), True, ())),
        ('TagDispatch(("<a>", x))', TagDispatch((("<a>", RuleRef("x")),), True, ())),
        (
            'TagDispatch(("\\u00e9", x), ("b", y,), excludes=("c", "d"), loop_after_dispatch=false)',
            TagDispatch((("é", RuleRef("x")), ("b", RuleRef("y"))), False, ("c", "d")),
        ),
        ("TokenTagDispatch()", TokenTagDispatch((), True, ())),
        (
            "TokenTagDispatch((5, x), (4, y), excludes=(9, 8, 9), loop_after_dispatch=false)",
            TokenTagDispatch(((5, RuleRef("x")), (4, RuleRef("y"))), False, (8, 9)),
        ),
        ("Token(1)+", Repeat(TokenSet((1,), False), 1, None)),
        (
            '("a" | Token (1))? x',
            Sequence((Repeat(Choice((Literal(b"a"), TokenSet((1,), False))), 0, 1), RuleRef("x"))),
        ),
    ],
)
def test_macros(text: str, expected: Expr) -> None:
    assert repr(body(text)) == repr(expected)


def test_a_rule_may_be_defined_after_it_is_passed() -> None:
    grammar = Grammar.from_ebnf('root ::= TagDispatch(("a", late))\nlate ::= "b"')
    assert [rule.name for rule in grammar.rules] == ["root", "late"]


def test_names_with_combining_marks_are_passed() -> None:
    grammar = Grammar.from_ebnf('root[capture] ::= TagDispatch(("a", हिन्दी))\nहिन्दी[lazy] ::= "b"')
    assert grammar.rules[1].name == "हिन्दी"
    assert str(Grammar.from_ebnf(str(grammar))) == str(grammar)


def test_lookahead() -> None:
    rules = parse_ebnf('root ::= x "c"\nx ::= "a" | "b" (= "c" | x)\ny ::= "y"')
    assert rules[0].lookahead is None
    assert repr(rules[1].body) == repr(Choice((Literal(b"a"), Literal(b"b"))))
    assert repr(rules[1].lookahead) == repr(Choice((Literal(b"c"), RuleRef("x"))))
    assert rules[2].lookahead is None


def test_limits_in_patterns_have_their_place_in_the_grammar() -> None:
    with pytest.raises(GrammarLimitError) as caught:
        Grammar.from_ebnf('root ::= "é"\n  Regex("' + "(" * 100_000 + '")')
    assert caught.value.line == 2


def test_errors_in_patterns_of_several_lines() -> None:
    with pytest.raises(GrammarSyntaxError, match="In the regular expression") as caught:
        Grammar.from_ebnf('root ::= Regex("a\\nb(c")')
    assert caught.value.column == 21


@pytest.mark.parametrize(
    "text",
    [
        "root ::= a" + " a [#]\n" * 100_000,
        'root ::= a ["]' * 100_000,
        "root[lazy" + " " * 900_000 + "lazy] ::= a",
        "root ::= Token(" + "1," * 400_000,
        'root ::= TagDispatch(("a",' * 30_000,
        "root ::= Substring(" + '"a" ' * 200_000,
        "root[" + "lazy," * 200_000 + "] ::= a",
        "root ::= Tokn(" * 60_000 + "1",
    ],
    ids=["comments", "quotes", "space", "ids", "tuples", "chunks", "options", "misspelt"],
)
def test_large_texts_with_errors(text: str) -> None:
    with pytest.raises(GrammarSyntaxError.__base__ or ValueError) as caught:
        Grammar.from_ebnf(text)
    assert len(str(caught.value)) < 1000


def test_large_calls() -> None:
    ids = ", ".join(map(str, range(100_000)))
    assert body(f"Token({ids})") == TokenSet(tuple(range(100_000)), False)
