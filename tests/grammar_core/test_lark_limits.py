"""Texts that are too large, too deep or meant to be slow: each is refused by name, or just works."""

from __future__ import annotations

import pytest

from grammar_core import (
    Grammar,
    GrammarCompiler,
    GrammarError,
    GrammarLimitError,
    GrammarMatcher,
    TokenizerInfo,
)
from grammar_core.frontends.lark.limits import MAX_ALGEBRA_STATES, MAX_NONEMPTY_SIZE

_DEEP = 100_000
_BLOCKS = "start: " + "%lark {\nstart: " * 101 + '"a"' + "\n}" * 101


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("start: " + "(" * _DEEP + '"a"' + ")" * _DEEP, "group_nesting"),
        ("start: " + "[" * _DEEP, "group_nesting"),
        ("start: T\nT: " + "(" * _DEEP, "group_nesting"),
        ("start: /" + "(" * _DEEP + ")" * _DEEP + "/", "group_nesting"),
        (_BLOCKS, "lark_nesting"),
        ('start: "a"' + " " * 2_000_000, "text_length"),
        ("".join(f"r{i}: \n" for i in range(100_001)), "definitions"),
        ('start: "a"{1000000000000001}', "repetition"),
        ('start: "a"~' + "9" * 10_000, "repetition"),
        ("start: <[99999999999999]>", "token_id"),
        ("start: <[" + ",".join(f"{i}000000-{i + 1}000000" for i in range(20)) + "]>", "token_set"),
        ('start: T\nT: ~("a"{200000})', "terminal_positions"),
        ("start: T\nT: /.*a.{12}/ & /.*b.{13}/", "terminal_states"),
        ("start: T\nT: /(?:a?){3000}/ & /b/", "terminal_work"),
        ('%ignore " "\nstart: T\nT: ' + '"a"?' * 300, "nonempty_size"),
    ],
)
def test_a_limit_is_named(text: str, limit: str) -> None:
    with pytest.raises(GrammarLimitError) as caught:
        Grammar.from_lark(text)
    assert caught.value.limit == limit
    assert str(caught.value).startswith("Lark error")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("start: %json " + '{"a":' * _DEEP, "nested too deep"),
        ("start: %json " + "[" * _DEEP, "nested too deep"),
        ("start: %json " + "1" * 10_000, "too many digits"),
        ("start: %json {", "Expected JSON here"),
        ("start: %json NaN", "NaN is not JSON"),
        ('start: "' + "a" * 600_000, "String literal is not terminated"),
        ("start: " + "/a\n" * 300_000, "Regular expression is not terminated"),
        ("start: " + '"a" -> ' * 100_000, "Unexpected"),
        ("}" * _DEEP, "no %lark block is open"),
        ("start: " + ")" * _DEEP, "no such group is open"),
        ("start" + "[" * _DEEP, "Expected : after the options"),
        ("start: " + "a " * 500_000, 'Rule "a" is not defined'),
        ("start: " + "~" * _DEEP, "Expected a terminal expression after ~"),
        ("\x00" * _DEEP, "Unexpected character U+0000"),
        ("start: \ud800", "half of a surrogate pair"),
        ("A: B\n" + "".join(f"B{i}: B{i + 1}\n" for i in range(50_000)), "needs a rule named start"),
    ],
)
def test_hostile_text_is_refused(text: str, message: str) -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_lark(text)
    assert message in caught.value.message


def test_a_circle_of_many_terminals() -> None:
    names = [f"T{i}" for i in range(20_000)]
    text = "start: T0\n" + "".join(f"{a}: {b}\n" for a, b in zip(names, [*names[1:], "T0"], strict=True))
    with pytest.raises(GrammarError, match="Terminals cannot be recursive: T0 -> T1 -> T2 -> "):
        Grammar.from_lark(text)


def test_long_chains_of_terminals_and_rules() -> None:
    info = TokenizerInfo(["a", "</s>"])
    terminals = (
        'start: T0\n%ignore " "\n' + "".join(f"T{i}: T{i + 1}?\n" for i in range(3_000)) + 'T3000: "a"'
    )
    assert len(Grammar.from_lark(terminals).rules) > 3_000
    rules = "start: r0\n" + "".join(f"r{i}: r{i + 1}\n" for i in range(20_000)) + 'r20000: "a"'
    assert GrammarCompiler(info).compile_lark(rules)


def test_many_alternatives_and_a_long_line() -> None:
    text = "start: " + "|".join(f'"w{i}"' for i in range(50_000))
    assert Grammar.from_lark(text).rules
    assert Grammar.from_lark("start:" + ' "a"' * 200_000).rules


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('start: r\nr: "a" r | "a"', "a" * 3_000),
        ('start: r\nr: r "a" | "a"', "a" * 3_000),
        ('start: e\ne: "(" e ")" | "x"', "(" * 400 + "x" + ")" * 400),
        ("start: " + "|".join(f'"w{i}"' for i in range(3_000)), "w2999"),
        ("start: /[a-z]{0,20000}/", "abc" * 6_000),
        ('%ignore " "\nstart: ("a" | "b")+', "a b" * 2_000),
    ],
)
def test_long_sentences(text: str, sentence: str) -> None:
    info = TokenizerInfo([*(bytes([byte]) for byte in range(256)), b"</s>"])
    matcher = GrammarMatcher(GrammarCompiler(info).compile_lark(text))
    assert matcher.accept_string(sentence)
    assert matcher.is_completed()


def test_the_limits_are_not_reached_early() -> None:
    assert Grammar.from_lark("start: " + "(" * 1_000 + '"a"' + ")" * 1_000).rules
    assert Grammar.from_lark(_BLOCKS.replace("%lark {\nstart: ", "", 1).replace("\n}", "", 1)).rules
    assert MAX_ALGEBRA_STATES > 1_000
    assert MAX_NONEMPTY_SIZE > 1_000
    assert Grammar.from_lark('%ignore " "\nstart: T\nT: ' + '"a"?' * 100).rules
