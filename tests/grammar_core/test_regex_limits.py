"""Sizes: what is still read, quickly, and what is refused by the name of its limit."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grammar_core.errors import GrammarError, GrammarLimitError
from grammar_core.frontends.regex import parse_regex, search_pattern
from grammar_core.frontends.regex.flags import parse_flags
from grammar_core.frontends.regex.length_bounds import LengthBounds, split_length_bounds
from grammar_core.frontends.regex.parser import Parser
from grammar_core.grammar import Grammar
from grammar_core.ir.nodes import Automaton, CharClass, Literal, Repeat, Rule, Sequence
from grammar_core.ir.printer import print_expression
from tests.grammar_core.schema_texts import compile_bytes, matches

_SECONDS = 15.0
HOST_NAME = r"(?:[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,}"


@pytest.fixture(autouse=True)
def _in_time() -> Iterator[None]:
    begin = time.process_time()
    yield
    assert time.process_time() - begin < _SECONDS


def refused(pattern: str) -> tuple[str, int]:
    with pytest.raises(GrammarLimitError) as caught:
        parse_regex(pattern)
    assert caught.value.dialect == "regex"
    assert caught.value.line == 1
    assert caught.value.column is not None
    assert f"{caught.value.value:,}" in caught.value.message
    return caught.value.limit, caught.value.column


def test_counted_repetitions_stay_counted() -> None:
    expr = parse_regex(r"\w{1,500}a{5000000000}")
    word = CharClass(((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)))
    assert expr == Sequence((Repeat(word, 1, 500), Repeat(Literal(b"a"), 5_000_000_000, 5_000_000_000)))


def test_nested_repetitions_are_not_multiplied_out() -> None:
    expr = parse_regex("(?:(?:a{1000}){1000}){1000}(?:a*)*(?:a|a)*")
    assert len(print_expression(expr)) < 80


@pytest.mark.parametrize(
    "piece", ["a", "a?", "(?:ab|c)", "[a-z]", r"\d", ".", "(b)", "|a", r"\u0041", "(?i:a)"]
)
def test_linear_in_the_pattern(piece: str) -> None:
    pattern = piece * (100_000 // len(piece))
    parse_regex(pattern)
    search_pattern(pattern)


def test_pattern_length() -> None:
    assert refused("a" * 200_001) == ("pattern_length", 200_001)


@pytest.mark.parametrize("opening", ["(", "(?:", "(?=", "(?<!", "(?<n>"])
def test_group_nesting(opening: str) -> None:
    pattern = opening * 40_000
    assert refused(pattern) == ("group_nesting", 500 * len(opening) + 1)


def test_nesting_within_the_limit() -> None:
    grammar = Grammar.from_rules([Rule("root", parse_regex("(" * 500 + "a" + "|b)*c" * 500))])
    assert str(Grammar.from_ebnf(str(grammar))) == str(grammar)
    assert parse_regex("(?:" * 500 + r"a\b" + ")" * 500) is not None
    assert parse_regex("(?=a" * 500 + ")" * 500 + "a") == CharClass(())
    assert parse_regex("(?=a|" * 500 + ")" * 500 + "a") == Automaton(
        ((0, 1, CharClass(((97, 97),))),), (1,), 2
    )


def test_repetition_counts() -> None:
    assert refused("ab{3,1000000000000001}") == ("repetition", 6)
    assert refused("b{" + "9" * 5000 + "}") == ("repetition", 3)
    assert parse_regex("b{1000000000000000}") == Repeat(Literal(b"b"), 10**15, 10**15)


def test_automaton_positions() -> None:
    assert refused(r"(?:(?:a{1000}){1000}){1000}\b")[0] == "automaton_positions"
    assert refused(r"(?!x)(?:){1000000000000000}")[0] == "automaton_positions"


def test_automaton_states() -> None:
    assert refused(r".*a.{30}\b")[0] == "automaton_states"
    assert refused(r"(?=[^]*a[^]{30}b)(?!x).*")[0] == "automaton_states"


@pytest.mark.parametrize(
    "pattern",
    [
        r"\b(?:a?){5000}\b",
        "(?:(?=a)|b)" * 2000,
        r"(?:(?=(?:a|b){0,2000}c)[abc]){0,1000}",
        "".join(f"[{chr(code)}-{chr(code + 99)}]" for code in range(0x4E00, 0x4E00 + 20_000)) + r"\b",
    ],
    ids=["optional", "conditions", "nested", "classes"],
)
def test_automaton_work(pattern: str) -> None:
    assert refused(pattern)[0] == "automaton_work"


@pytest.mark.parametrize(
    ("pattern", "most_states"),
    [
        ("".join(f"(?=.*{letter})" for letter in "abcdefghij") + ".*", 1 << 10),
        (r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*[^\w\s])[^ ]{8,256}", 4200),
        (r"(?!.*foo)(?!.*bar).{0,1000}", 5000),
        (r"(?=.{1,254}$)(?=.{1,64}@)[^@ ]+@[^@ ]+\.[a-z]{2,}", 1200),
        ("(?!(?:" + "|".join(f"word{number * 7919 % 99991}" for number in range(1000)) + ")$)[a-z0-9]+", 400),
        ("(?=(?:a|b)*c)" * 50 + "[a-c]*", 2),
        (r"(?:\b|a){0,300}", 302),
        (r"(?:(?=a)a|(?=b)b|\b){0,100}", 102),
    ],
)
def test_automata_of_usual_size_are_fast(pattern: str, most_states: int) -> None:
    begin = time.process_time()
    expr = parse_regex(pattern)
    assert isinstance(expr, Automaton)
    assert expr.state_count <= most_states
    assert time.process_time() - begin < 3


_PIECES = [*"ab^$.|()[]{}*+?\\-,:=!<>PpdwsubBx0129éims\n\ud800", "(?", "(?<", "\\p{", "[^", "{1,2}"]


@given(
    st.lists(st.sampled_from(_PIECES), max_size=25).map("".join), st.sampled_from([None, "", "iu", "m", "i"])
)
@settings(max_examples=1500, deadline=None)
def test_any_text_is_read_or_refused_at_a_place(pattern: str, flags: str | None) -> None:
    for parse in (parse_regex, search_pattern):
        error = None
        try:
            parse(pattern, flags=flags, json_string=flags == "m")
        except GrammarError as caught:
            error = caught
        if error is not None:
            assert error.line is not None
            assert error.column is not None
            line = pattern.split("\n")[error.line - 1]
            assert 1 <= error.column <= len(line) + 1


@pytest.mark.parametrize("pattern", ["^(?=.{1,253}$)" + HOST_NAME + "$", "(?=.{1,253}$)" + HOST_NAME])
def test_a_length_that_is_a_lookahead_is_counted(pattern: str) -> None:
    """The product of names and lengths has more states than the limit."""
    grammar = compile_bytes(Grammar.from_regex(pattern))
    accepted = ["a.bc", "ab-c.de.fgh", "a." * 125 + "com"]
    refused = ["a.b", "-a.bc", "a." * 126 + "com", "a" * 64 + ".com", ""]
    assert [text for text in accepted if not matches(grammar, text)] == []
    assert [text for text in refused if matches(grammar, text)] == []


@pytest.mark.parametrize(
    "pattern",
    [
        "(?=.{1,3})a",
        "(?!.{1,3}$)a",
        "(?=a{1,3}b$)a",
        "a(?=.{1,3}$)",
        "(?<=.{1,3}$)a",
        "(?=.{1,3}$)a|b",
        "(?=(ab){2}$)a",
    ],
)
def test_other_lookaheads_are_no_bounds_on_the_length(pattern: str) -> None:
    tree = Parser(pattern, parse_flags(""), False).parse()
    assert split_length_bounds(tree, at_start=True) == (tree, LengthBounds())
